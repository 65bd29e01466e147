// Kernel calls with the same words as an earlier call: they are not decoded again, but still have the right effect.

import assert from "node:assert/strict";
import { test } from "node:test";
import { openDevice } from "./support/device.mjs";
import { elementwise } from "./support/kernel_fields.mjs";
import { options, Playing, webgpu } from "./support/playing.mjs";

const { device } = await openDevice();

/** A player whose kernels count how often their calls are decoded. */
function counting() {
  const reads = {};
  const counted = [...webgpu.kernels].map(([name, kernel]) => {
    const play = (call, commands) => {
      reads[name] = (reads[name] ?? 0) + 1;
      kernel.play(call, commands);
    };
    return [name, { ...kernel, play }];
  });
  return { p: new Playing({ on: device, kernels: new Map(counted) }), reads };
}

const fill = (p, view, value) => p.kernel("fill", { count: view.count, value, y: view });

const copy = (p, to, from) =>
  p.kernel("copy", { shape: [from.count], to, toStrides: [1], from, fromStrides: [1] });

test("are read twice, and no third time", options, async () => {
  const { p, reads } = counting();
  const x = p.view("float32", [1, 2, 3]);
  for (let i = 0; i < 5; i++) {
    fill(p, x, 7);
    assert.deepEqual(await p.read(x), [7, 7, 7]);
    p.stream.write(x.block, 0, Float32Array.of(i));
    assert.deepEqual(await p.read(x), [i, 7, 7]);
  }
  assert.equal(reads.fill, 2);
  fill(p, x, 8);
  assert.deepEqual(await p.read(x), [8, 8, 8]);
  assert.equal(reads.fill, 3);
  assert.equal(p.stats.dispatches, 6);
});

test("work on the buffer that a block has now", options, async () => {
  const { p } = counting();
  const x = p.view("float32", [1, 2]);
  const other = p.view("float32", [5, 6]);
  for (let i = 0; i < 3; i++) fill(p, x, 7);
  p.stream.free(x.block);
  p.stream.allocate(x.block, 4096);
  p.stream.write(x.block, 0, Float32Array.of(1, 2));
  // This view gets the buffer that x had.
  const next = p.view("float32", [3, 4]);
  fill(p, x, 7);
  assert.deepEqual(await p.read(x), [7, 7]);
  assert.deepEqual(await p.read(next), [3, 4]);
  assert.deepEqual(await p.read(other), [5, 6]);
});

test("fill up a block to its end as it is now", options, async () => {
  const { p } = counting();
  const from = p.view("uint8", [1, 2, 3, 4, 5]);
  const block = p.allocate(5);
  const to = { ...from, block };
  for (let i = 0; i < 3; i++) copy(p, to, from);
  assert.deepEqual(await p.read(to), [1, 2, 3, 4, 5]);
  p.stream.free(block);
  p.stream.allocate(block, 9);
  p.stream.write(
    block,
    0,
    Uint8Array.from({ length: 12 }, () => 9),
  );
  copy(p, to, from);
  assert.deepEqual(await p.read({ ...to, count: 9 }), [1, 2, 3, 4, 5, 9, 9, 9, 9]);
});

test("have scratch memory that no block takes", options, async () => {
  const { p } = counting();
  const x = p.view("float32", [1, 2, 3, 4, 5]);
  // A copy within one block uses temporary memory.
  const shift = () => copy(p, { ...x, count: 4 }, { ...x, offset: 4, count: 4 });
  for (let i = 0; i < 3; i++) shift();
  const others = [1, 2, 3].map(() => p.view("float32", [7, 8, 9, 10]));
  shift();
  assert.deepEqual(await p.read(x), [5, 5, 5, 5, 5]);
  for (const other of others) assert.deepEqual(await p.read(other), [7, 8, 9, 10]);
});

test("find what is out of range every time", options, async () => {
  const { p } = counting();
  const index = p.view("int64", [1, 5]);
  const checked = p.empty("int64", 2);
  const call = { op: "embedding", count: 2, dim: 0, size: 3, index, checked };
  for (let i = 0; i < 4; i++) {
    p.stream.use(checked.block, 16);
    p.kernel("find_out_of_range", call, "embedding");
    await assert.rejects(p.read(checked), { kind: "index", op: "embedding", index: 5 });
    assert.deepEqual(await p.read(index), [1, 5]);
  }
});

test("are decoded again if a name means another block", options, async () => {
  const { p } = counting();
  const x = p.view("float32", [1, 4]);
  const y = p.empty("float32", 2);
  const call = () =>
    p.kernel(
      "elementwise",
      elementwise({ op: "sqrt", shape: [2] }, [
        [y, [1]],
        [x, [1]],
      ]),
    );
  for (let i = 0; i < 3; i++) call();
  assert.deepEqual(await p.read(y), [1, 2]);
  p.stream.add("Name", { number: p.stream.name("sqrt"), text: "neg" });
  call();
  assert.deepEqual(await p.read(y), [-1, -4]);
});
