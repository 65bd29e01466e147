// backward() and grad() take arguments by position, in PyTorch's order, and by name.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf, values } from "../support/graphs.mjs";

const { autograd } = eg;
const { graph } = autograd;
const graphOf = () => {
  const [x, z] = [leaf([1, 2, 3]), leaf([4])];
  return { x, z, y: x.square() };
};
const v = () => eg.tensor([1, 10, 100]);
const kExpected = [2, 40, 600];

describe("grad", () => {
  for (const name of ["grad", "gradAsync"]) {
    const grad = autograd[name];

    test(`${name}: gradients of the outputs third`, async () => {
      const { x, y } = graphOf();
      for (const outputs of [y, [y]]) {
        for (const gradOutputs of [v(), [v()]]) {
          const [first] = await grad(outputs, x, gradOutputs, { retainGraph: true });
          assert.deepEqual(values(first), kExpected);
          const [again] = await grad(outputs, [x], gradOutputs, true);
          assert.deepEqual(values(again), kExpected);
          const [named] = await grad(outputs, x, { gradOutputs, retainGraph: true });
          assert.deepEqual(values(named), kExpected);
        }
      }
      const [edge] = await grad(graph.getGradientEdge(y), graph.getGradientEdge(x), v(), true);
      assert.deepEqual(values(edge), kExpected);
      assert.deepEqual(values((await grad(y.sum(), x, null))[0]), [2, 4, 6]);
    });

    test(`${name}: all of them`, async () => {
      const { x, y, z } = graphOf();
      const [first, unused] = await grad(y, [x, z], v(), true, true, true, true, false, false);
      assert.equal(first.requiresGrad, true);
      assert.equal(unused, null);
      const batched = await grad(y, x, eg.eye(3), true, false, true, false, true);
      assert.deepEqual(batched[0].arraySync(), [
        [2, 0, 0],
        [0, 4, 0],
        [0, 0, 6],
      ]);
      const [, zeros] = await grad(y, [x, z], v(), true, false, true, true, false, true);
      assert.deepEqual(values(zeros), [0]);
      const [mixed] = await grad(y, x, [v()], true, { createGraph: true });
      assert.equal(mixed.requiresGrad, true);
    });

    test(`${name}: what is wrong is said by name`, async () => {
      const { x, y } = graphOf();
      const fails = async (args, code, text) => {
        const call = async () => grad(...args);
        await assertRejects(call(), code, text);
      };
      await fails([y, x, 5], "InvalidArgument", /gradOutputs: expected a tensor/);
      await fails([y, x, v(), 1], "InvalidArgument", /retainGraph.*true or false/);
      await fails([y, x, v(), true, { retainGraph: true }], "InvalidArgument", /given twice/);
      await fails([y, x, [v(), v()]], "InvalidArgument", /1 tensors and 2 gradients/);
      await fails(
        [y, x, v(), true, true, true, true, false, false, 1, 2],
        "InvalidArgument",
        /too many/,
      );
      await fails([y, x, { gradOutput: v() }], "InvalidArgument", /gradOutputs/);
      await fails([y, x, eg.ones([2])], "ShapeMismatch");
      assert.deepEqual(values((await grad(y, x, v()))[0]), kExpected);
    });
  }

  test("onlyInputs is ignored, with a warning where it is false", () => {
    // rule: only-inputs
    const { x, y } = graphOf();
    const { warn } = console;
    const warnings = [];
    console.warn = (text) => warnings.push(text);
    try {
      autograd.grad(y, x, v(), true, false, true);
      autograd.grad(y, x, v(), { onlyInputs: false });
    } finally {
      console.warn = warn;
    }
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /onlyInputs/);
  });
});

describe("backward", () => {
  const runs = {
    "autograd.backward": (y, ...rest) => autograd.backward(y, ...rest),
    "autograd.backwardAsync": (y, ...rest) => autograd.backwardAsync(y, ...rest),
  };
  for (const [name, run] of Object.entries(runs)) {
    test(name, async () => {
      const { x, y, z } = graphOf();
      const total = y.mul(z);
      await run(total, v(), true);
      assert.deepEqual(values(x.grad), [8, 160, 2400]);
      await run([total], [v()], true, false, null, [z]);
      assert.deepEqual(values(x.grad), [8, 160, 2400]);
      assert.deepEqual(values(z.grad), [1882]);
      await run(total, v(), null, { inputs: x });
      assert.deepEqual(values(x.grad), [16, 320, 4800]);
      await assertRejects((async () => run(total, v()))(), "GraphFreed");
    });
  }

  test("gradVariables is an old name", () => {
    const { x, y } = graphOf();
    const { warn } = console;
    const warnings = [];
    console.warn = (text) => warnings.push(text);
    try {
      autograd.backward(y, null, true, false, v());
      assert.deepEqual(values(x.grad), kExpected);
      assertThrows(
        () => autograd.backward(y, v(), true, false, v()),
        "InvalidArgument",
        /old name/,
      );
    } finally {
      console.warn = warn;
    }
    assert.match(warnings[0], /gradTensors/);
  });

  for (const name of ["backward", "backwardAsync"]) {
    test(`Tensor.${name}`, async () => {
      const { x, y, z } = graphOf();
      const total = y.mul(z);
      await total[name](v(), true);
      assert.deepEqual(values(x.grad), [8, 160, 2400]);
      await total[name](v(), true, false, [z]);
      assert.deepEqual(values(x.grad), [8, 160, 2400]);
      await total[name](v(), null, true, { inputs: [x] });
      assert.equal(x.grad.requiresGrad, true);
      const wrong = async (...args) => total[name](...args);
      await assertRejects(wrong(v(), 1), "InvalidArgument", /retainGraph/);
      await assertRejects(wrong(v(), true, false, 3), "InvalidArgument", /inputs/);
      await assertRejects(wrong({ retainGraph: true }), "InvalidArgument", /options come second/);
    });
  }
});
