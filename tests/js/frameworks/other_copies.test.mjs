// Objects that are not what they seem: of a second copy of the package, or copied and wrapped by libraries.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import * as eg from "edgegrad";
import lodash from "lodash";
import { assertThrows } from "../support/assert.mjs";
import { kRoot } from "../support/files.mjs";

describe("a second copy of the package", () => {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-copy-"));
  let other;
  let x;
  let model;

  before(async () => {
    for (const name of ["dist", "package.json"]) {
      cpSync(join(kRoot, name), join(folder, name), { recursive: true });
    }
    other = await import(join(folder, "dist", "index.js"));
    for (const copy of [eg, other]) await copy.init({ variant: "single" });
    x = other.ones([2]);
    model = new other.nn.Linear(2, 2);
  });
  after(async () => {
    for (const copy of [eg, other]) await copy.shutdown();
    rmSync(folder, { recursive: true });
  });

  class Net extends eg.nn.Module {
    constructor(part) {
      super();
      this.part = part;
    }
  }
  const kUses = {
    "an operand": () => eg.add(x, 1),
    "an argument of a method": () => eg.ones([2]).add(x),
    "an element of a list": () => eg.cat([x, x]),
    "an input of a module": () => new eg.nn.Linear(2, 2).call(x),
    "a part of a container": () => new eg.nn.Sequential(model),
    "a part of a module": () => new Net(model).parameters(),
    "a tensor of a module": () => new Net(x).parameters(),
    "a module that is called inside another": () => new Net(model).call(eg.ones([1, 2])),
    "parameters of an optimizer": () => new eg.optim.SGD(model.parameters()),
    "a state dict": () => new eg.nn.Linear(2, 2).loadStateDict(model.stateDict()),
    "a file": () => eg.io.save({ x }),
    "a target": () => eg.mseLoss(eg.ones([2]), x),
    "a generator": () => eg.randn([2], { generator: new other.Generator(1) }),
    "a dataset": () => new eg.data.TensorDataset(x),
    "an output to differentiate": () => eg.autograd.grad(x.sum(), [x]),
  };
  for (const [name, use] of Object.entries(kUses)) {
    test(`is named where its objects are used: ${name}`, () => {
      assert.throws(use, (error) => {
        assert.ok(error instanceof eg.EdgeGradError, error.stack);
        assert.match(error.message, /of another copy of edgegrad\. Two are loaded, 0\.1\.0 in \S+/);
        assert.ok(error.message.includes(join(folder, "dist", "index.js")), error.message);
        assert.match(error.message, /npm dedupe/);
        return true;
      });
    });
  }

  test("has an engine of its own that works", () => {
    assert.deepEqual(x.mul(2).tolist(), [2, 2]);
    assert.deepEqual(eg.ones([2]).mul(2).tolist(), [2, 2]);
  });
});

describe("libraries that copy and compare any object", () => {
  before(() => eg.init({ threads: 1 }));
  after(() => eg.shutdown());

  test("are told what to use for tensors", () => {
    const x = eg.ones([2]);
    const message = /such as lodash, .* x\.clone\(\), x\.equal\(y\) or module\.clone\(\)/;
    for (const use of [
      () => lodash.cloneDeep(x),
      () => lodash.cloneDeep({ deep: [x] }),
      () => lodash.isEqual(x, eg.zeros([2])),
      () => lodash.isEqual({ x }, { x: eg.zeros([2]) }),
      () => lodash.cloneDeep(new eg.nn.Linear(2, 2)),
    ]) {
      assertThrows(use, "InvalidArgument", message);
    }
  });

  test("make copies of modules and optimizers that say what they are", () => {
    const model = new eg.nn.Linear(2, 1);
    const optimizer = new eg.optim.SGD(model.parameters());
    const proxied = (target) => new Proxy(target, {});
    for (const copied of [lodash.clone, proxied]) {
      const message = /^\[Linear\] this is a copy or a proxy .* use module\.clone\(\)\.$/;
      const copy = copied(model);
      for (const use of [
        () => copy.call(eg.ones([1, 2])),
        () => copy.parameters(),
        () => copy.stateDict(),
      ]) {
        assertThrows(use, "InvalidArgument", message);
      }
      const other = copied(optimizer);
      for (const use of [() => other.step(), () => other.zeroGrad()]) {
        assertThrows(use, "InvalidArgument", /^\[SGD\] this is a copy or a proxy/);
      }
    }
    assertThrows(
      () => lodash.cloneDeep(new eg.nn.ReLU()).call(eg.ones([1])),
      "InvalidArgument",
      /copy/,
    );
  });
});
