// Modules, layers and losses.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertClose, assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;

class Net extends nn.Module {
  scale = new nn.Parameter(eg.ones([1]));
  seen = new nn.Buffer(eg.zeros([2]));
  first = new nn.Linear(2, 3);
  layers = new nn.ModuleList([new nn.Linear(3, 3), new nn.Linear(3, 1, { bias: false })]);
  note = "not state";

  forward(x) {
    let value = this.first.call(x).mul(this.scale);
    for (const layer of this.layers) value = layer.call(value.relu());
    return value;
  }
}

const kKeys = [
  "scale",
  "seen",
  "first.weight",
  "first.bias",
  "layers.0.weight",
  "layers.0.bias",
  "layers.1.weight",
];

describe("Module", () => {
  test("finds parameters, buffers and modules among its properties", () => {
    const net = new Net();
    const parameters = net.namedParameters().map(([name]) => name);
    assert.deepEqual(
      parameters,
      kKeys.filter((key) => key !== "seen"),
    );
    assert.equal(net.parameters().length, 6);
    assert.deepEqual(
      net.namedBuffers().map(([name]) => name),
      ["seen"],
    );
    assert.deepEqual(
      net.namedChildren().map(([name]) => name),
      ["first", "layers"],
    );
    assert.deepEqual(
      net.namedModules().map(([name]) => name),
      ["", "first", "layers", "layers.0", "layers.1"],
    );
    assert.deepEqual(Object.keys(net.stateDict()), kKeys);
  });

  test("counts a shared parameter once", () => {
    const net = new Net();
    net.layers.at(0).weight2 = net.first.weight;
    assert.equal(net.parameters().length, 6);
    assert.equal(Object.keys(net.stateDict()).length, kKeys.length + 1);
  });

  test("runs, trains, and forgets gradients", () => {
    const net = new Net();
    net
      .call(eg.ones([4, 2]))
      .sum()
      .backward();
    assert.ok(net.parameters().every((parameter) => parameter.grad !== null));
    net.zeroGrad();
    assert.ok(net.parameters().every((parameter) => parameter.grad === null));
    net.requiresGrad_(false);
    assert.equal(net.call(eg.ones([1, 2])).requiresGrad, false);
  });

  test("switches modes in all parts", () => {
    const net = new Net();
    assert.ok(
      net
        .eval()
        .modules()
        .every((module) => !module.training),
    );
    assert.ok(
      net
        .train()
        .modules()
        .every((module) => module.training),
    );
    const visited = [];
    net.apply((module) => visited.push(module.constructor.name));
    assert.deepEqual(visited, ["Linear", "Linear", "Linear", "ModuleList", "Net"]);
  });

  test("refuses to run without forward()", () => {
    class Empty extends nn.Module {}
    assertThrows(() => new Empty().call(), "InvalidArgument", /\[Empty\].*forward/);
  });
});

describe("stateDict", () => {
  test("shares data, and loads into another module", () => {
    const [a, b] = [new Net(), new Net()];
    const state = a.stateDict();
    assert.equal(state["first.weight"].requiresGrad, false);
    assert.deepEqual(b.loadStateDict(state), { missingKeys: [], unexpectedKeys: [] });
    const x = eg.randn([3, 2]);
    assertTensor(b.call(x), a.call(x).dataSync());
    state.scale.fill_(7);
    assert.equal(a.scale.item(), 7);
    assert.equal(b.scale.item(), 1);
  });

  test("names the keys and shapes that do not fit, and changes nothing", () => {
    const net = new Net();
    const { scale, ...rest } = net.stateDict();
    assertThrows(
      () => net.loadStateDict({ ...rest, extra: scale }),
      "InvalidArgument",
      /does not fit Net:\n\tMissing keys.*"scale".*\n\tUnexpected keys.*"extra"/s,
    );
    const wrong = { ...net.stateDict(), scale: eg.zeros([1]), "first.weight": eg.zeros([2, 2]) };
    assertThrows(
      () => net.loadStateDict(wrong),
      "ShapeMismatch",
      /first\.weight: the state dict has the shape/,
    );
    assert.equal(net.scale.item(), 1);
    const result = net.loadStateDict({ extra: scale }, { strict: false });
    assert.equal(result.missingKeys.length, kKeys.length);
    assert.deepEqual(result.unexpectedKeys, ["extra"]);
  });
});

describe("layers", () => {
  test("Linear computes x W^T + b", () => {
    const layer = new nn.Linear(2, 1);
    layer.loadStateDict({ weight: eg.tensor([[2, 3]]), bias: eg.tensor([1]) });
    assertTensor(layer.call(eg.tensor([[1, 1]])), [6], { shape: [1, 1] });
    assert.equal(new nn.Linear(2, 1, false).bias, null);
    assert.equal(new nn.Linear(2, 1, { bias: false, dtype: "float64" }).weight.dtype, "float64");
  });

  test("LayerNorm normalizes and scales", () => {
    const layer = new nn.LayerNorm(4);
    assertTensor(layer.call(eg.tensor([[1, 2, 3, 4]])), [-1.34164, -0.44721, 0.44721, 1.34164], {
      atol: 1e-4,
    });
    assert.deepEqual(Object.keys(layer.stateDict()), ["weight", "bias"]);
    assert.deepEqual(Object.keys(new nn.LayerNorm([2, 2], { bias: false }).stateDict()), [
      "weight",
    ]);
    assert.deepEqual(new nn.LayerNorm(2, 1e-6, false).parameters(), []);
  });

  test("Embedding looks rows up and keeps its padding row at zero", () => {
    const layer = new nn.Embedding(4, 2, { paddingIdx: -1 });
    assert.equal(layer.paddingIdx, 3);
    const y = layer.call(eg.tensor([3n, 0n]));
    assert.deepEqual(y.shape, [2, 2]);
    assert.deepEqual(y.at(0).arraySync(), [0, 0]);
    y.sum().backward();
    assertTensor(layer.weight.grad, [1, 1, 0, 0, 0, 0, 0, 0]);
    assertThrows(() => new nn.Embedding(4, 2, 4), "IndexOutOfRange");
  });

  test("Dropout scales what it leaves, and rests in evaluation", () => {
    eg.manualSeed(0);
    const layer = new nn.Dropout(0.25);
    const y = layer.call(eg.ones([4000]));
    const values = new Set(y.dataSync());
    assert.equal(values.size, 2);
    assertClose([...values].sort(), [0, 4 / 3]);
    const mean = y.mean().item();
    assert.ok(Math.abs(mean - 1) < 0.05, `mean ${mean}`);
    assertTensor(layer.eval().call(eg.ones([3])), [1, 1, 1]);
    assertThrows(() => new nn.Dropout(1.5), "InvalidArgument", /p must be .*got 1.5/);
  });

  test("activations and Flatten", () => {
    const x = eg.tensor([-1, 2]);
    assertTensor(new nn.ReLU().call(x), [0, 2]);
    assertTensor(new nn.Tanh().call(x), [Math.tanh(-1), Math.tanh(2)]);
    assertTensor(new nn.Sigmoid().call(x), [0.26894143, 0.8807971]);
    assertTensor(new nn.GELU().call(x), [-0.15865526, 1.9544997]);
    assertTensor(new nn.GELU("tanh").call(x), [-0.158808, 1.954598], { atol: 1e-5 });
    assert.deepEqual(new nn.Flatten().call(eg.zeros([2, 3, 4])).shape, [2, 12]);
    assert.deepEqual(new nn.Flatten(0, 1).call(eg.zeros([2, 3, 4])).shape, [6, 4]);
  });

  test("Sequential and ModuleList hold modules by position", () => {
    const model = new nn.Sequential(new nn.Linear(2, 2), new nn.ReLU(), new nn.Linear(2, 1));
    assert.equal(model.length, 3);
    assert.deepEqual(Object.keys(model.stateDict()), ["0.weight", "0.bias", "2.weight", "2.bias"]);
    const list = new nn.ModuleList([new nn.ReLU()]).append(new nn.Tanh());
    assert.equal(list.length, 2);
    assert.ok(list.at(-1) instanceof nn.Tanh);
    assertThrows(() => new nn.Sequential(3), "InvalidArgument", /module/);
  });
});

describe("losses", () => {
  const input = () =>
    eg.tensor([
      [1, 2, 3],
      [1, 1, 1],
    ]);
  const target = () => eg.tensor([2n, 0n]);

  test("are combined as requested", () => {
    const each = [0.4076059, 1.0986123];
    assertTensor(new nn.CrossEntropyLoss({ reduction: "none" }).call(input(), target()), each);
    assertTensor(new nn.CrossEntropyLoss().call(input(), target()), [(each[0] + each[1]) / 2]);
    assertTensor(new nn.CrossEntropyLoss({ reduction: "sum" }).call(input(), target()), [
      each[0] + each[1],
    ]);
    assertTensor(new nn.NLLLoss().call(input().logSoftmax(1), target()), [(each[0] + each[1]) / 2]);
    assertTensor(new nn.MSELoss().call(eg.tensor([1, 3]), eg.tensor([0, 1])), [2.5]);
    assertTensor(new nn.L1Loss().call(eg.tensor([1, 3]), eg.tensor([0, 1])), [1.5]);
    assertTensor(new nn.BCEWithLogitsLoss().call(eg.tensor([0]), eg.tensor([1])), [Math.LN2]);
  });
});

describe("nn.init", () => {
  test("fills, and knows the fans", () => {
    const weight = eg.empty([3, 5]);
    assertTensor(nn.init.ones_(weight), new Array(15).fill(1));
    assertTensor(nn.init.constant_(weight, 2), new Array(15).fill(2));
    nn.init.kaimingUniform_(weight, { nonlinearity: "relu" });
    const bound = Math.sqrt(6 / 5);
    assert.ok(weight.dataSync().every((value) => Math.abs(value) <= bound));
    nn.init.xavierNormal_(weight);
    assert.equal(weight.requiresGrad, false);
    assertThrows(
      () => nn.init.kaimingNormal_(eg.empty([3])),
      "InvalidArgument",
      /2 dimensions or more, got the shape \[3\]/,
    );
    assert.equal(nn.init.calculateGain("tanh"), 5 / 3);
  });
});

test("toEmpty() keeps shapes and dtypes, and the parameters their identity", () => {
  const layer = new nn.BatchNorm1d(3).double();
  const { weight } = layer;
  weight.grad = eg.ones([3], { dtype: "float64" });
  assert.equal(layer.toEmpty({ device: "cpu" }), layer);
  assert.equal(layer.weight, weight);
  assert.deepEqual([weight.dtype, weight.shape, weight.requiresGrad], ["float64", [3], true]);
  assert.deepEqual([weight.grad.shape, layer.num_batches_tracked.dtype], [[3], "int64"]);
  layer.resetParameters();
  assertTensor(weight, [1, 1, 1]);
  assertThrows(() => layer.toEmpty(), "InvalidArgument", /device/);
});
