// Ops that few models have, which are in a file of their own, and those of the newest opset.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inspect, load } from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { graph, model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const kSize = tensorProto("size", [], [4], 7);
const kWindow = node("HannWindow", ["size"], ["y"]);
const kHann = [0, 0.5, 1, 0.5];

function assertClose(tensor, expected) {
  const found = tensor.flatten().tolist();
  assert.equal(found.length, expected.length);
  found.forEach((one, i) => {
    assert.ok(Math.abs(one - expected[i]) < 1e-6, `${found} is not ${expected}`);
  });
}

describe("an op that few models have is found", () => {
  const outputs = [valueInfo("y", null)];

  test("in a graph, also by inspect()", async () => {
    const bytes = model({ outputs, initializers: [kSize], nodes: [kWindow] });
    assertClose((await load(bytes)).call(), kHann);
    assert.equal((await inspect(bytes)).nodes[0].isSupported, true);
  });

  test("in a graph inside another", async () => {
    const branch = (nodes) => ({ graph: graph({ nodes, outputs }) });
    const zeros = node("Identity", ["size"], ["y"]);
    const choice = node("If", ["c"], ["y"], {
      then_branch: branch([kWindow]),
      else_branch: branch([zeros]),
    });
    const inputs = [valueInfo("c", [], 9)];
    const module = await load(model({ inputs, outputs, initializers: [kSize], nodes: [choice] }));
    assertClose(module.call(eg.tensor(true)), kHann);
  });
});

describe("CumProd and CumSum", () => {
  const cases = {
    CumProd: [
      [{}, [2, 6, 24], [5, 0, 0]],
      [{ exclusive: 1 }, [1, 2, 6], [1, 5, 0]],
      [{ reverse: 1 }, [24, 12, 4], [0, 0, 7]],
      [{ exclusive: 1, reverse: 1 }, [12, 4, 1], [0, 7, 1]],
    ],
    CumSum: [
      [{}, [2, 5, 9], [5, 5, 12]],
      [{ exclusive: 1 }, [0, 2, 5], [0, 5, 5]],
      [{ reverse: 1 }, [9, 7, 4], [12, 7, 7]],
      [{ exclusive: 1, reverse: 1 }, [7, 4, 0], [7, 7, 0]],
    ],
  };
  const x = eg.tensor([
    [2, 3, 4],
    [5, 0, 7],
  ]);
  for (const [name, settings] of Object.entries(cases)) {
    for (const [attributes, ...rows] of settings) {
      test(`${name} ${JSON.stringify(attributes)}`, async () => {
        const axis = tensorProto("axis", [], [-1], 7);
        const module = await load(
          model({
            inputs: [valueInfo("x", ["n", 3])],
            outputs: [valueInfo("y", null)],
            initializers: [axis],
            nodes: [node(name, ["x", "axis"], ["y"], attributes)],
            opset: 26,
          }),
        );
        assertClose(module.call(x), rows.flat());
        assert.equal(module.call(eg.zeros([0, 3])).numel, 0);
      });
    }
  }

  test("the elements before one that is infinite have finite sums", async () => {
    const module = await load(
      model({
        inputs: [valueInfo("x", ["n"])],
        outputs: [valueInfo("y", null)],
        initializers: [tensorProto("axis", [], [0], 7)],
        nodes: [node("CumSum", ["x", "axis"], ["y"], { exclusive: 1 })],
      }),
    );
    assert.deepEqual(module.call(eg.tensor([1, Infinity, 2])).tolist(), [0, 1, Infinity]);
    assert.equal(module.call(eg.zeros([0])).numel, 0);
  });
});
