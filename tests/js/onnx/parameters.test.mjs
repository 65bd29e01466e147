// What load() makes a parameter: the use of a tensor decides, not the place where the file stores it.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { graph, model, node, tensorProto, valueInfo } from "../support/onnx_models.mjs";

const ones = (count, value = 1) => new Array(count).fill(value);
const weight = (name, shape, value = 0.5) =>
  tensorProto(
    name,
    shape,
    ones(
      shape.reduce((a, b) => a * b, 1),
      value,
    ),
  );
const constant = (name, shape, value) =>
  node("Constant", [], [name], { value: { tensor: weight("", shape, value) } });

/** Loads a graph of one input x and one output y. */
const loaded = (nodes, initializers = [], options = {}, more = {}) =>
  onnx.load(
    model({
      inputs: [valueInfo("x", null)],
      outputs: [valueInfo("y", null)],
      nodes,
      initializers,
      ...more,
    }),
    options,
  );

const names = (module) => module.namedParameters().map(([name]) => name);

/** Asserts which of some initializers of a graph are parameters. */
async function parametersAre(wanted, nodes, initializers, more) {
  const module = await loaded(nodes, initializers, {}, more);
  assert.deepEqual(names(module).sort(), [...wanted].sort());
  const described = module.describe().filter(({ kind }) => kind === "parameter");
  assert.deepEqual(described.map(({ name }) => name).sort(), [...wanted].sort());
  return module;
}

describe("weights are parameters", () => {
  test("of products and the bias after them", () =>
    parametersAre(
      ["w", "b", "w2", "b2"],
      [
        node("MatMul", ["x", "w"], ["h"]),
        node("Add", ["h", "b"], ["h2"]),
        node("Gemm", ["h2", "w2", "b2"], ["y"]),
      ],
      [weight("w", [2, 3]), weight("b", [3]), weight("w2", [3, 1]), weight("b2", [1])],
    ));

  test("a bias of one element after a product with one result", async () => {
    const nodes = [node("MatMul", ["x", "w"], ["h"]), node("Add", ["b", "h"], ["y"])];
    await parametersAre(["w", "b"], nodes, [weight("w", [2, 1]), weight("b", [1])]);
    await parametersAre(["w"], nodes, [weight("w", [2, 3]), weight("b", [1])]);
    await parametersAre(["w"], nodes, [weight("w", [2, 1]), weight("b", [])]);
  });

  test("of convolutions, norms, slopes and recurrent ops", () =>
    parametersAre(
      ["k", "kb", "s", "t", "slope", "W", "R", "B"],
      [
        node("Conv", ["x", "k", "kb"], ["c"], { kernel_shape: [1] }),
        node("BatchNormalization", ["c", "s", "t", "mean", "var"], ["n"]),
        node("PRelu", ["n", "slope"], ["p"]),
        node("LSTM", ["p", "W", "R", "B", "", "h0", "c0"], ["y"], { hidden_size: 1 }),
      ],
      [
        weight("k", [2, 2, 1]),
        weight("kb", [2]),
        ...["s", "t", "mean", "var"].map((name) => weight(name, [2])),
        weight("slope", [1]),
        weight("W", [1, 4, 3]),
        weight("R", [1, 4, 1]),
        weight("B", [1, 8]),
        weight("h0", [1, 2, 1]),
        weight("c0", [1, 2, 1]),
      ],
    ));

  test("of an embedding, a layer scale, positions and a class token", () =>
    parametersAre(
      ["table", "positions", "scale", "token"],
      [
        node("Gather", ["table", "x"], ["e"]),
        node("Add", ["e", "positions"], ["p"]),
        node("Mul", ["p", "scale"], ["m"]),
        node("Concat", ["token", "m"], ["y"], { axis: 1 }),
      ],
      [
        weight("table", [5, 4]),
        weight("positions", [1, 3, 4]),
        weight("scale", [4]),
        weight("token", [1, 1, 4]),
      ],
      { inputs: [valueInfo("x", null, 7)] },
    ));

  test("through ops that move or convert them", () =>
    parametersAre(
      ["w", "v", "g"],
      [
        node("Cast", ["w"], ["w1"], { to: 1 }),
        node("Transpose", ["w1"], ["w2"]),
        node("Identity", ["w2"], ["w3"]),
        node("MatMul", ["x", "w3"], ["h"]),
        // The parametrization of a weight by its norm.
        node("ReduceL2", ["v"], ["length"], { axes: [1] }),
        node("Div", ["v", "length"], ["direction"]),
        node("Mul", ["direction", "g"], ["w4"]),
        node("MatMul", ["h", "w4"], ["y"]),
      ],
      [weight("w", [3, 2]), weight("v", [3, 2]), weight("g", [3, 1])],
    ));

  test("in Constant nodes, in branches and in functions", async () => {
    const branch = (name) =>
      graph({
        nodes: [constant(`${name}_k`, [2, 2], 3), node("MatMul", ["x", `${name}_k`], [name])],
        outputs: [valueInfo(name, null)],
      });
    const chosen = graph({
      nodes: [],
      initializers: [weight("c", [2])],
      outputs: [valueInfo("c", null)],
    });
    const other = graph({
      nodes: [],
      initializers: [weight("d", [2])],
      outputs: [valueInfo("d", null)],
    });
    const module = await parametersAre(
      ["w", "then_k", "else_k", "c", "d", "list"],
      [
        constant("w", [2, 2], 2),
        node("MatMul", ["x", "w"], ["h"]),
        node("If", ["flag"], ["i"], {
          then_branch: { graph: branch("then") },
          else_branch: { graph: branch("else") },
        }),
        node("If", ["flag"], ["bias"], {
          then_branch: { graph: chosen },
          else_branch: { graph: other },
        }),
        node("Add", ["h", "i"], ["a"]),
        node("Add", ["a", "bias"], ["b"]),
        node("Constant", [], ["list"], { value_floats: { floats: [1, 2] } }),
        node("Add", ["b", "list"], ["y"]),
      ],
      [],
      { inputs: [valueInfo("x", null), valueInfo("flag", [], 9)] },
    );
    const x = eg.tensor([[1, 2]]);
    const flag = eg.tensor(true);
    assert.deepEqual(module.call(x, flag).arraySync(), [[16.5, 17.5]]);
    module.call(x, flag).sum().backward();
    assert.deepEqual(module.getParameter("w").grad.arraySync(), [
      [1, 1],
      [2, 2],
    ]);
    // What was trained is in the file that save() writes.
    eg.noGrad(() => {
      for (const parameter of module.parameters()) parameter.add_(1);
    });
    const again = await onnx.load(await onnx.save(module));
    assert.deepEqual(again.call(x, flag).arraySync(), module.call(x, flag).arraySync());
    assert.deepEqual(again.call(x, eg.tensor(false)).arraySync(), [[24.5, 25.5]]);
    assert.deepEqual(names(again), names(module));
  });
});

describe("constants are no parameters", () => {
  test("numbers, exponents, limits, fills and settings", async () => {
    const one = ["two", "epsilon", "divisor", "fill", "low", "high", "half"];
    const module = await parametersAre(
      [],
      [
        node("Pow", ["x", "two"], ["a"]),
        node("Add", ["a", "epsilon"], ["b"]),
        node("Div", ["b", "divisor"], ["c"]),
        node("Mul", ["c", "half"], ["d"]),
        node("Greater", ["d", "fill"], ["e"]),
        node("Where", ["e", "d", "fill"], ["f"]),
        node("Clip", ["f", "low", "high"], ["g"]),
        node("Pad", ["g", "pads", "fill"], ["h"]),
        node("Pow", ["h", "exponents"], ["i"]),
        node("Where", ["e2", "i", "fills"], ["y"]),
      ],
      [
        ...one.map((name) => weight(name, [], 2)),
        tensorProto("pads", [4], [0, 1, 0, 1], 7),
        weight("exponents", [1, 4], 1),
        weight("fills", [1, 4], 7),
        tensorProto("e2", [1, 4], [1, 1, 1, 0], 9),
      ],
    );
    assert.deepEqual(module.call(eg.tensor([[1, 3]])).arraySync(), [[2, 2, 2, 7]]);
    assert.deepEqual(
      module.namedBuffers().map(([name]) => name),
      ["exponents", "fills"],
    );
    for (const { reason } of module.describe()) assert.match(reason, /\w/);
  });

  test("masks that are added or multiplied", () =>
    parametersAre(
      [],
      [node("Add", ["x", "mask"], ["h"]), node("Mul", ["h", "kept"], ["y"])],
      [tensorProto("mask", [2, 2], [0, -1e9, 0, 0]), tensorProto("kept", [2, 2], [1, 0, 1, 1])],
    ));

  test("quantization scales", () =>
    parametersAre(
      [],
      [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["h"]),
        node("DequantizeLinear", ["k", "ks", ""], ["w"], { axis: 0 }),
        node("MatMul", ["h", "w"], ["y"]),
      ],
      [
        weight("s", []),
        tensorProto("z", [], [0], 3),
        tensorProto("k", [2, 2], [1, 2, 3, 4], 3),
        weight("ks", [2]),
      ],
    ));

  test("the scale of ones of a group norm that is written as an instance norm", () =>
    parametersAre(
      ["weight", "bias"],
      [
        node("Reshape", ["x", "groups"], ["g"]),
        node("InstanceNormalization", ["g", "ones", "zeros"], ["n"]),
        node("Reshape", ["n", "whole"], ["r"]),
        node("Mul", ["r", "weight"], ["m"]),
        node("Add", ["m", "bias"], ["y"]),
      ],
      [
        tensorProto("groups", [3], [0, 2, -1], 7),
        tensorProto("whole", [3], [0, 4, -1], 7),
        weight("ones", [2], 1),
        weight("zeros", [2], 0),
        weight("weight", [4, 1], 1),
        weight("bias", [4, 1], 0),
      ],
    ));

  test("a step of an optimizer leaves them as they are", async () => {
    const module = await loaded(
      [
        node("Mul", ["x", "w"], ["h"]),
        node("Pow", ["h", "two"], ["s"]),
        node("ReduceMean", ["s"], ["m"], { axes: [1] }),
        node("Add", ["m", "epsilon"], ["e"]),
        node("Sqrt", ["e"], ["r"]),
        node("Div", ["h", "r"], ["y"]),
      ],
      [weight("w", [2]), weight("two", [], 2), weight("epsilon", [], 1e-5)],
    );
    assert.deepEqual(names(module), ["w"]);
    const optimizer = new eg.optim.AdamW(module.parameters(), { lr: 1 });
    const x = eg.tensor([[1, 3]]);
    module.call(x).square().mul(x).sum().backward();
    optimizer.step();
    const mean = module.call(x).square().mean().item();
    assert.ok(Math.abs(mean - 1) < 1e-3, String(mean));
  });
});

describe("load() can be told otherwise", () => {
  const nodes = [
    node("Mul", ["x", "s"], ["h"], {}, { name: "scales" }),
    node("MatMul", ["h", "w"], ["y"]),
  ];
  const initializers = [weight("s", []), weight("w", [2, 2])];

  test("by a function of the name and the use", async () => {
    const asked = [];
    const module = await loaded(nodes, initializers, {
      trainable: (name, use) => {
        asked.push([name, use.shape, use.isParameter, use.readers]);
        return name === "s";
      },
    });
    assert.deepEqual(asked, [
      ["s", [], false, ['Mul "scales"']],
      ["w", [2, 2], true, ["MatMul"]],
    ]);
    assert.deepEqual(names(module), ["s"]);
    assert.deepEqual(
      module.namedBuffers().map(([name]) => name),
      ["w"],
    );
    module
      .call(eg.ones([1, 2]))
      .sum()
      .backward();
    assert.equal(module.getParameter("s").grad.item(), 2);
  });

  test("whose choice save() keeps", async () => {
    const trainable = (name) => name === "s";
    const module = await loaded(nodes, initializers, { trainable });
    const again = await onnx.load(await onnx.save(module));
    assert.deepEqual(names(again), ["s"]);
    assert.deepEqual(Object.keys(again.stateDict()), Object.keys(module.stateDict()));
    assert.deepEqual(again.metadata, module.metadata);
    const traced = await onnx.save(again, { inputs: [eg.ones([1, 2])] });
    assert.deepEqual(names(await onnx.load(traced)), ["s"]);
    const other = await onnx.load(await onnx.save(again), { trainable: (name) => name === "w" });
    assert.deepEqual(names(other), ["w"]);
    assert.deepEqual(names(await onnx.load(await onnx.save(other))), ["w"]);
    // Also a tensor of a node, which is no initializer.
    const made = [
      node("Constant", [], ["c"], { value: { tensor: weight("", [2, 2]) } }),
      node("MatMul", ["x", "c"], ["y"]),
    ];
    for (const isLearned of [true, false]) {
      const one = await loaded(made, [], { trainable: () => isLearned });
      const wanted = isLearned ? ["c"] : [];
      assert.deepEqual(names(one), wanted);
      assert.deepEqual(names(await onnx.load(await onnx.save(one))), wanted);
    }
  });

  test("which must answer", async () => {
    await assert.rejects(loaded(nodes, initializers, { trainable: () => "yes" }), {
      code: "InvalidArgument",
    });
  });

  test("describe() says what became of each tensor, and why", async () => {
    const module = await loaded(nodes, initializers);
    assert.deepEqual(module.describe(), [
      {
        name: "s",
        shape: [],
        dtype: "float32",
        kind: "constant",
        reason: 'one number in Mul "scales"',
      },
      {
        name: "w",
        shape: [2, 2],
        dtype: "float32",
        kind: "parameter",
        reason: "a weight of MatMul",
      },
    ]);
  });
});

test("a scalar parameter of a module that save() wrote is one again", async () => {
  class Scaled extends eg.nn.Module {
    temperature = new eg.nn.Parameter(eg.tensor(2));
    forward(x) {
      return x.mul(this.temperature).add(eg.tensor([[1, 2]]));
    }
  }
  const saved = await onnx.load(await onnx.save(new Scaled(), { inputs: [eg.ones([1, 2])] }));
  assert.deepEqual(names(saved), ["temperature"]);
});

test("numbers alone follow, too, when a module is converted", async () => {
  const module = await loaded(
    [node("Expand", ["third", "two"], ["e"]), node("Add", ["x", "e"], ["y"])],
    [weight("third", [], 1 / 3), tensorProto("two", [2], [1, 2], 7)],
  );
  assert.equal(Object.keys(module.stateDict()).length, 0);
  for (const [convert, dtype] of [
    ["double", "float64"],
    ["half", "float16"],
  ]) {
    module[convert]();
    const y = module.call(eg.ones([1, 2], { dtype }));
    assert.equal(y.dtype, dtype);
  }
});

test("a number that is an input with a default can be replaced", async () => {
  const module = await loaded(
    [node("Mul", ["x", "factor"], ["y"])],
    [weight("factor", [], 2)],
    {},
    { inputs: [valueInfo("x", null), valueInfo("factor", [])] },
  );
  const x = eg.tensor([1, 2]);
  assert.deepEqual(module.call(x).arraySync(), [2, 4]);
  assert.deepEqual(module.run({ x, factor: eg.tensor(5) }).y.arraySync(), [5, 10]);
});

test("constants follow when a module is converted", async () => {
  const module = await loaded(
    [
      node("MatMul", ["x", "w"], ["h"]),
      node("Cast", ["h"], ["h2"], { to: 1 }),
      node("Mul", ["h2", "third"], ["m"]),
      node("Expand", ["third", "two"], ["e"]),
      node("Concat", ["m", "e"], ["c"], { axis: 0 }),
      node("ConstantOfShape", ["two"], ["z"], {
        value: { tensor: tensorProto("", [1], [3]) },
      }),
      node("Add", ["c", "z"], ["s"]),
      node("Add", ["s", "list"], ["y"]),
    ],
    [
      weight("w", [2, 2], 1),
      weight("third", [], 1 / 3),
      tensorProto("two", [2], [1, 2], 7),
      tensorProto("list", [1, 2], [0, -1e5]),
    ],
  );
  for (const dtype of ["float64", "float16"]) {
    module.to(dtype);
    const y = module.call(eg.ones([1, 2], { dtype }));
    assert.equal(y.dtype, dtype);
  }
});
