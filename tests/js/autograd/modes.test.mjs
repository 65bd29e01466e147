// Grad modes, inference mode, requiresGrad and detaching.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf } from "../support/graphs.mjs";

describe("modes", () => {
  test("hold for a function and come back, also after an error", () => {
    const x = leaf([1]);
    assert.equal(eg.noGrad(() => x.mul(2)).requiresGrad, false);
    assert.equal(eg.noGrad(() => eg.enableGrad(() => x.mul(2))).requiresGrad, true);
    assert.equal(
      eg.setGradEnabled(false, () => eg.isGradEnabled()),
      false,
    );
    assert.throws(() =>
      eg.noGrad(() => {
        throw new Error("stop");
      }),
    );
    assert.equal(eg.isGradEnabled(), true);
  });

  test("are guards for `using`", () => {
    const guard = eg.noGrad();
    assert.equal(eg.isGradEnabled(), false);
    guard[Symbol.dispose]();
    assert.equal(eg.isGradEnabled(), true);
  });

  // Every mode, and what tells that it is on.
  const kProduct = () => eg.ones([2, 2]).matmul(eg.ones([2, 2])).dtype;
  let packed = 0;
  const pack = (tensor) => {
    packed++;
    return tensor;
  };
  const packedByExp = () => {
    packed = 0;
    leaf([1]).exp();
    return packed;
  };
  const kGuards = {
    autocast: [() => eg.amp.autocast(), kProduct, "bfloat16"],
    "autocast with options": [() => eg.amp.autocast({ dtype: "float16" }), kProduct, "float16"],
    detectAnomaly: [
      () => eg.autograd.detectAnomaly({ checkNan: false }),
      () => Object.keys(leaf([1]).exp().gradFn.metadata).length,
      1,
    ],
    savedTensorsHooks: [
      () => eg.autograd.graph.savedTensorsHooks(pack, (tensor) => tensor),
      packedByExp,
      1,
    ],
    saveOnCpu: [
      () => eg.autograd.graph.saveOnCpu({ pinMemory: false }),
      () => leaf([1]).exp().gradFn.saved.result.isLeaf,
      false,
    ],
    disableSavedTensorsHooks: [
      () => eg.autograd.graph.disableSavedTensorsHooks("not here"),
      () => {
        try {
          return eg.autograd.graph.savedTensorsHooks(pack, pack, () => "free");
        } catch (error) {
          return error.message.includes("not here");
        }
      },
      true,
    ],
    dualLevel: [
      () => eg.autograd.forwardAd.dualLevel(),
      () => {
        try {
          return eg.autograd.forwardAd.makeDual(leaf([1]), eg.ones([1])) instanceof eg.Tensor;
        } catch {
          return "no level";
        }
      },
      true,
    ],
  };
  for (const [name, [enter, probe, inside]] of Object.entries(kGuards)) {
    test(`${name} is a guard for \`using\`, which ends once`, () => {
      const before = probe();
      const guard = enter();
      try {
        if (name !== "saveOnCpu") assert.notEqual(before, inside);
        assert.equal(probe(), inside);
      } finally {
        guard[Symbol.dispose]();
      }
      assert.equal(probe(), before);
      guard[Symbol.dispose]();
      assert.equal(probe(), before);
    });
  }

  test("refuse a function that returns a promise", () => {
    assertThrows(() => eg.noGrad(async () => 1), "InvalidArgument", /promise/);
    assertThrows(() => eg.noGrad(() => Promise.reject(new Error("unseen"))), "InvalidArgument");
    assert.equal(eg.isGradEnabled(), true);
  });
});

describe("noGrad", () => {
  test("results are leaves that require no gradient", () => {
    // rule: no-grad-results, record-condition
    const x = leaf([1]);
    const w = eg.noGrad(() => x.add(eg.ones([1])));
    assert.deepEqual([w.requiresGrad, w.gradFn, w.isLeaf], [false, null, true]);
    assertThrows(() => w.backward(), "NoGradPath", /does not require a gradient/);
    // rule: no-grad-factories
    assert.equal(eg.noGrad(() => eg.ones([1], { requiresGrad: true })).requiresGrad, true);
  });

  test("in-place changes still count", () => {
    // rule: no-grad-counts-versions
    const x = leaf([1]);
    const y = x.mul(x);
    eg.noGrad(() => void x.add_(1));
    assert.equal(x.version, 1);
    assertThrows(() => y.backward(), "ModifiedInPlace");
  });

  test("a view made in it may not be changed in place outside", () => {
    // rule: no-grad-view, view-inplace-error
    const x = leaf([1, 2]).clone();
    const view = eg.noGrad(() => x.view([2]));
    assert.equal(view.requiresGrad, true);
    assert.equal(view.gradFn, null);
    assertThrows(() => view.mul_(2), "ViewInPlace", /a view made in noGrad\(\)/);
  });
});

describe("setGradEnabled", () => {
  test("inside of another mode holds until its own end", () => {
    // rule: set-grad-enabled
    const x = leaf([1]);
    const inner = eg.setGradEnabled(false, () => eg.setGradEnabled(true, () => x.mul(2)));
    assert.equal(inner.requiresGrad, true);
    assert.equal(eg.isGradEnabled(), true);
  });

  test("is restored when a node or hook fails, and in nested calls", () => {
    // rule: nested-grad-mode, mode-restored
    const x = leaf([1]);
    x.registerHook(() => {
      assert.equal(eg.isGradEnabled(), false);
      eg.enableGrad(() => {
        const y = leaf([1]);
        eg.autograd.grad(y.mul(y), y, { createGraph: true });
        assert.equal(eg.isGradEnabled(), true);
      });
      assert.equal(eg.isGradEnabled(), false);
      throw new Error("stop");
    });
    assert.throws(() => x.mul(2).backward(), /stop/);
    assert.equal(eg.isGradEnabled(), true);
  });
});

describe("inferenceMode", () => {
  test("makes tensors that are outside of all graphs", () => {
    // rule: inference-tensors, inference-requires-grad, inference-mode-off
    eg.inferenceMode(() => {
      assert.equal(eg.isInferenceModeEnabled(), true);
      assert.equal(eg.isGradEnabled(), false);
      const c = eg.ones([2]);
      const d = eg.ones([2], { requiresGrad: true });
      const v = c.view([1, 2]);
      const f = d.mul(d);
      assert.ok([c, d, v, f].every((one) => one.isInference));
      assert.deepEqual([d.requiresGrad, f.requiresGrad, v.requiresGrad], [true, false, false]);
      assert.equal(v.isView, false);
      eg.inferenceMode(false, () => {
        assert.equal(eg.isInferenceModeEnabled(), false);
        assert.equal(eg.isGradEnabled(), true);
        assert.equal(eg.ones([1]).isInference, false);
      });
      assert.equal(eg.isInferenceModeEnabled(), true);
    });
    assert.equal(eg.isInferenceModeEnabled(), false);
    assert.equal(eg.isGradEnabled(), true);
  });

  test("its tensors have no version, are not saved, and change only inside", () => {
    // rule: inference-no-version, inference-changed-inside-only, inference-not-saved
    // rule: inference-requires-grad
    const c = eg.inferenceMode(() => eg.ones([2]));
    const x = leaf([1, 2]);
    assertThrows(() => c.version, "InferenceTensor", /inference mode has no version/);
    assertThrows(() => c.add_(1), "InferenceTensor", /inference tensor cannot be changed in place/);
    assertThrows(
      () => x.mul(c),
      "InferenceTensor",
      /inference tensor cannot be saved for backward/,
    );
    assertThrows(
      () => c.requiresGrad_(),
      "InferenceTensor",
      /inference tensor cannot require gradients/,
    );
    assertTensor(x.add(c), [2, 3]);
    eg.inferenceMode(() => void c.add_(1));
    assertTensor(c, [2, 2]);
    assert.equal(c.clone().isInference, false);
    assert.match(String(c), /tensor\(\[2\., 2\.\]\)/);
  });

  test("ordinary tensors stay ordinary in it", () => {
    // rule: normal-tensor-in-inference, inference-view-restricted
    const s = leaf([1, 2]);
    const a = s.clone();
    const [view, version] = eg.inferenceMode(() => {
      const made = a.view([2]);
      a.mul_(1);
      return [made, a.version];
    });
    assert.equal(version, 1);
    assert.equal(view.isInference, false);
    assertThrows(
      () => view.add_(2),
      "ViewInPlace",
      /a view made in inferenceMode\(\) cannot be changed in place/,
    );
  });

  test("is a guard too, which may be disposed twice, and refuses promises", () => {
    const guard = eg.inferenceMode();
    assert.equal(eg.isInferenceModeEnabled(), true);
    guard[Symbol.dispose]();
    guard[Symbol.dispose]();
    assert.equal(eg.isInferenceModeEnabled(), false);
    assertThrows(() => eg.inferenceMode(async () => 1), "InvalidArgument", /promise/);
    assert.equal(eg.isInferenceModeEnabled(), false);
    assert.throws(() =>
      eg.inferenceMode(() => {
        throw new Error("stop");
      }),
    );
    assert.equal(eg.isInferenceModeEnabled(), false);
  });
});

describe("a module's training mode", () => {
  test("changes nothing about recording", () => {
    // rule: eval-records, module-requires-grad
    const model = new eg.nn.Sequential(new eg.nn.Linear(2, 2), new eg.nn.Tanh());
    const x = eg.ones([1, 2]);
    const gradients = [true, false].map((training) => {
      model.train(training);
      model.zeroGrad();
      model.call(x).sum().backward();
      return model.parameters().map((parameter) => parameter.grad.arraySync());
    });
    assert.deepEqual(gradients[0], gradients[1]);
    model.requiresGrad_(false);
    assert.equal(model.call(x).requiresGrad, false);
  });
});

describe("requiresGrad", () => {
  test("is a property of leaves", () => {
    // rule: requires-grad-of-leaves, requires-grad-floats-only
    const x = leaf([1]);
    const y = x.mul(2);
    assertThrows(
      () => y.requiresGrad_(false),
      "InvalidArgument",
      /cannot be set to false on the result.*x\.detach\(\)/,
    );
    assert.equal(y.requiresGrad_(), y);
    assertThrows(
      () => eg.tensor([1n]).requiresGrad_(),
      "NotDifferentiable",
      /floating-point.*got int64/,
    );
  });

  test("turned off after recording, stops the accumulation", () => {
    // rule: frozen-after-recording
    const x = leaf([1]);
    const y = x.mul(2);
    x.requiresGrad = false;
    y.backward();
    assert.equal(x.grad, null);
  });
});

describe("detaching", () => {
  test("shares values and version, but no history", () => {
    // rule: detach, version-shared
    const x = leaf([1, 2]);
    const y = x.mul(2);
    const d = y.detach();
    assert.deepEqual([d.requiresGrad, d.isLeaf, d.isView], [false, true, false]);
    const z = y.mul(y);
    d.zero_();
    assert.equal(y.version, d.version);
    assertTensor(y, [0, 0]);
    assertThrows(() => z.sum().backward(), "ModifiedInPlace");
  });

  test("in place takes the tensor itself out of the graph", () => {
    // rule: detach-in-place, detach-in-place-views
    const x = leaf([1]);
    const a = x.mul(2);
    assert.equal(a.detach_(), a);
    assert.deepEqual([a.gradFn, a.requiresGrad, a.isLeaf], [null, false, true]);
    const base = x.mul(2);
    const view = base.view([1]);
    assertThrows(() => view.detach_(), "ViewInPlace", /view cannot be detached in place/);
    base.detach_();
    assert.equal(view.requiresGrad, true);
  });
});
