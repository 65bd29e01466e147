// Tensors that are disposed of in any order within one turn of the event loop: all other tensors keep their values.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { makeRandom } from "../../js/support/capture_programs.mjs";
import { eg, onGpu, options } from "../support/engine.mjs";

const kSize = 8;
const kTurns = 60;

const values = (tensor) => tensor.data().then((data) => [...data]);
const full = (value) => Array(kSize).fill(value);

describe("disposal before anything was submitted", options, () => {
  test("of a captured function that was just called", async () => {
    const other = onGpu(full(7));
    const captured = eg.capture((a) => a.mul(2).add(1), onGpu(full(1)));
    // The first call records the commands, the second one replays them.
    const first = captured(onGpu(full(2)));
    const second = captured(onGpu(full(3)));
    captured.dispose();
    const unrelated = other.add(1);
    const found = await Promise.all([values(first), values(second), values(unrelated)]);
    assert.deepEqual(found, [full(5), full(7), full(8)]);
    assert.deepEqual(await values(other), full(7));
  });

  test("of a captured function that trains", async () => {
    const w = onGpu(full(1), { requiresGrad: true });
    const optimizer = new eg.optim.SGD([w], { lr: 0.5 });
    const captured = eg.capture(
      (a) => {
        optimizer.zeroGrad();
        w.mul(a).sum().backward();
        optimizer.step();
      },
      onGpu(full(1)),
    );
    for (let i = 0; i < 3; i++) captured(onGpu(full(1)));
    captured.dispose();
    const { grad } = w;
    assert.deepEqual(await Promise.all([values(w), values(grad)]), [full(-1.5), full(1)]);
  });

  test("of anything, in random order", async () => {
    for (let seed = 1; seed <= kTurns; seed++) {
      const random = makeRandom(seed);
      const index = (count) => Math.floor(random() * count);
      const tensors = [];
      const captures = [];
      const reads = [];
      const done = [];
      const add = (tensor, value) => tensors.push({ tensor, value });
      const actions = {
        make() {
          const value = index(9);
          add(onGpu(full(value)), value);
        },
        compute() {
          const { tensor, value } = tensors[index(tensors.length)];
          add(tensor.mul(2).add(1), value * 2 + 1);
        },
        capture() {
          const outside = tensors[index(tensors.length)];
          const captured = eg.capture((a) => a.mul(3).add(outside.tensor), outside.tensor);
          captures.push({ captured, outside: outside.value });
        },
        call() {
          if (captures.length === 0) return;
          const { captured, outside } = captures[index(captures.length)];
          const { tensor, value } = tensors[index(tensors.length)];
          add(captured(tensor), value * 3 + outside);
        },
        dispose() {
          if (tensors.length < 2) return;
          tensors.splice(index(tensors.length), 1)[0].tensor.dispose();
        },
        disposeCapture() {
          if (captures.length === 0) return;
          captures.splice(index(captures.length), 1)[0].captured.dispose();
        },
        read() {
          const { tensor, value } = tensors[index(tensors.length)];
          reads.push(
            values(tensor).then((found) => assert.deepEqual(found, full(value), `${done}`)),
          );
        },
      };
      actions.make();
      const names = [...Object.keys(actions), "call", "call", "read", "compute"];
      for (let i = 0; i < 40; i++) {
        const name = names[index(names.length)];
        done.push(name);
        // Only small numbers, whose sums are exact.
        if (tensors.some(({ value }) => Math.abs(value) > 1e5)) break;
        actions[name]();
      }
      for (const { tensor, value } of tensors)
        reads.push(values(tensor).then((found) => assert.deepEqual(found, full(value), `${done}`)));
      for (const { captured } of captures) captured.dispose();
      await Promise.all(reads);
      for (const { tensor } of tensors) tensor.dispose();
    }
  });
});
