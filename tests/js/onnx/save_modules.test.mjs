// save() of modules: results in onnxruntime, and values and gradients of what load() makes of the file.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { load, save } from "edgegrad/onnx";
import { eg } from "../support/engine.mjs";
import { assertSaves, tensorsIn } from "../support/onnx_runtime.mjs";

const { nn } = eg;

class Residual extends nn.Module {
  constructor(channels) {
    super();
    this.conv = new nn.Conv2d(channels, channels, 3, { padding: 1, bias: false });
    this.norm = new nn.BatchNorm2d(channels);
  }
  forward(input) {
    return this.norm.call(this.conv.call(input)).add(input).relu();
  }
}

class UNet extends nn.Module {
  constructor() {
    super();
    this.down = new nn.Conv2d(2, 4, 3, { padding: 1 });
    this.middle = new nn.Conv2d(4, 8, 3, { padding: 1 });
    this.up = new nn.ConvTranspose2d(8, 4, 2, { stride: 2 });
    this.last = new nn.Conv2d(8, 1, 1);
  }
  forward(input) {
    const wide = this.down.call(input).relu();
    const deep = this.middle.call(nn.functional.maxPool2d(wide, 2)).relu();
    return this.last.call(eg.cat([this.up.call(deep), wide], 1)).sigmoid();
  }
}

const tokens = (shape) => eg.randint(10, shape);
const time = { dynamicAxes: { input: { 0: "batch", 1: "time" } } };
const batch = { dynamicAxes: { input: { 0: "batch" } } };

// The module, its inputs, options, and other inputs.
// Classes of users are no layers that the writer knows, so the ops in them are written.
class ReversedGru extends nn.GRU {
  forward(x) {
    return super.forward(x.flip(0))[0];
  }
}

class ReversedRnn extends nn.RNN {
  forward(x) {
    return super.forward(x.flip(0))[0];
  }
}

const kModules = {
  MLP: [
    new nn.Sequential(new nn.Linear(4, 8), new nn.GELU(), new nn.Linear(8, 3)),
    [[2, 4]],
    batch,
    [[5, 4]],
  ],
  CNN: [
    new nn.Sequential(
      new nn.Conv2d(1, 4, 3),
      new Residual(4),
      new nn.AdaptiveAvgPool2d(1),
      new nn.Flatten(),
      new nn.Linear(4, 2),
    ),
    [[2, 1, 8, 8]],
    { dynamicAxes: { input: { 0: "batch", 2: "height", 3: "width" } } },
    [[3, 1, 10, 12]],
  ],
  UNet: [
    new UNet(),
    [[1, 2, 8, 8]],
    { dynamicAxes: { input: { 0: "batch", 2: "h", 3: "w" } } },
    [[2, 2, 12, 16]],
  ],
  LSTM: [
    new nn.LSTM(3, 4, 2, { batchFirst: true, bidirectional: true }),
    [[2, 5, 3]],
    time,
    [[3, 7, 3]],
  ],
  "LSTM with a projection": [new nn.LSTM(3, 4, 1, { projSize: 2 }), [[5, 2, 3]], {}],
  "LSTM without biases": [new nn.LSTM(3, 4, 1, { bias: false }), [[5, 2, 3]], {}],
  GRU: [
    new nn.GRU(3, 4, 2, { batchFirst: true, bidirectional: true }),
    [[2, 5, 3]],
    time,
    [[3, 7, 3]],
  ],
  "GRU of one sequence, with a state": [
    new nn.GRU(3, 4),
    [
      [5, 3],
      [1, 4],
    ],
    {},
  ],
  RNN: [new nn.RNN(3, 4, 2, { nonlinearity: "relu" }), [[5, 2, 3]], time, [[7, 3, 3]]],
  "a GRU with a forward of its own": [new ReversedGru(3, 4), [[5, 2, 3]], time, [[7, 3, 3]]],
  "an RNN with a forward of its own": [new ReversedRnn(3, 4), [[5, 2, 3]], time, [[7, 3, 3]]],
  LSTMCell: [new nn.LSTMCell(3, 4), [[2, 3]], batch, [[5, 3]]],
  TransformerEncoderLayer: [
    new nn.TransformerEncoderLayer(8, 2, { dimFeedforward: 16, batchFirst: true }),
    [[2, 4, 8]],
    time,
    [[3, 6, 8]],
  ],
  MultiheadAttention: [
    new nn.MultiheadAttention(8, 2, { batchFirst: true }),
    [
      [2, 4, 8],
      [2, 4, 8],
      [2, 4, 8],
    ],
    {
      inputNames: ["q", "k", "v"],
      dynamicAxes: { q: { 0: "b", 1: "t" }, k: { 0: "b", 1: "t" }, v: { 0: "b", 1: "t" } },
    },
    [
      [3, 6, 8],
      [3, 6, 8],
      [3, 6, 8],
    ],
  ],
  Transformer: [
    new nn.Transformer(8, 2, 1, 1, 16, { batchFirst: true }),
    [
      [2, 4, 8],
      [2, 5, 8],
    ],
    {},
  ],
  volumes: [
    new nn.Sequential(new nn.Conv3d(1, 2, 2), new nn.MaxPool3d(2), new nn.BatchNorm3d(2)),
    [[2, 1, 5, 5, 5]],
    batch,
    [[3, 1, 5, 5, 5]],
  ],
  "norms and shuffles": [
    new nn.Sequential(
      new nn.GroupNorm(2, 4),
      new nn.InstanceNorm2d(4, { affine: true }),
      new nn.PixelShuffle(2),
      new nn.PixelUnshuffle(2),
      new nn.SiLU(),
    ),
    [[2, 4, 4, 4]],
    batch,
    [[3, 4, 4, 4]],
  ],
};

describe("modules", () => {
  for (const [name, [module, shapes, options, others]] of Object.entries(kModules)) {
    const draw = (list) => list.map((shape) => eg.randn(shape));
    test(name, async () => {
      const inputs = draw(shapes);
      module.eval();
      const bytes = await assertSaves(module, inputs, options, ...(others ? [draw(others)] : []));
      await assertRoundTrip(module, bytes, inputs);
    });
  }

  for (const opset of [17, 18, 19, 21, 22]) {
    test(`opset ${opset}`, async () => {
      for (const name of [
        "CNN",
        "UNet",
        "LSTM",
        "GRU",
        "TransformerEncoderLayer",
        "norms and shuffles",
      ]) {
        const [module, shapes, options] = kModules[name];
        const inputs = shapes.map((shape) => eg.randn(shape));
        await assertRoundTrip(
          module,
          await assertSaves(module.eval(), inputs, { ...options, opset }),
          inputs,
        );
      }
    });
  }

  test("embeddings", async () => {
    const module = new nn.Sequential(
      new nn.Embedding(10, 4),
      new nn.LayerNorm(4),
      new nn.RMSNorm(4),
    );
    const bytes = await assertSaves(module, [tokens([2, 3])], time, [tokens([1, 6])]);
    await assertRoundTrip(module, bytes, [tokens([2, 3])]);
  });
});

/** Checks values, names of parameters and gradients of the loaded model. */
async function assertRoundTrip(module, bytes, inputs) {
  const loaded = await load(bytes);
  const [found, expected] = [loaded, module].map((model) => gradientsOf(model, inputs));
  assert.deepEqual([...found.keys()].sort(), [...expected.keys()].sort());
  for (const [name, gradient] of expected) {
    eg.testing.assertClose(found.get(name), gradient, { rtol: 1e-4, atol: 1e-5 });
  }
}

/** Returns the gradients of a sum over all results, by parameter and by input. */
function gradientsOf(model, inputs) {
  const given = inputs.map((input) =>
    input.isFloatingPoint() ? input.clone().requiresGrad_() : input,
  );
  const results = tensorsIn(model.call(...given)).filter((one) => one.requiresGrad);
  model.zeroGrad();
  const loss = results.map((one) => one.mul(one.cos()).sum()).reduce((a, b) => a.add(b));
  loss.backward();
  const named = [...model.namedParameters(), ...given.map((one, i) => [`input ${i}`, one])];
  return new Map(
    named.filter(([, one]) => one.grad !== null).map(([name, { grad }]) => [name, grad]),
  );
}

test("buffers stay buffers, and training mode is restored", async () => {
  const model = new nn.Sequential(new nn.Linear(2, 3), new nn.BatchNorm1d(3));
  const loaded = await load(await save(model, { inputs: [eg.randn([4, 2])] }));
  assert.equal(model.training, true);
  assert.deepEqual(names(loaded.namedParameters()), names(model.namedParameters()));
  assert.deepEqual(
    names(loaded.namedBuffers()).filter((name) => name.includes("running")),
    ["1.running_mean", "1.running_var"],
  );

  class Scaled extends nn.Module {
    constructor() {
      super();
      this.registerBuffer("scale", eg.tensor([2, 3]));
    }
    forward(input) {
      return input.mul(this.scale);
    }
  }
  const scaled = await load(await save(new Scaled(), { inputs: [eg.ones([2])] }));
  assert.deepEqual(names(scaled.namedBuffers()), ["scale"]);
  assert.deepEqual(scaled.namedParameters(), []);
});

function names(entries) {
  return entries.map(([name]) => name);
}

test("training: true writes the module as it trains", async () => {
  const norm = new nn.BatchNorm1d(3, { trackRunningStats: false });
  norm.train();
  const program = (input) => norm.call(input);
  await assertSaves(program, [eg.randn([4, 3])], batch, [eg.randn([6, 3])]);
  const model = new nn.Sequential(new nn.Dropout(0.5));
  const text = async (training) =>
    new TextDecoder().decode(await save(model, { inputs: [eg.ones([4])], training }));
  assert.match(await text(true), /Dropout/);
  assert.doesNotMatch(await text(false), /Dropout/);
});

describe("a loaded model", () => {
  test("is saved with the parameters that it has now, in every dtype of 16 bits too", async () => {
    for (const dtype of ["float32", "float16", "bfloat16"]) {
      const values = eg
        .tensor([
          [1, -0.5],
          [65504, 2 ** -24],
        ])
        .to(dtype);
      const made = new nn.Linear(2, 2, { dtype, bias: false });
      made.weight = new nn.Parameter(values);
      const model = await load(await save(made, { inputs: [eg.ones([1, 2], { dtype })] }));
      assert.deepEqual(model.getParameter("weight").arraySync(), values.arraySync());
      eg.noGrad(() => model.getParameter("weight").mul_(0.5));
      const again = await load(await save(model));
      assert.deepEqual(
        again.getParameter("weight").arraySync(),
        model.getParameter("weight").arraySync(),
      );
    }
  });

  test("is traced with inputs, for another version", async () => {
    const first = await save(new nn.Sequential(new nn.Linear(3, 4), new nn.GELU()), {
      inputs: [eg.randn([2, 3])],
    });
    const model = await load(first);
    const second = await load(await assertSaves(model, [eg.randn([2, 3])], { opset: 17 }));
    assert.deepEqual([model.opset, second.opset], [20, 17]);
    assert.deepEqual(names(second.namedParameters()), ["0.weight", "0.bias"]);
  });
});
