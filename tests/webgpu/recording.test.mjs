// The player's recordings: replaying one repeats its commands on the current contents of memory.

import assert from "node:assert/strict";
import { test } from "node:test";
import { range } from "./support/close.mjs";
import { copyBytes, elementwise } from "./support/kernel_fields.mjs";
import { arrayOf, options, Playing } from "./support/playing.mjs";

// y = a op b
function combine(p, op, a, b, y) {
  const stridesOf = (view) => [view.count === 1 ? 0 : 1];
  p.kernel(
    "elementwise",
    elementwise({ op, constants: op === "add" ? [1] : [], shape: [y.count] }, [
      [y, [1]],
      [a, stridesOf(a)],
      [b, stridesOf(b)],
    ]),
    op,
  );
}

const write = (p, view, values) => p.stream.write(view.block, 0, arrayOf("float32", values));

test("plays kernels again, with new inputs and among others", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [1, 2]);
  const one = p.view("float32", [1]);
  const y = p.view("float32", [0, 0]);
  p.stream.beginRecording(7);
  combine(p, "mul", x, x, y);
  combine(p, "add", y, one, y);
  p.stream.endRecording();
  assert.deepEqual(await p.read(y), [2, 5]);
  const reads = range(3, (i) => {
    write(p, x, [i, 10 * i]);
    p.stream.playRecording(7);
    combine(p, "add", y, one, y);
    return p.later(y);
  });
  p.play();
  assert.deepEqual(
    await Promise.all(reads),
    range(3, (i) => [i * i + 2, 100 * i * i + 2]),
  );
  p.stream.forget(7);
  assert.deepEqual(await p.read(y), [6, 402]);
});

test("a play creates nothing, in one submit", options, async () => {
  const p = new Playing();
  const x = p.view("float32", range(100));
  const one = p.view("float32", [1]);
  p.stream.beginRecording(1);
  for (let i = 0; i < 20; i++) combine(p, "add", x, one, x);
  p.stream.endRecording();
  await p.read(x);
  const before = p.stats;
  for (let i = 0; i < 5; i++) p.stream.playRecording(1);
  assert.deepEqual(
    await p.read(x),
    range(100, (i) => i + 120),
  );
  const { submits, dispatches, ...created } = p.stats;
  assert.equal(submits - before.submits, 1);
  assert.equal(dispatches - before.dispatches, 100);
  assert.equal(created.pipelines, before.pipelines);
  assert.equal(created.bindGroups, before.bindGroups);
  assert.equal(created.buffersCreated, before.buffersCreated);
});

test("a recording over several batches", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [0]);
  const one = p.view("float32", [1]);
  p.stream.beginRecording(1);
  combine(p, "add", x, one, x);
  assert.deepEqual(await p.read(x), [1]);
  combine(p, "add", x, one, x);
  p.stream.endRecording();
  p.stream.playRecording(1);
  assert.deepEqual(await p.read(x), [4]);
});

test("copies and scratch memory are played, too", options, async () => {
  const p = new Playing();
  const bytes = p.view("uint8", range(16));
  const to = p.view("uint8", new Array(16).fill(99));
  p.stream.beginRecording(1);
  copyBytes(p, to, 4, bytes, 0, 4);
  copyBytes(p, to, 9, bytes, 3, 5);
  // A copy within one block uses scratch memory.
  copyBytes(p, to, 1, to, 4, 3);
  p.stream.endRecording();
  p.stream.write(to.block, 0, arrayOf("uint8", new Array(16).fill(50)));
  p.stream.playRecording(1);
  assert.deepEqual(await p.read(to), [50, 0, 1, 2, 0, 1, 2, 3, 50, 3, 4, 5, 6, 7, 50, 50]);
});

test("memory of a recording stays when much else is given back", options, async () => {
  const p = new Playing();
  const size = 100 * 2 ** 20;
  const scratch = p.allocate(size);
  const from = { block: scratch, offset: 0, dtype: "float32", count: 1 };
  const x = p.view("float32", [0]);
  const one = p.view("float32", [1]);
  p.stream.beginRecording(1);
  combine(p, "add", from, one, x);
  p.stream.endRecording();
  p.stream.free(scratch);
  const others = range(4, () => p.allocate(size));
  for (const block of others) p.stream.free(block);
  await p.read(x);
  p.stream.playRecording(1);
  assert.equal((await p.read(x)).length, 1);
});

test("a recording in which something failed cannot be played", options, async () => {
  const p = new Playing();
  const x = p.view("float32", [1]);
  const one = p.view("float32", [1]);
  p.stream.beginRecording(1);
  p.kernel("unheard_of", {});
  p.stream.endRecording();
  await assert.rejects(p.read(x), /unheard_of/);
  p.stream.playRecording(1);
  await assert.rejects(p.read(x), /unheard_of/);
  p.stream.playRecording(5);
  await assert.rejects(p.read(x), /no recording 5/);
  combine(p, "add", x, one, x);
  assert.deepEqual(await p.read(x), [2]);
});

test(
  "a recording in which a call failed leaves that failure in all that it would have written",
  options,
  async () => {
    const p = new Playing();
    const [x, one] = [p.view("float32", [1]), p.view("float32", [1])];
    const [early, late, other] = [
      p.empty("float32", 1),
      p.empty("float32", 1),
      p.view("float32", [5]),
    ];
    p.stream.beginRecording(1);
    combine(p, "add", x, one, early);
    combine(p, "no_formula", x, one, late);
    p.stream.endRecording();
    assert.deepEqual(await p.read(early), [2]);
    await assert.rejects(p.read(late), /no_formula/);
    // What was computed before the replay is not what a replay would have computed.
    for (const view of [early, late]) p.stream.use(view.block, 4);
    write(p, x, [8]);
    p.stream.playRecording(1);
    assert.deepEqual(await p.read(other), [5]);
    for (const view of [early, late]) await assert.rejects(p.read(view), /no_formula/);
    assert.deepEqual(await p.read(x), [8]);
    combine(p, "add", early, one, other);
    await assert.rejects(p.read(other), /no_formula/);
    write(p, other, [6]);
    assert.deepEqual(await p.read(other), [6]);
    p.stream.forget(1);
  },
);

test("status words are read after a replay", options, async () => {
  const p = new Playing();
  const index = p.view("int64", [0, 1]);
  const [checked, kept] = [p.empty("int64", 2), p.empty("int64", 2)];
  const call = { op: "gather", count: 2, dim: 0, size: 2, index, checked };
  p.stream.beginRecording(1);
  p.kernel("find_out_of_range", call, "gather");
  p.stream.endRecording();
  assert.deepEqual(await p.read(checked), [0, 1]);
  p.stream.write(index.block, 0, arrayOf("int64", [0, 5]));
  p.stream.playRecording(1);
  await assert.rejects(p.read(checked), /index 5 is out of range/);
  assert.deepEqual(await p.read(index), [0, 5]);
  // Also if the next replay comes before anybody reads.
  p.stream.playRecording(1);
  copyBytes(p, kept, 0, checked, 0, 16);
  p.stream.write(index.block, 0, arrayOf("int64", [1, 1]));
  p.stream.use(checked.block, 16);
  p.stream.playRecording(1);
  assert.deepEqual(await p.read(checked), [1, 1]);
  await assert.rejects(p.read(kept), /index 5 is out of range/);
});
