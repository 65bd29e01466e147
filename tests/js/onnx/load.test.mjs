// load(): what a module of an ONNX model is, where its bytes may come from, and what it refuses.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as onnx from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import {
  field,
  functionProto,
  graph,
  model,
  node,
  tensorProto,
  valueInfo,
} from "../support/onnx_models.mjs";

const kLinear = model({
  inputs: [valueInfo("x", ["n", 2])],
  outputs: [valueInfo("y", ["n", 1])],
  initializers: [
    tensorProto("fc.weight", [1, 2], [2, 3]),
    tensorProto("fc.bias", [1], [1]),
    tensorProto("places", [300], new Array(300).fill(0), 7),
  ],
  nodes: [
    node("Gemm", ["x", "fc.weight", "fc.bias"], ["h"], { transB: 1 }),
    node("Gather", ["h", "places"], ["unused"]),
    node("Identity", ["h"], ["y"]),
  ],
  metadata: { author: "me" },
});

const x = eg.tensor([
  [1, 1],
  [0, 2],
]);
const lists = (value) => value.arraySync();

async function refusal(promise) {
  const error = await promise.then(
    () => assert.fail("nothing was thrown"),
    (one) => one,
  );
  assert.ok(error instanceof eg.EdgeGradError, error?.stack ?? String(error));
  return error;
}

describe("a module", () => {
  test("has its parameters and buffers under their own names, and begins in evaluation mode", async () => {
    const module = await onnx.load(kLinear);
    assert.deepEqual(
      module.namedParameters().map(([name]) => name),
      ["fc.weight", "fc.bias"],
    );
    assert.deepEqual(
      module.namedBuffers().map(([name]) => name),
      ["places"],
    );
    assert.deepEqual(Object.keys(module.stateDict()), ["places", "fc.weight", "fc.bias"]);
    assert.equal(module.training, false);
    assert.ok(module instanceof onnx.OnnxModule && module instanceof eg.nn.Module);
  });

  test("describes its graph", async () => {
    const { inputs, outputs, opset, producer, metadata } = await onnx.load(kLinear);
    const [input] = inputs;
    assert.deepEqual([input.name, input.dtype, input.shape], ["x", "float32", ["n", 2]]);
    assert.deepEqual(
      outputs.map(({ name }) => name),
      ["y"],
    );
    assert.deepEqual([opset, producer, metadata], [17, "test", { author: "me" }]);
  });

  test("is called by position, run by name, and differentiated", async () => {
    const module = await onnx.load(kLinear);
    assert.deepEqual(lists(module.call(x)), [[6], [7]]);
    assert.deepEqual(lists(module.run({ x }).y), [[6], [7]]);
    module.call(x).sum().backward();
    assert.deepEqual(lists(module.getParameter("fc.weight").grad), [[1, 3]]);
  });

  test("is trained, copied and loaded like any other", async () => {
    const module = await onnx.load(kLinear);
    const copy = module.clone();
    const optimizer = new eg.optim.SGD(module.parameters(), { lr: 0.1 });
    module.call(x).sum().backward();
    optimizer.step();
    assert.notDeepEqual(lists(module.call(x)), [[6], [7]]);
    assert.deepEqual(lists(copy.call(x)), [[6], [7]]);
    module.loadStateDict(copy.stateDict());
    assert.deepEqual(lists(module.call(x)), [[6], [7]]);
  });

  test("frees what it computes with, and keeps what it returns", async () => {
    const module = await onnx.load(kLinear);
    const before = eg.memory().jsHandles;
    const y = module.call(x);
    assert.equal(eg.memory().jsHandles, before + 1);
    y.dispose();
  });

  test("takes its hooks, modes and dtypes", async () => {
    const module = await onnx.load(kLinear);
    let calls = 0;
    module.registerForwardHook(() => {
      calls++;
    });
    const y = eg.noGrad(() => module.call(x));
    assert.deepEqual([calls, y.requiresGrad], [1, false]);
    module.to("float64");
    assert.equal(module.call(x.to("float64")).dtype, "float64");
  });

  test("returns the values that are asked for", async () => {
    const module = await onnx.load(kLinear, { outputs: ["unused", "h"] });
    const [unused, h] = module.call(x);
    assert.deepEqual(
      [unused.shape, h.shape],
      [
        [300, 1],
        [2, 1],
      ],
    );
    const error = await refusal(onnx.load(kLinear, { outputs: ["z"] }));
    assert.match(error.message, /no value "z"/);
  });

  test("has only buffers if it is not trainable", async () => {
    const module = await onnx.load(kLinear, { trainable: false });
    assert.equal(module.parameters().length, 0);
    assert.deepEqual(lists(module.call(x)), [[6], [7]]);
  });

  test("gives names that cannot be properties an ending", async () => {
    const names = ["__proto__", "a", "a.b", "forward", "inputs.x", "", "constructor.y"];
    const module = await onnx.load(
      model({
        outputs: [valueInfo("y", [2])],
        initializers: names.map((name) => tensorProto(name, [2], [1, 1])),
        nodes: [node("Sum", names.filter(Boolean), ["y"])],
      }),
    );
    const found = [...module.namedParameters(), ...module.namedBuffers()].map(([name]) => name);
    const expected = ["__proto___", "_", "a.b", "a_", "constructor_.y", "forward_", "inputs_.x"];
    assert.deepEqual(found.sort(), expected.sort());
    assert.deepEqual(lists(module.call()), [6, 6]);
    assert.equal({}.polluted, undefined);
  });
});

describe("graphs inside a model", () => {
  test("functions of the model are run, with attributes of the call", async () => {
    const twice = functionProto("Twice", {
      inputs: ["a"],
      outputs: ["b"],
      attributes: ["alpha"],
      nodes: [
        node("LeakyRelu", ["a"], ["l"], { alpha: { ref: "alpha" } }),
        node("Add", ["l", "l"], ["b"]),
      ],
    });
    const module = await onnx.load(
      model({
        domains: { own: 1 },
        functions: [twice],
        inputs: [valueInfo("x", ["n"])],
        outputs: [valueInfo("y", ["n"])],
        nodes: [node("Twice", ["x"], ["y"], { alpha: { float: 0.5 } }, { domain: "own" })],
      }),
    );
    assert.deepEqual(lists(module.call(eg.tensor([-2, 3]))), [-2, 6]);
  });

  test("branches see the values around them, and loops carry values", async () => {
    const branch = (op) =>
      graph({ nodes: [node(op, ["x", "w"], ["b"])], outputs: [valueInfo("b", null)] });
    const body = graph({
      inputs: [valueInfo("i", [], 7), valueInfo("c", [], 9), valueInfo("s", null)],
      outputs: [valueInfo("c2", [], 9), valueInfo("s2", null), valueInfo("each", null)],
      nodes: [
        node("Identity", ["c"], ["c2"]),
        node("Add", ["s", "w"], ["s2"]),
        node("Identity", ["s2"], ["each"]),
      ],
    });
    const module = await onnx.load(
      model({
        inputs: [valueInfo("x", [2]), valueInfo("chooses", [], 9)],
        outputs: [valueInfo("y", null), valueInfo("sum", null), valueInfo("all", null)],
        initializers: [tensorProto("w", [2], [3, 3]), tensorProto("n", [], [3], 7)],
        nodes: [
          node("If", ["chooses"], ["y"], {
            then_branch: { graph: branch("Add") },
            else_branch: { graph: branch("Mul") },
          }),
          node("Loop", ["n", "", "y"], ["sum", "all"], { body: { graph: body } }),
        ],
      }),
    );
    const input = eg.tensor([1, 2]);
    const [y, sum, all] = module.call(input, eg.tensor(true));
    assert.deepEqual(
      [lists(y), lists(sum), all.shape],
      [
        [4, 5],
        [13, 14],
        [3, 2],
      ],
    );
    assert.deepEqual(lists(module.call(input, eg.tensor(false))[0]), [3, 6]);
    sum.sum().backward();
    assert.deepEqual(lists(module.getParameter("w").grad), [4, 4]);
  });

  test("a shape that is computed from an input needs no tensors", async () => {
    const module = await onnx.load(
      model({
        inputs: [valueInfo("x", ["n", 2, 3])],
        outputs: [valueInfo("y", ["n", 6])],
        initializers: [
          tensorProto("zero", [], [0], 7),
          tensorProto("axis", [1], [0], 7),
          tensorProto("rest", [1], [-1], 7),
        ],
        nodes: [
          node("Shape", ["x"], ["s"]),
          node("Gather", ["s", "zero"], ["n"]),
          node("Unsqueeze", ["n", "axis"], ["n1"]),
          node("Concat", ["n1", "rest"], ["to"], { axis: 0 }),
          node("Reshape", ["x", "to"], ["y"]),
        ],
      }),
    );
    const input = eg.zeros([4, 2, 3]);
    const before = eg.memory().tensors;
    const y = module.call(input);
    assert.deepEqual(y.shape, [4, 6]);
    assert.equal(eg.memory().tensors, before + 1);
  });
});

describe("training mode", () => {
  const normalized = model({
    inputs: [valueInfo("x", ["n", 1])],
    outputs: [valueInfo("y", ["n", 1])],
    initializers: ["scale", "bias", "mean", "var"].map((name, i) =>
      tensorProto(`bn.${name}`, [1], [i % 3 === 0 ? 1 : 0]),
    ),
    nodes: [
      node("BatchNormalization", ["x", "bn.scale", "bn.bias", "bn.mean", "bn.var"], ["h"]),
      node("Dropout", ["h"], ["y"]),
    ],
  });

  test("updates the statistics of batch normalization, which are buffers", async () => {
    const module = await onnx.load(normalized);
    assert.deepEqual(
      module.namedBuffers().map(([name]) => name),
      ["bn.mean", "bn.var"],
    );
    const input = eg.tensor([[1], [3]]);
    const still = lists(module.call(input)).flat();
    assert.ok(Math.abs(still[1] - 3) < 1e-3);
    module.train().call(input);
    const [mean] = lists(module.getBuffer("bn.mean"));
    assert.ok(Math.abs(mean - 0.2) < 1e-6);
  });
});

describe("quantized models", () => {
  test("pass gradients straight through", async () => {
    const module = await onnx.load(
      model({
        inputs: [valueInfo("x", ["n"])],
        outputs: [valueInfo("y", ["n"])],
        nodes: [
          node("QuantizeLinear", ["x", "scale", "zero"], ["q"]),
          node("DequantizeLinear", ["q", "scale", "zero"], ["y"]),
        ],
        initializers: [tensorProto("scale", [], [0.5]), tensorProto("zero", [], [0], 3)],
      }),
    );
    const input = eg.tensor([0.6, -100, 3], { requiresGrad: true });
    const y = module.call(input);
    assert.deepEqual(lists(y), [0.5, -64, 3]);
    y.sum().backward();
    assert.deepEqual(lists(input.grad), [1, 0, 1]);
  });
});

describe("sources", () => {
  test("are bytes, blobs, responses and addresses", async () => {
    const folder = mkdtempSync(join(tmpdir(), "edgegrad-onnx-"));
    try {
      writeFileSync(join(folder, "linear.onnx"), kLinear);
      const url = pathToFileURL(join(folder, "linear.onnx"));
      const sources = [kLinear.buffer, new Blob([kLinear]), new Response(kLinear), url];
      for (const source of sources)
        assert.deepEqual(lists((await onnx.load(source)).call(x)), [[6], [7]]);
      const error = await refusal(onnx.load(new URL("nothing.onnx", url)));
      assert.equal(error.code, "InvalidArgument");
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("of other kinds are refused", async () => {
    for (const source of ["model.onnx", null, undefined, 7, {}, [1]]) {
      assert.equal((await refusal(onnx.load(source))).code, "InvalidArgument");
    }
    assert.match((await refusal(onnx.load(new Response("", { status: 404 })))).message, /404/);
  });

  const externalTensor = (entries, shape = [2]) => [
    ...shape.flatMap((size) => field(1, size)),
    ...field(2, 1),
    ...field(8, "w"),
    ...Object.entries(entries).flatMap(([key, value]) =>
      field(13, [...field(1, key), ...field(2, value)]),
    ),
    ...field(14, 1),
  ];
  const externalModel = (entries, shape) =>
    model({
      outputs: [valueInfo("y", null)],
      nodes: [node("Identity", ["w"], ["y"])],
      initializers: [externalTensor(entries, shape)],
    });
  const data = new Uint8Array(new Float32Array([9, 1, 2]).buffer);
  const good = { location: "weights.bin", offset: "4", length: "8" };

  test("of tensors in other files are given by name, by a function, or lie beside the model", async () => {
    const bytes = externalModel(good);
    const files = [{ "weights.bin": data }, { "weights.bin": new Blob([data]) }, () => data];
    for (const externalData of files) {
      assert.deepEqual(lists((await onnx.load(bytes, { externalData })).call()), [1, 2]);
    }
    const folder = mkdtempSync(join(tmpdir(), "edgegrad-onnx-"));
    try {
      writeFileSync(join(folder, "model.onnx"), bytes);
      writeFileSync(join(folder, "weights.bin"), data);
      const module = await onnx.load(pathToFileURL(join(folder, "model.onnx")));
      assert.deepEqual(lists(module.call()), [1, 2]);
    } finally {
      rmSync(folder, { recursive: true });
    }
    assert.match((await refusal(onnx.load(bytes))).message, /externalData: \{ "weights\.bin"/);
  });

  test("of tensors in other files cannot leave the folder or the file", async () => {
    const bad = [
      { ...good, location: "../weights.bin" },
      { ...good, location: "/etc/passwd" },
      { ...good, location: "a/..\\b" },
      { ...good, location: "https://example.org/w" },
      { ...good, location: "" },
      { ...good, offset: "8" },
      { ...good, offset: "-4" },
      { ...good, length: "1e3" },
      { ...good, length: "99999999999999999999" },
    ];
    for (const entries of bad) {
      const error = await refusal(onnx.load(externalModel(entries), { externalData: () => data }));
      assert.equal(error.code, "InvalidArgument", JSON.stringify(entries));
    }
  });
});

describe("inputs", () => {
  test("of other shapes, dtypes or names are refused", async () => {
    const module = await onnx.load(kLinear);
    const codeOf = (call) => {
      try {
        call();
      } catch (error) {
        return error.code;
      }
      return "none";
    };
    assert.equal(
      codeOf(() => module.call(eg.zeros([2, 3]))),
      "ShapeMismatch",
    );
    assert.equal(
      codeOf(() => module.call(eg.zeros([2]))),
      "ShapeMismatch",
    );
    assert.equal(
      codeOf(() => module.call(eg.zeros([1, 2], { dtype: "int64" }))),
      "DtypeMismatch",
    );
    for (const call of [
      () => module.call(),
      () => module.call(x, x),
      () => module.call([1, 2]),
      () => module.run({ z: x }),
      () => module.run(null),
      () => module.run({}),
      () => new onnx.OnnxModule().call(x),
    ]) {
      assert.equal(codeOf(call), "InvalidArgument", String(call));
    }
  });
});

describe("options", () => {
  test("that are unknown or of other kinds are refused", async () => {
    const bad = [
      7,
      null,
      "x",
      { trainabel: true },
      { trainable: 1 },
      { outputs: [] },
      { outputs: "y" },
      { outputs: [1] },
    ];
    for (const options of bad) {
      assert.equal(
        (await refusal(onnx.load(kLinear, options))).code,
        "InvalidArgument",
        String(options),
      );
    }
  });
});

describe("modes", () => {
  test("a module is captured, run in autocast and called as a function of its parameters", async () => {
    const module = await onnx.load(kLinear);
    const captured = eg.capture((input) => eg.noGrad(() => module.call(input)), x);
    assert.deepEqual(lists(captured(x.mul(2))), [[11], [13]]);
    assert.equal(eg.autocast(() => module.call(x), { dtype: "bfloat16" }).dtype, "bfloat16");
    const zeros = Object.fromEntries(
      module.namedParameters().map(([name, one]) => [name, eg.zerosLike(one)]),
    );
    assert.deepEqual(lists(eg.func.functionalCall(module, zeros, [x])), [[0], [0]]);
  });
});

test("metadata are those of the user, also after saving again", async () => {
  const inputs = [eg.zeros([2, 3])];
  const norm = new eg.nn.BatchNorm1d(3);
  const saved = await onnx.load(await onnx.save(norm, { inputs, metadata: { author: "me" } }));
  assert.deepEqual(saved.metadata, { author: "me" });
  const again = await onnx.load(await onnx.save(saved));
  assert.deepEqual(again.metadata, { author: "me" });
  assert.deepEqual(
    again.namedBuffers().map(([name]) => name),
    ["running_mean", "running_var"],
  );
});

test("messages say what came", async () => {
  const path = await refusal(onnx.load("model.onnx"));
  assert.match(path.message, /^\[onnx\.load\] expected .* or URL, got "model\.onnx"\./);
  const module = await onnx.load(kLinear);
  const many = await refusal(Promise.resolve().then(() => module.call(x, x)));
  assert.match(many.message, /expected at most 1 of the inputs "x", got 2\./);
  const inputs = [x];
  const opset = await refusal(onnx.save(module, { inputs, opset: 12 }));
  assert.match(opset.message, /^\[onnx\.save\] opset: expected .* 17 to 22, got 12\./);
  const none = await refusal(onnx.save(new eg.nn.Linear(1, 1), { inputs: x }));
  assert.match(none.message, /got an object of class Tensor\.$/);
});
