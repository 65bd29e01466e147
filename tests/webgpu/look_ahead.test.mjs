// While the player waits for a shader, the shaders of later commands are being compiled.

import assert from "node:assert/strict";
import { test } from "node:test";
import { until } from "../support/until.mjs";
import { elementwise } from "./support/kernel_fields.mjs";
import { devices, options, Playing } from "./support/playing.mjs";
import { kAsHardware, replacing } from "./support/replacing.mjs";

/** A device that begins to compile shaders when the functions in `waiting` are called; `replaced` as in replacing(). */
function slowDevice(replaced = {}) {
  const waiting = [];
  const slow = replacing(devices.software, {
    ...kAsHardware,
    createComputePipelineAsync: (device) => (given) =>
      new Promise((resolve, reject) => {
        waiting.push(() => device.createComputePipelineAsync(given).then(resolve, reject));
      }),
    ...replaced,
  });
  return { slow, waiting };
}

const kOps = ["add", "sub", "mul"];

function binary(p, op, a, b, y) {
  const given = { op, constants: op === "mul" ? [] : [1], shape: [y.count] };
  p.kernel(
    "elementwise",
    elementwise(given, [
      [y, [1]],
      [a, [1]],
      [b, [1]],
    ]),
    op,
  );
}

/** Resolves when so many shaders wait for their compilation, none of which has begun. */
const untilWaiting = (waiting, count) =>
  until(
    () => `${count} shaders that wait; there are ${waiting.length}`,
    () => waiting.length === count,
  );

/** Compiles the shaders that wait, one after the other, until the commands have been played. */
async function compileAll(waiting, played) {
  let isDone = false;
  void played.then(() => {
    isDone = true;
  });
  await until("end of the commands", async () => {
    for (const start of waiting.splice(0)) await start();
    return isDone;
  });
}

test("the shaders of a batch are compiled at the same time", options, async () => {
  const { slow, waiting } = slowDevice();
  const p = new Playing({ on: slow });
  const [a, b] = [p.view("float32", [6, 8]), p.view("float32", [2, 4])];
  const results = kOps.map(() => p.empty("float32", 2));
  for (const [i, op] of kOps.entries()) binary(p, op, a, b, results[i]);
  const values = results.map((one) => p.later(one));
  const played = p.play();
  await untilWaiting(waiting, kOps.length);
  await compileAll(waiting, played);
  assert.deepEqual(
    (await Promise.all(values)).map((one) => [...one]),
    [
      [8, 12],
      [4, 4],
      [12, 32],
    ],
  );
  assert.equal(p.stats.pipelines, kOps.length);
});

test(
  "so are those of batches that wait, with names and blocks that they define",
  options,
  async () => {
    const { slow, waiting } = slowDevice();
    const p = new Playing({ on: slow });
    const [a, b] = [p.view("float32", [6, 8]), p.view("float32", [2, 4])];
    const [x, y] = [p.empty("float32", 2), p.empty("float32", 2)];
    binary(p, "add", a, b, x);
    p.play();
    const z = p.empty("float32", 2);
    binary(p, "mul", x, b, y);
    binary(p, "sub", y, a, z);
    const value = p.later(z);
    const played = p.play();
    await untilWaiting(waiting, kOps.length);
    await compileAll(waiting, played);
    assert.deepEqual([...(await value)], [10, 40]);
  },
);

test("a shader that does not compile fails its own kernel only", options, async () => {
  const { slow, waiting } = slowDevice({
    createShaderModule:
      (device) =>
      ({ label, code }) =>
        device.createShaderModule({ label, code: label === "mul" ? "what is this?" : code }),
  });
  const p = new Playing({ on: slow });
  const [a, b] = [p.view("float32", [6, 8]), p.view("float32", [2, 4])];
  const results = kOps.map(() => p.empty("float32", 2));
  for (const [i, op] of kOps.entries()) binary(p, op, a, b, results[i]);
  const values = results.map((one) =>
    p.later(one).then(String, ({ message, op }) => ({ op, message })),
  );
  const played = p.play();
  await compileAll(waiting, played);
  const [sum, difference, failed] = await Promise.all(values);
  assert.deepEqual([sum, difference], ["8,12", "4,4"]);
  assert.equal(failed.op, "mul");
  assert.match(failed.message, /what is this|expected|unexpected/);
});
