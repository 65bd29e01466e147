// Lazy modules: layers whose parameters get their shapes from the first input.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;

// For every lazy layer: its arguments, those that its usual class has before them, and an input.
const kLayers = [
  ["Linear", [3], 4, [2, 5, 4]],
  ["Conv1d", [6, 2, { groups: 2 }], 4, [2, 4, 5]],
  ["Conv2d", [3, 2], 4, [4, 5, 5]],
  ["Conv3d", [3, 2, { bias: false }], 2, [1, 2, 3, 3, 3]],
  ["ConvTranspose1d", [6, 2, { groups: 2 }], 4, [4, 5]],
  ["ConvTranspose2d", [3, 2], 4, [2, 4, 5, 5]],
  ["ConvTranspose3d", [3, 2], 2, [1, 2, 3, 3, 3]],
  ["BatchNorm1d", [], 4, [3, 4]],
  ["BatchNorm2d", [{ affine: false }], 4, [3, 4, 2, 2]],
  ["BatchNorm3d", [{ trackRunningStats: false }], 4, [3, 4, 2, 2, 2]],
  ["InstanceNorm1d", [{ affine: true, trackRunningStats: true }], 4, [4, 6]],
  ["InstanceNorm2d", [], 4, [3, 4, 2, 2]],
  ["InstanceNorm3d", [{ affine: true }], 4, [3, 4, 2, 2, 2]],
];

describe("lazy layers", () => {
  test("become their usual classes at the first call, with the same random numbers", () => {
    for (const [name, given, size, shape] of kLayers) {
      const [Lazy, Usual] = [nn[`Lazy${name}`], nn[name]];
      eg.manualSeed(1);
      const usual = new Usual(size, ...given);
      const input = eg.randn(shape);
      const lazy = new Lazy(...given);
      assert.equal(lazy.constructor.name, `Lazy${name}`);
      assert.ok(lazy instanceof Usual && lazy instanceof Lazy);
      const before = lazy.parameters();
      assert.ok(before.every((one) => one instanceof nn.UninitializedParameter));
      assert.equal(lazy.hasUninitializedParams(), name !== "InstanceNorm2d");
      assert.deepEqual(Object.keys(lazy.stateDict()), Object.keys(usual.stateDict()));
      eg.manualSeed(1);
      const output = lazy.call(input);
      assert.equal(lazy.constructor, Usual);
      assert.ok(!(lazy instanceof Lazy) && !("hasUninitializedParams" in lazy));
      assert.equal(String(lazy), String(usual));
      assert.deepEqual(lazy.parameters(), before);
      assert.ok(before.every((one) => one.constructor === nn.Parameter && one.requiresGrad));
      const state = usual.stateDict();
      if (before.length > 0 && !name.includes("Norm")) {
        for (const [key, value] of Object.entries(lazy.stateDict())) {
          assert.ok(eg.equal(value, state[key]), `${name}.${key}`);
        }
      }
      assert.ok(eg.equal(output, usual.call(input)), name);
      for (const [key, value] of Object.entries(lazy.stateDict())) {
        assert.ok(eg.equal(value, usual.stateDict()[key]), `${name}.${key} after the call`);
      }
    }
  });

  test("are found by optimizers before they have shapes, and train", () => {
    const model = new nn.Sequential(new nn.LazyLinear(5), new nn.ReLU(), new nn.LazyLinear(1));
    const optimizer = new eg.optim.SGD(model.parameters(), 0.1);
    optimizer.zeroGrad();
    assertThrows(() => optimizer.step(), "InvalidArgument", /call its module/);
    eg.scope(() => {
      const loss = model.call(eg.ones([3, 2])).sum();
      loss.backward();
      optimizer.step();
    });
    assert.deepEqual(
      model.parameters().map(({ shape }) => shape),
      [[5, 2], [5], [1, 5], [1]],
    );
    assert.ok(model.parameters().every(({ disposed }) => !disposed));
    assertThrows(
      () => new eg.optim.Adagrad(new nn.LazyLinear(2).parameters()),
      "InvalidArgument",
      /UninitializedParameter.*no shape/,
    );
  });

  test("take device and dtype with them", () => {
    const layer = new nn.LazyBatchNorm1d().double();
    assert.deepEqual([layer.weight.dtype, layer.running_mean.dtype], ["float64", "float64"]);
    layer.requiresGrad_(false);
    layer.call(eg.ones([2, 3], { dtype: "float64" }));
    assert.deepEqual([layer.weight.dtype, layer.running_mean.dtype], ["float64", "float64"]);
    assert.equal(layer.num_batches_tracked.dtype, "int64");
    assert.ok(!layer.weight.requiresGrad);
    const half = new nn.LazyLinear(2, { dtype: "float16" });
    half.call(eg.ones([1, 3], { dtype: "float16" }));
    assert.equal(half.weight.dtype, "float16");
  });

  test("are copied with and without shapes", () => {
    const layer = new nn.LazyLinear(2);
    const copy = layer.clone();
    assert.notEqual(copy.weight, layer.weight);
    copy.call(eg.ones([1, 3]));
    assert.ok(layer.hasUninitializedParams());
    assert.deepEqual(copy.weight.shape, [2, 3]);
    assert.equal(copy.clone().constructor, nn.Linear);
  });

  test("print that they know no size yet", () => {
    assert.equal(
      String(new nn.LazyLinear(2)),
      "LazyLinear(in_features=0, out_features=2, bias=True)",
    );
    assert.equal(String(new nn.LazyLinear(2).weight), "<UninitializedParameter>");
  });

  test("leave everything as it was when an input does not fit", () => {
    const layer = new nn.LazyConv2d(4, 2, { groups: 2 });
    assertThrows(() => layer.call(eg.ones([3])), "ShapeMismatch", /\[LazyConv2d\].*3 or 4 dim/);
    assertThrows(() => layer.call(eg.ones([3, 4, 4])), "InvalidArgument", /groups, got 3 and 2/);
    assertThrows(() => layer.call(3), "InvalidArgument", /\[LazyConv2d\] input/);
    assertThrows(() => new nn.LazyBatchNorm2d().call(eg.ones([2, 3])), "ShapeMismatch", /4 dim/);
    assertThrows(() => new nn.LazyLinear(2).call(eg.ones([])), "ShapeMismatch", /one dimension/);
    assert.ok(layer.weight instanceof nn.UninitializedParameter);
    assert.equal(layer.inChannels, 0);
    assert.throws(() => new nn.LazyLinear(), /\[LazyLinear\] outFeatures/);
  });
});

describe("the state of lazy layers", () => {
  test("is loaded before the first call, from a module that has shapes", () => {
    const usual = new nn.Linear(3, 2);
    for (const assign of [false, true]) {
      const lazy = new nn.LazyLinear(2);
      new nn.Sequential(lazy).loadStateDict(new nn.Sequential(usual).stateDict(), { assign });
      assert.ok(!lazy.hasUninitializedParams() && lazy instanceof nn.LazyLinear);
      assertThrows(() => lazy.call(eg.ones([1, 4])), "ShapeMismatch", /weight.*\[2,4\].*\[2,3\]/);
      const input = eg.randn([2, 3]);
      assert.ok(eg.equal(lazy.call(input), usual.call(input)));
      assert.deepEqual([lazy.constructor, lazy.inFeatures], [nn.Linear, 3]);
    }
  });

  test("cannot be loaded where it has no shapes and the module has, and nothing is changed by a state that does not fit", () => {
    const state = new nn.LazyLinear(2).stateDict();
    assert.ok(state.weight instanceof nn.UninitializedParameter);
    assertThrows(() => new nn.Linear(3, 2).loadStateDict(state), "InvalidArgument", /no shape/);
    const lazy = new nn.LazyLinear(2);
    lazy.loadStateDict(state);
    assert.ok(lazy.hasUninitializedParams());
    const { weight } = new nn.Linear(3, 2);
    assertThrows(() => lazy.loadStateDict({ weight }), "InvalidArgument", /Missing keys: "bias"/);
    assert.ok(lazy.weight instanceof nn.UninitializedParameter);
    lazy.loadStateDict({ weight }, { strict: false });
    assertThrows(() => lazy.call(eg.ones([1, 3])), "InvalidArgument", /all of them, or none/);
  });
});

describe("LazyModuleMixin", () => {
  class Scale extends nn.LazyModuleMixin(nn.Module) {
    factor = new nn.UninitializedParameter();
    offset = new nn.UninitializedBuffer({ persistent: false });
    calls = 0;

    initializeParameters(input, size = input.shape.at(-1)) {
      this.calls++;
      this.factor.materialize(size);
      this.offset.materialize([size], { dtype: "float64" });
      nn.init.ones_(this.factor);
      nn.init.zeros_(this.offset);
    }

    forward(input) {
      return input.mul(this.factor).add(this.offset);
    }
  }

  test("makes lazy modules of one's own", () => {
    const module = new Scale();
    assert.ok(module.hasUninitializedParams());
    assert.deepEqual(Object.keys(module.stateDict()), ["factor"]);
    const { factor } = module;
    assertTensor(module.call(eg.tensor([1, 2])), [1, 2]);
    module.call(eg.tensor([1, 2]));
    assert.deepEqual([module.constructor, module.calls], [Scale, 1]);
    assert.equal(module.factor, factor);
    assert.equal(module.offset.dtype, "float64");
    assert.ok(module.offset instanceof nn.Buffer && !module.offset.persistent);
  });

  test("names the class that a module becomes", () => {
    class Lazy extends Scale {
      static clsToBecome = nn.Identity;
    }
    const module = new Lazy();
    assertTensor(module.call(eg.tensor([3])), [3]);
    assert.equal(module.constructor, nn.Identity);
  });

  test("runs hooks that are registered before the first call", () => {
    const module = new Scale();
    module.registerForwardPreHook((_, [input]) => input.add(1));
    module.registerForwardHook((_, [input], output) => output.add(input));
    assertTensor(module.call(eg.tensor([1])), [4]);
  });

  test("reports what was forgotten", () => {
    assertThrows(() => nn.LazyModuleMixin(Map), "InvalidArgument", /\[LazyModuleMixin\] Base/);
    class Nothing extends nn.LazyModuleMixin(nn.Module) {}
    assertThrows(() => new Nothing().call(1), "InvalidArgument", /initializeParameters/);
    class Half extends Scale {
      initializeParameters() {}
    }
    assertThrows(
      () => new Half().call(eg.ones([1])),
      "InvalidArgument",
      /\[Half\].*without a shape/,
    );
  });
});

test("a tensor without a shape says what is missing, wherever it is used", () => {
  const param = new nn.UninitializedParameter(false, { dtype: "float64" });
  for (const use of [
    () => param.shape,
    () => param.add(1),
    () => eg.zerosLike(param),
    () => param.dataSync(),
  ]) {
    assertThrows(use, "InvalidArgument", /\[UninitializedParameter\].*no shape and no values yet/);
  }
  assertThrows(() => param.materialize(-1), "InvalidArgument", /\[materialize\] shape/);
  assertThrows(() => new nn.UninitializedBuffer(1), "InvalidArgument", /\[UninitializedBuffer\]/);
  assert.deepEqual([param.grad, param.isLeaf, param.requiresGrad], [null, true, false]);
  param.materialize([2, 0]);
  assert.deepEqual([param.shape, param.dtype, param.requiresGrad], [[2, 0], "float64", false]);
  assert.ok(!("materialize" in param));
});
