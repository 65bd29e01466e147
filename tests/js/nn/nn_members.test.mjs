// The members of a module: parameters, buffers and parts are declared, and cannot be lost silently.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";

const { nn } = eg;

class Scale extends nn.Module {
  factor = new nn.Parameter(eg.ones([2]));
  count = new nn.Buffer(eg.zeros([2]));
  cache = new nn.Buffer(eg.zeros([2]), { persistent: false });
  inner = new nn.Linear(2, 2);

  forward(x) {
    this.last = x.mul(this.factor);
    return this.last;
  }
}

// In the style of PyTorch, with assignments in the constructor.
class ByAssignment extends nn.Module {
  constructor() {
    super();
    this.factor = new nn.Parameter(eg.ones([2]));
    this.count = new nn.Buffer(eg.zeros([2]));
    this.inner = new nn.Linear(2, 2);
  }

  forward(x) {
    return x.mul(this.factor);
  }
}

const kUses = {
  call: (module) => module.call(eg.ones([2])),
  parameters: (module) => module.parameters(),
  buffers: (module) => module.buffers(),
  stateDict: (module) => module.stateDict(),
  loadStateDict: (module) => module.loadStateDict({}, { strict: false }),
  children: (module) => module.children(),
  modules: (module) => module.modules(),
  train: (module) => module.train(),
  zeroGrad: (module) => module.zeroGrad(),
  to: (module) => module.to("float64"),
};

function warningsOf(fn) {
  const { warn } = console;
  const warnings = [];
  console.warn = (text) => warnings.push(text);
  try {
    fn();
  } finally {
    console.warn = warn;
  }
  return warnings;
}

describe("buffers", () => {
  test("are declared; plain tensors are in no state dict", () => {
    const module = new Scale();
    module.call(eg.ones([2]));
    const keys = ["factor", "count", "inner.weight", "inner.bias"];
    assert.deepEqual(Object.keys(module.stateDict()), keys);
    assert.deepEqual(
      module.namedBuffers().map(([name]) => name),
      ["count", "cache"],
    );
    const loaded = new Scale().loadStateDict(module.stateDict());
    assert.deepEqual(loaded, { missingKeys: [], unexpectedKeys: [] });
  });

  test("that are not persistent move with the module, and are not loaded", () => {
    const module = new Scale().to("float64");
    assert.equal(module.cache.dtype, "float64");
    assert.equal(module.cache.persistent, false);
    assert.equal(module.count.persistent, true);
    const state = { ...module.stateDict(), cache: eg.ones([2]) };
    assertThrows(() => module.loadStateDict(state), "InvalidArgument", /Unexpected key.*"cache"/);
  });

  test("share the data of their tensor and are tensors of their own", () => {
    const data = eg.zeros([2]);
    const buffer = new nn.Buffer(data);
    data.add_(1);
    assertTensor(buffer, [1, 1]);
    assert.ok(buffer instanceof eg.Tensor && !(buffer instanceof nn.Parameter));
    assert.equal(buffer.requiresGrad, false);
    assert.equal(new nn.Buffer(eg.ones([1], { requiresGrad: true })).requiresGrad, true);
    assert.match(String(buffer), /^tensor/);
  });

  test("refuse other values than tensors, and unknown options", () => {
    assertThrows(() => new nn.Buffer(), "InvalidArgument", /\[Buffer\] data: expected a tensor/);
    assertThrows(
      () => new nn.Buffer(eg.ones([1]), { persist: true }),
      "InvalidArgument",
      /\[Buffer\].*"persist".*"persistent"/,
    );
  });

  test("of layers are buffers", () => {
    const layer = new nn.BatchNorm2d(3);
    for (const buffer of layer.buffers()) assert.ok(buffer instanceof nn.Buffer);
    assert.equal(layer.buffers().length, 3);
  });
});

test("parameters refuse other values than tensors, and unknown options", () => {
  assertThrows(
    () => new nn.Parameter(),
    "InvalidArgument",
    /\[Parameter\] data: expected a tensor/,
  );
  assertThrows(
    () => new nn.Parameter(eg.ones([1]), { requires_grad: false }),
    "InvalidArgument",
    /\[Parameter\].*requiresGrad/,
  );
  assert.equal(new nn.Parameter(eg.ones([1]), { requiresGrad: false }).requiresGrad, false);
  assert.equal(new nn.Parameter(eg.ones([1]), false).requiresGrad, false);
});

describe("a member that is lost", () => {
  for (const [use, run] of Object.entries(kUses)) {
    test(`is an error at the next ${use}`, () => {
      for (const Module of [Scale, ByAssignment]) {
        const module = new Module();
        module.factor = eg.zeros([2]);
        assertThrows(
          () => run(module),
          "InvalidArgument",
          /cannot assign a plain tensor as parameter 'factor'.*copy_.*new nn\.Parameter/,
        );
        module.factor = new nn.Parameter(eg.zeros([2]));
        run(module);
        module.count = eg.zeros([2]);
        assertThrows(() => run(module), "InvalidArgument", /'count'.*copy_.*new nn\.Buffer/);
      }
    });
  }

  test("is found after each kind of first use", () => {
    for (const run of Object.values(kUses)) {
      const module = new Scale();
      const next = eg.zeros([2]);
      run(module);
      module.factor = next;
      assertThrows(() => module.parameters(), "InvalidArgument", /'factor'/);
    }
  });

  test("is found where it was made before the module, or is a module", () => {
    const factor = new nn.Parameter(eg.ones([2]));
    class Net extends nn.Module {
      factor = factor;
      act = new nn.ReLU();
    }
    const net = new Net();
    net.factor = eg.zeros([2]);
    assertThrows(() => net.parameters(), "InvalidArgument", /'factor'/);
    const other = new Net();
    other.act = eg.ones([1]);
    assertThrows(() => other.parameters(), "InvalidArgument", /as module 'act'/);
    other.act = null;
    assert.equal(other.parameters().length, 1);
  });

  test("is found in layers and in parts of a module", () => {
    const model = new nn.Sequential(new nn.Linear(2, 2), new nn.BatchNorm1d(2));
    model[0].weight = eg.zeros([2, 2]);
    assertThrows(() => model.parameters(), "InvalidArgument", /\[Linear\].*'weight'/);
    model[0].weight = new nn.Parameter(eg.zeros([2, 2]));
    model.parameters();
    model[1].running_mean = eg.zeros([2]);
    assertThrows(() => model.call(eg.ones([2, 2])), "InvalidArgument", /'running_mean'/);
  });

  test("is found when a step was written as an assignment", () => {
    const module = new Scale();
    module
      .call(eg.ones([2]))
      .sum()
      .backward();
    eg.noGrad(() => {
      module.factor = module.factor.sub(module.factor.grad.mul(0.1));
    });
    assertThrows(() => module.call(eg.ones([2])), "InvalidArgument", /copy_/);
  });

  test("may be something else than a tensor", () => {
    const changes = [
      ["factor", 3, /number 3 as parameter/],
      ["factor", [1, 2], /\[1, 2\] as parameter/],
      ["factor", new nn.Buffer(eg.ones([2])), /an nn.Buffer as parameter/],
      ["factor", new nn.ReLU(), /an nn.Module as parameter/],
      ["count", "text", /"text" as buffer/],
      ["inner", (x) => x, /a function as module 'inner' \(nn.Module or null expected\)/],
      ["inner", eg.ones([2]), /a plain tensor as module/],
    ];
    for (const [name, value, text] of changes) {
      const module = new Scale();
      module.parameters();
      module[name] = value;
      assertThrows(() => module.parameters(), "InvalidArgument", text);
    }
  });

  test("may be null, deleted, or another member", () => {
    const module = new Scale();
    module.parameters();
    module.factor = null;
    module.count = null;
    assert.deepEqual(Object.keys(module.stateDict()), ["inner.weight", "inner.bias"]);
    module.factor = eg.ones([2]);
    assertThrows(() => module.parameters(), "InvalidArgument", /'factor'/);
    delete module.factor;
    module.parameters();
    module.factor = eg.ones([2]);
    assert.equal(module.parameters().length, 2);
    module.count = new nn.Parameter(eg.ones([2]));
    module.inner = new nn.Parameter(eg.ones([2]));
    assert.equal(module.parameters().length, 2);
  });

  test("may be tied to that of another part", () => {
    const model = new nn.Sequential(new nn.Linear(2, 2), new nn.Linear(2, 2));
    model.parameters();
    model[0].weight = model[1].weight;
    assert.equal(model.parameters().length, 3);
  });
});

describe("modules that are not found", () => {
  const holders = {
    "an array": (module) => [module],
    "an array of arrays": (module) => [[1, module]],
    "a Map": (module) => new Map([["a", module]]),
    "a Set": (module) => new Set([module]),
    "a plain object": (module) => ({ a: module }),
    "an array of objects": (module) => [{ size: 3 }, { block: module, name: "b" }],
  };
  for (const [what, hold] of Object.entries(holders)) {
    test(`in ${what} are warned of, once`, () => {
      class Net extends nn.Module {
        blocks = hold(new nn.Linear(1, 1));
      }
      const warnings = warningsOf(() => {
        new Net().parameters();
        new Net().parameters();
      });
      assert.equal(warnings.length, 1);
      assert.match(warnings[0], /\[Net\] blocks .*Linear.*nn\.ModuleList/);
    });
  }

  test("are warned of at a call, also when they are parameters", () => {
    class Net extends nn.Module {
      weights = [new nn.Parameter(eg.ones([1]))];
      forward = (x) => x;
    }
    const [warning] = warningsOf(() => new Net().call(1));
    assert.match(warning, /\[Net\] weights contains a parameter/);
  });

  test("cause no warning if they are parts, too, or hold no modules", () => {
    class Net extends nn.Module {
      first = new nn.Linear(1, 1);
      all = [this.first];
      names = ["a", null, { b: 1 }];
      table = new Map([[1, eg.ones([1])]]);
    }
    assert.deepEqual(
      warningsOf(() => new Net().parameters()),
      [],
    );
  });
});

test("a module that is a part of itself is refused, and printed", () => {
  const child = new nn.Sequential();
  const parent = new nn.Sequential(child);
  child.parent = parent;
  for (const run of [(m) => m.parameters(), (m) => m.stateDict(), (m) => m.apply(() => {})]) {
    assertThrows(() => run(parent), "InvalidArgument", /part of itself, as "0\.parent"/);
  }
  const text = "Sequential(\n  (0): Sequential(\n    (parent): Sequential(...)\n  )\n)";
  assert.equal(String(parent), text);
});

describe("members by a call", () => {
  test("are those that assignments make", () => {
    const module = new nn.Module();
    const data = eg.zeros([2]);
    module.registerBuffer("count", data);
    module.registerBuffer("cache", eg.ones([1]), { persistent: false });
    module.registerBuffer("later", null);
    const weight = new nn.Parameter(eg.ones([2]));
    module.registerParameter("weight", weight);
    module.registerParameter("bias", null);
    module.registerModule("first", new nn.Linear(1, 1, { bias: false }));
    module.addModule("second", new nn.ReLU());
    assert.equal(module.weight, weight);
    assert.deepEqual(Object.keys(module.stateDict()), ["weight", "count", "first.weight"]);
    data.fill_(3);
    assertTensor(module.count, [3, 3]);
    assert.deepEqual(
      module.namedBuffers().map(([name]) => name),
      ["count", "cache"],
    );
    module.registerBuffer("later", eg.ones([1]));
    module.registerBuffer("count", eg.ones([3]));
    assert.deepEqual(module.count.shape, [3]);
    assert.equal(module.double(), module);
    assert.deepEqual([weight.dtype, module.later.dtype], ["float64", "float64"]);
    assert.equal(module.float().cpu().weight.dtype, "float32");
  });

  test("do not take names that are taken, or that are none", () => {
    const module = new nn.Linear(1, 1);
    const refused = [
      [() => module.registerBuffer("weight", eg.ones([1])), /"weight" is already a property/],
      [() => module.registerParameter("forward", null), /"forward" is already a property/],
      [() => module.addModule("inFeatures", new nn.ReLU()), /"inFeatures" is already a property/],
      [() => module.registerModule("a.b", new nn.ReLU()), /a text without "."/],
      [() => module.registerParameter("p", eg.ones([1])), /param: expected an nn.Parameter/],
      [() => module.registerModule("p", eg.ones([1])), /module: expected an nn.Module/],
      [() => module.registerBuffer("b", eg.ones([1]), { persist: true }), /persistent/],
    ];
    for (const [fn, message] of refused) assertThrows(fn, "InvalidArgument", message);
    assert.deepEqual(Object.keys(module.stateDict()), ["weight", "bias"]);
  });
});

test("tensors that losses and fractional pooling are given are buffers under PyTorch's names", () => {
  const weight = eg.tensor([1, 2, 3]);
  const samples = eg.tensor([[[0.1, 0.7]]]);
  for (const [name, options, keys] of [
    ["NLLLoss", { weight }, ["weight"]],
    ["CrossEntropyLoss", { weight }, ["weight"]],
    ["BCELoss", { weight }, ["weight"]],
    ["BCEWithLogitsLoss", { weight, posWeight: weight }, ["weight", "pos_weight"]],
    ["MultiMarginLoss", { weight }, ["weight"]],
    ["MultiLabelSoftMarginLoss", { weight }, ["weight"]],
  ]) {
    const loss = new nn[name](options);
    assert.deepEqual(Object.keys(loss.stateDict()), keys, name);
    assert.deepEqual(loss.parameters(), []);
    loss.double();
    for (const key of keys) assert.equal(loss[key].dtype, "float64", name);
    assert.deepEqual(Object.keys(new nn[name]().stateDict()), [], name);
  }
  const pool = new nn.FractionalMaxPool2d(2, { outputSize: 2, _randomSamples: samples });
  assert.deepEqual(Object.keys(pool.stateDict()), ["_random_samples"]);
  const drawn = nn.functional.fractionalMaxPool2d(eg.arange(25).float().reshape([1, 1, 5, 5]), 2, {
    outputSize: 2,
    _randomSamples: samples,
  });
  assertTensor(pool.call(eg.arange(25).float().reshape([1, 1, 5, 5])), drawn.dataSync());

  const loss = new nn.BCEWithLogitsLoss({ posWeight: eg.ones([3]) });
  loss.loadStateDict({ pos_weight: weight });
  assertTensor(loss.call(eg.zeros([3]), eg.ones([3])), [2 * Math.log(2)], { atol: 1e-6 });
  assertTensor(loss.posWeight, [1, 2, 3]);
});
