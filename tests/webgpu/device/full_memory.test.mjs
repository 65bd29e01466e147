// Too little memory of the GPU is OutOfMemory with the numbers, at whatever call of createBuffer() it is noticed, and nothing else fails.
// EG_FULL_MEMORY=1 tries every op; otherwise one of five is tried, others in each run.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as eg from "edgegrad";
import { gpu, lose, memory, skip } from "../support/full_gpu.mjs";

if (!skip) await eg.init({ webgpu: "required", gpu });
const { callOp, opTable, samplesOf } = await import("../../js/support/op_samples.mjs");
const { isCallable } = await import("../support/laws/op_laws.mjs");
const { mapTensors } = await import("../support/laws/outcome.mjs");

const kNumbers = /\d+ bytes could not be allocated on the GPU, where \d+ are in use/;
const isTensor = (value) => value instanceof eg.Tensor;

// assert compares bytes faster than numbers.
async function bytesOf(tensor) {
  const { buffer, byteOffset, byteLength } = await tensor.detach().data();
  return Buffer.from(buffer, byteOffset, byteLength);
}

async function reopen() {
  lose();
  await eg.init();
}

/** Returns the arrays of the results of `work`, or the error that its call or reads fail with. */
async function outcomeOf(work) {
  try {
    const results = [await work()].flat().filter(isTensor);
    return { arrays: await Promise.all(results.map(bytesOf)) };
  } catch (error) {
    if (!(error instanceof eg.EdgeGradError)) throw error;
    return { error };
  }
}

/**
 * Runs `work(args)` on a new device with the n-th call of createBuffer() failing, or all from there on, for every n. Then it runs again,
 * with memory.
 */
async function assertLaw(name, given, work) {
  const place = () => mapTensors(given, (tensor) => tensor.detach().to("webgpu"));
  const tensorsOf = (args) => args.flat(2).filter(isTensor);
  const valuesOf = (args) => Promise.all(tensorsOf(args).map(bytesOf));
  const right = await eg.scope(() => outcomeOf(() => work(place())));
  if (right.error?.code === "WouldBlock") return 0;
  let count = 0;
  for (const isOnce of [true, false]) {
    for (let n = 1, isReached = true; isReached; n++) {
      await reopen();
      await eg.scope(async () => {
        const where = `${name}, call ${n}${isOnce ? "" : " and all that follow"}`;
        const args = place();
        const before = await valuesOf(args);
        memory.reset((call) => (isOnce ? call === n : call >= n));
        const found = await outcomeOf(() => work(args));
        isReached = memory.calls >= n;
        memory.reset();
        if (found.error !== undefined && found.error.code !== right.error?.code) {
          assert.equal(found.error.code, "OutOfMemory", `${where}: ${found.error.message}`);
          assert.match(found.error.message, kNumbers, where);
        } else assert.deepEqual(found.arrays, right.arrays, where);
        assert.deepEqual(await valuesOf(args), before, where);
        const again = await outcomeOf(() => work(args));
        assert.equal(
          again.error?.code,
          right.error?.code,
          `${where}, then ${again.error?.message}`,
        );
        assert.deepEqual(again.arrays, right.arrays, where);
        count++;
      });
    }
  }
  return count;
}

describe("with too little memory on the GPU, an op is OutOfMemory or right:", { skip }, () => {
  const every = process.env.EG_FULL_MEMORY === "1" ? 1 : 5;
  const first = Math.floor(Math.random() * every);
  const ops = opTable.filter(isCallable).filter((_, i) => i % every === first);
  for (const op of ops) {
    test(op.name, async () => {
      for (const { make } of samplesOf(op).slice(0, 1)) {
        const given = make("float32");
        if (given === null) continue;
        const rest = op.kind === "factory" ? [{ device: "webgpu" }] : [];
        await assertLaw(op.js, given, (args) => callOp(op, [...args, ...rest]));
      }
    });
  }
});

describe("with too little memory on the GPU,", { skip }, () => {
  const numbers = (...shape) =>
    eg
      .linspace(
        -1,
        1,
        shape.reduce((a, b) => a * b, 1),
      )
      .reshape(shape);

  test("reductions of large tensors", async () => {
    const x = numbers(300, 400);
    for (const reduce of [
      (t) => t.sum(),
      (t) => t.mean(0),
      (t) => t.amax([1]),
      (t) => t.prod(),
      (t) => t.argmax(),
      (t) => t.logsumexp([0, 1]),
      (t) => t.cumsum(0),
      (t) => t.std(),
      (t) => t.sort(1),
    ])
      assert.ok((await assertLaw(String(reduce), [x], ([t]) => reduce(t))) > 2);
  });

  test("a backward pass", async () => {
    const grads = ([w, x]) => {
      const leaf = w.detach().requiresGrad_();
      leaf.mm(x).tanh().square().sum().backward();
      return leaf.grad;
    };
    assert.ok((await assertLaw("backward", [numbers(20, 30), numbers(30, 10)], grads)) > 5);
  });

  test("writes from the host", async () => {
    const written = ([x]) => {
      const y = x.add(1);
      for (const value of [2, 3]) y.copy_(eg.full([...x.shape], value));
      return [y.mul(x), y.add(eg.ones([300_000]).sum().to("webgpu"))];
    };
    assert.ok((await assertLaw("writes", [numbers(300, 300)], written)) > 5);
  });
});
