// Containers of modules and parameters, parts by dotted names, deep copies.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;
const keysOf = (module) => Object.keys(module.stateDict());

describe("Sequential", () => {
  test("takes modules by name, in their order", () => {
    const model = new nn.Sequential({ first: new nn.Linear(2, 3), act: new nn.ReLU() });
    assert.deepEqual(keysOf(model), ["first.weight", "first.bias"]);
    assert.equal(
      String(model),
      "Sequential(\n  (first): Linear(in_features=2, out_features=3, bias=True)\n  (act): ReLU()\n)",
    );
    assert.deepEqual(model.call(eg.ones([1, 2])).shape, [1, 3]);
    assertThrows(() => new nn.Sequential({ "a.b": new nn.ReLU() }), "InvalidArgument", /"\."/);
    assertThrows(
      () => new nn.Sequential({ call: new nn.ReLU() }),
      "InvalidArgument",
      /"call" is already a property/,
    );
    assertThrows(() => new nn.Sequential({ act: 1 }), "InvalidArgument", /expected a module/);
  });

  test("append, at and slice", () => {
    const [a, b, c] = [new nn.Linear(2, 2), new nn.ReLU(), new nn.Linear(2, 1)];
    const model = new nn.Sequential(a).append(b).append(c);
    assert.deepEqual([model.length, model.at(-1), model.at(7)], [3, c, undefined]);
    const rest = model.slice(1);
    assert.deepEqual([...rest], [b, c]);
    assert.deepEqual(keysOf(rest), ["2.weight", "2.bias"]);
    assert.deepEqual([...model.slice(0, -1)], [a, b]);
    assertThrows(() => model.at(0.5), "InvalidArgument", /position/);
    assertThrows(() => model.append({}), "InvalidArgument", /expected a module/);
  });

  test("refuses names that JavaScript would reorder", () => {
    const model = new nn.Sequential({ act: new nn.ReLU() });
    assertThrows(() => model.append(new nn.Tanh()), "InvalidArgument", /would not come last/);
    assert.equal(model.length, 1);
  });
});

test("ModuleDict holds modules by name", () => {
  const dict = new nn.ModuleDict({ a: new nn.ReLU(), b: new nn.Tanh() });
  assert.equal(String(dict), "ModuleDict(\n  (a): ReLU()\n  (b): Tanh()\n)");
  const [line, other] = [new nn.Linear(1, 1), new nn.Linear(1, 1)];
  dict.update([["c", line]]).set("a", other);
  assert.deepEqual([...dict], ["a", "b", "c"]);
  assert.deepEqual([dict.get("a"), dict.length, dict.has("x")], [other, 3, false]);
  assert.deepEqual(keysOf(dict), ["a.weight", "a.bias", "c.weight", "c.bias"]);
  assert.equal(dict.pop("a"), other);
  assert.deepEqual(dict.keys(), ["b", "c"]);
  assertThrows(() => dict.get("a"), "InvalidArgument", /no module "a"/);
  assertThrows(() => dict.get(Object.create(null)), "InvalidArgument", /no module an object/);
  assertThrows(() => dict.set("keys", line), "InvalidArgument", /"keys" is already a property/);
  assertThrows(() => dict.set("1", line), "InvalidArgument", /would not come last/);
  dict.clear();
  assert.deepEqual(dict.values(), []);
});

describe("parameters", () => {
  test("ParameterList", () => {
    const own = new nn.Parameter(eg.ones([2]));
    const list = new nn.ParameterList([own]);
    assert.equal(
      String(list),
      "ParameterList(  (0): Parameter containing: [torch.float32 of size 2])",
    );
    list.append(eg.ones([2, 3]));
    assert.deepEqual([list.at(0), list.at(-1).requiresGrad, list.length], [own, true, 2]);
    assert.deepEqual(keysOf(list), ["0", "1"]);
    assert.equal(
      String(list),
      "ParameterList(\n    (0): Parameter containing: [torch.float32 of size 2]" +
        "\n    (1): Parameter containing: [torch.float32 of size 2x3]\n)",
    );
    assertThrows(() => list.append(1), "InvalidArgument", /a tensor/);
  });

  test("ParameterDict", () => {
    const dict = new nn.ParameterDict({ left: eg.ones([2]) });
    assert.equal(
      String(dict),
      "ParameterDict(  (left): Parameter containing: [torch.FloatTensor of size 2])",
    );
    dict.set("right", eg.zeros([1]));
    assert.deepEqual(keysOf(dict), ["left", "right"]);
    assert.equal(dict.parameters().length, 2);
    assert.deepEqual(dict.pop("left").shape, [2]);
    assert.deepEqual([dict.has("left"), dict.keys()], [false, ["right"]]);
    assertThrows(() => dict.get("left"), "InvalidArgument", /no parameter/);
  });
});

test("parts by dotted names", () => {
  const model = new nn.Sequential({ block: new nn.Sequential(new nn.BatchNorm1d(2)) });
  const norm = model.at(0).at(0);
  assert.equal(model.getSubmodule(""), model);
  assert.equal(model.getSubmodule("block.0"), norm);
  assert.equal(model.getParameter("block.0.weight"), norm.weight);
  assert.equal(model.getBuffer("block.0.running_mean"), norm.running_mean);
  for (const [get, text] of [
    [() => model.getSubmodule("block.1"), /Sequential has no property "1"/],
    [() => model.getSubmodule("block.0.weight"), /"weight" is not an nn.Module/],
    [() => model.getParameter("block.0.running_mean"), /is not an nn.Parameter/],
    [() => model.getBuffer("block.0.weight"), /"weight" is not a buffer/],
    [() => model.getParameter(1), /target: expected a string/],
  ]) {
    assertThrows(get, "InvalidArgument", text);
  }
});

describe("clone()", () => {
  test("copies everything, and shares in the copy what is shared in the module", () => {
    class Tied extends nn.Module {
      encoder = new nn.Linear(2, 2);
      decoder = new nn.Linear(2, 2);
      settings = { sizes: [1, 2], table: new Map([["x", eg.ones([1])]]) };

      constructor() {
        super();
        this.decoder.weight = this.encoder.weight;
        this.norm = new nn.BatchNorm1d(2);
      }

      forward(x) {
        return this.norm.call(this.decoder.call(this.encoder.call(x)));
      }
    }
    const model = new Tied();
    model.registerForwardHook((_, __, output) => output.mul(2));
    model.norm.bias.requiresGrad = false;
    model.eval().encoder.bias.grad = eg.ones([2]);
    const copy = model.clone();
    assert.ok(copy instanceof Tied && copy !== model);
    assert.equal(copy.decoder.weight, copy.encoder.weight);
    assert.notEqual(copy.encoder.weight, model.encoder.weight);
    assert.ok(copy.encoder.weight instanceof nn.Parameter);
    assert.deepEqual(keysOf(copy), keysOf(model));
    const flags = [copy.training, copy.norm.bias.requiresGrad, copy.encoder.bias.requiresGrad];
    assert.deepEqual(flags, [false, false, true]);
    assertTensor(copy.encoder.bias.grad, [1, 1]);
    const x = eg.randn([3, 2]);
    assertTensor(copy.call(x), model.call(x).dataSync());
    copy.settings.sizes.push(3);
    eg.noGrad(() => copy.encoder.weight.fill_(7));
    eg.noGrad(() => copy.settings.table.get("x").fill_(7));
    assert.deepEqual(model.settings.sizes, [1, 2]);
    assertTensor(model.settings.table.get("x"), [1]);
    assert.notEqual(model.encoder.weight.at(0, 0).item(), 7);
    assert.equal(copy.norm.running_mean.persistent, true);
  });

  test("copies of layers with many kinds of state compute the same as the layers", () => {
    const x = eg.randn([4, 3, 8]);
    for (const layer of [
      new nn.LSTM(8, 5),
      new nn.TransformerEncoderLayer(8, 2, 16, 0),
      new nn.Conv1d(3, 2, 3, { paddingMode: "circular", padding: 1 }),
    ]) {
      const [a, b] = [layer, layer.clone()].map((one) => [one.call(x)].flat(Infinity)[0]);
      assertTensor(a, b.dataSync());
    }
  });

  test("refuses tensors with a gradient function", () => {
    const model = new nn.Linear(1, 1);
    model.cache = model.weight.mul(2);
    assertThrows(() => model.clone(), "InvalidArgument", /detach\(\)/);
  });
});

test("Sequential takes modules at a position, and those of another", () => {
  const { Sequential, Linear, ReLU, Tanh } = eg.nn;
  const [first, last, relu, tanh] = [new Linear(2, 2), new Linear(2, 2), new ReLU(), new Tanh()];
  const model = new Sequential(first, last);
  assert.equal(model.insert(1, relu), model);
  model.insert(-3, tanh).insert(4, relu);
  assert.deepEqual([...model], [tanh, first, relu, last, relu]);
  assert.deepEqual(Object.keys(model.stateDict()).slice(0, 2), ["1.weight", "1.bias"]);
  assert.deepEqual(
    [...new Sequential(relu).extend(new Sequential(first, tanh))],
    [relu, first, tanh],
  );
  assert.equal(model.extend(model).length, 10);
  assertThrows(() => model.insert(11, relu), "IndexOutOfRange", /-10 to 10/);
  assertThrows(() => model.insert(0, {}), "InvalidArgument", /expected a module/);
  assertThrows(() => new Sequential({ a: relu }).insert(0, tanh), "InvalidArgument", /names/);
});
