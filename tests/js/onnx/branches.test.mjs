// Branches: inputs that load() fixes, and branches in captured functions.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { graph, model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const branch = (op, weight) =>
  graph({
    nodes: [node(op, ["x", weight], ["b"])],
    outputs: [valueInfo("b", null)],
    initializers: [tensorProto(weight, [2], op === "Add" ? [3, 4] : [5, 6])],
  });

const branches = {
  then_branch: { graph: branch("Add", "v") },
  else_branch: { graph: branch("Mul", "w") },
};

/** A model that adds for a rate of 16000 and otherwise multiplies. */
const byRate = (shape) =>
  model({
    inputs: [valueInfo("x", null), valueInfo("sr", shape, 7)],
    outputs: [valueInfo("y", null)],
    initializers: [tensorProto("rate", [], [16000], 7)],
    nodes: [node("Equal", ["sr", "rate"], ["c"]), node("If", ["c"], ["y"], branches)],
  });

const x = eg.tensor([1, 2]);
const names = (module) => module.namedParameters().map(([name]) => name);

describe("inputs that load() fixes", () => {
  test("are folded, with the branches that depend on them", async () => {
    for (const [sr, wanted, parameters] of [
      [16000n, [4, 6], ["v"]],
      [8000, [5, 12], ["w"]],
      [eg.tensor(16000n), [4, 6], ["v"]],
    ]) {
      const module = await onnx.load(byRate([]), { inputs: { sr } });
      assert.deepEqual(
        module.inputs.map(({ name }) => name),
        ["x"],
      );
      assert.deepEqual(module.call(x).arraySync(), wanted);
      assert.deepEqual(names(module), parameters);
      const captured = eg.capture((one) => module.call(one), x);
      assert.deepEqual(captured(x).arraySync(), wanted);
      const again = await onnx.load(await onnx.save(module));
      assert.deepEqual(again.call(x).arraySync(), wanted);
    }
    assert.deepEqual(names(await onnx.load(byRate([]))), ["v", "w"]);
  });

  test("have the shape that the file declares", async () => {
    const module = await onnx.load(byRate([1]), { inputs: { sr: 16000 } });
    assert.deepEqual(module.call(x).arraySync(), [4, 6]);
    assert.deepEqual(
      (await onnx.load(byRate([1]), { inputs: { sr: [16000n] } })).call(x).arraySync(),
      [4, 6],
    );
    await assert.rejects(onnx.load(byRate([]), { inputs: { sr: [1, 2] } }), {
      code: "ShapeMismatch",
    });
  });

  test("that are numbers of any type are constants", async () => {
    const scaled = (type) =>
      onnx.load(
        model({
          inputs: [valueInfo("x", null, type), valueInfo("factor", [2], type)],
          outputs: [valueInfo("y", null, type)],
          nodes: [node("Mul", ["x", "factor"], ["y"])],
        }),
        { inputs: { factor: [2, 3] } },
      );
    for (const [type, dtype] of [
      [1, "float32"],
      [10, "float16"],
      [11, "float64"],
      [6, "int32"],
      [7, "int64"],
      [16, "bfloat16"],
    ]) {
      const module = await scaled(type);
      assert.deepEqual(names(module), []);
      const y = module.call(eg.tensor([1, 2], { dtype }));
      assert.equal(y.dtype, dtype);
      assert.deepEqual(y.to("float32").arraySync(), [2, 6]);
    }
  });

  test("that are unknown or of other kinds are refused", async () => {
    for (const inputs of [
      { rate: 1 },
      { sr: "x" },
      { sr: null },
      7,
      { sr: new Array(999).fill(1) },
    ])
      await assert.rejects(onnx.load(byRate([]), { inputs }), { code: "InvalidArgument" });
  });
});

describe("a captured function takes the branch", () => {
  const conditional = (nodes, initializers = [], inputs = []) =>
    onnx.load(
      model({
        inputs: [valueInfo("x", null), ...inputs],
        outputs: [valueInfo("y", null)],
        initializers,
        nodes: [...nodes, node("If", ["c"], ["y"], branches)],
      }),
    );

  test("of an input that is not captured", async () => {
    const module = await conditional([], [], [valueInfo("c", null, 9)]);
    for (const [value, wanted] of [
      [true, [5, 8]],
      [false, [10, 24]],
    ]) {
      const flag = eg.tensor(value);
      const captured = eg.capture((one) => module.call(one, flag), x);
      assert.deepEqual(captured(x.mul(2)).arraySync(), wanted);
    }
  });

  test("of a condition on tensors of the module", async () => {
    const module = await conditional(
      [node("ReduceSum", ["t"], ["s"], { keepdims: 0 }), node("Greater", ["s", "zero"], ["c"])],
      [tensorProto("t", [3], [1, 2, 3]), tensorProto("zero", [], [0])],
    );
    const captured = eg.capture((one) => module.call(one), x);
    assert.deepEqual(captured(x.mul(2)).arraySync(), [5, 8]);
  });

  test("and refuses a condition that depends on a captured input, or that has changed", async () => {
    const module = await conditional(
      [node("ReduceSum", ["x"], ["s"], { keepdims: 0 }), node("Greater", ["s", "zero"], ["c"])],
      [tensorProto("zero", [], [0])],
    );
    assert.throws(() => eg.capture((one) => module.call(one), x), /reads values/);
    const other = await conditional([], [], [valueInfo("c", null, 9)]);
    const flag = eg.tensor(true);
    const changing = (one) => {
      flag.logicalNot_();
      return other.call(one, flag);
    };
    assert.throws(() => eg.capture(changing, x), /reads values/);
  });
});
