// Hooks of modules before backward, after errors, around state dicts, and of all modules.

import assert from "node:assert/strict";
import { afterEach, describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf, values } from "../support/graphs.mjs";

class Scale extends eg.nn.Module {
  factor = new eg.nn.Parameter(eg.tensor([2]));

  forward(x) {
    return x.mul(this.factor);
  }
}

class Failing extends eg.nn.Module {
  forward() {
    throw new Error("no forward");
  }
}

describe("full backward pre-hooks", () => {
  test("see and replace the gradients of the outputs, before the full backward hooks", () => {
    const module = new Scale();
    const log = [];
    const handles = [
      module.registerFullBackwardPreHook((self, grads) => {
        log.push([self === module, grads.map(values)]);
        return grads.map((grad) => grad.mul(10));
      }),
      module.registerFullBackwardPreHook((_, grads) => void log.push(grads.map(values))),
      module.registerFullBackwardHook((_, gradInputs, gradOutputs) => {
        log.push([gradInputs.map(values), gradOutputs.map(values)]);
      }),
    ];
    const x = leaf([3]);
    module.call(x).backward();
    assert.deepEqual(log, [[true, [[1]]], [[10]], [[[20]], [[10]]]]);
    assertTensor(x.grad, [20]);
    assertTensor(module.factor.grad, [30]);
    handles[0].remove();
    module.call(x).backward();
    assertTensor(x.grad, [22]);
  });

  test("work if no input requires a gradient, and with several outputs", () => {
    class Two extends eg.nn.Module {
      factor = new eg.nn.Parameter(eg.tensor([2]));
      forward(x) {
        return [x.mul(this.factor), "text", x.mul(this.factor).mul(3)];
      }
    }
    const module = new Two();
    const seen = [];
    module.registerFullBackwardPreHook((_, grads) => {
      seen.push(grads.map((grad) => grad && values(grad)));
      return [grads[0].mul(5), null, grads[2]];
    });
    const [first, , second] = module.call(eg.tensor([1]));
    first.add(second).backward();
    assert.deepEqual(seen, [[[1], null, [1]]]);
    assertTensor(module.factor.grad, [8]);
  });

  test("are not called for outputs that are no tensors, which warns once", (t) => {
    const warn = t.mock.method(console, "warn", () => {});
    class Named extends eg.nn.Module {
      forward(x) {
        return { value: x.mul(2) };
      }
    }
    const module = new Named();
    module.registerFullBackwardPreHook(() => assert.fail("called"));
    for (let i = 0; i < 2; i++) module.call(leaf([1])).value.backward();
    assert.equal(warn.mock.callCount(), 1);
    assert.match(
      warn.mock.calls[0].arguments[0],
      /\[Named\] backward hooks of a module see tensors/,
    );
  });

  test("must return as many gradients as there are outputs, and can be prepended", () => {
    const module = new Scale();
    const handle = module.registerFullBackwardPreHook(() => []);
    assertThrows(
      () => module.call(leaf([1])).backward(),
      "InvalidGradient",
      /must return 1 gradients, one for each output, got 0/,
    );
    handle.remove();
    const log = [];
    module.registerFullBackwardPreHook(() => void log.push("second"));
    module.registerFullBackwardPreHook(() => void log.push("first"), { prepend: true });
    module.call(leaf([1])).backward();
    assert.deepEqual(log, ["first", "second"]);
  });
});

describe("forward hooks with alwaysCall", () => {
  test("are called once, also after an error", () => {
    const log = [];
    const module = new Scale();
    module.registerForwardHook((_, __, output) => void log.push(output), { alwaysCall: true });
    const output = module.call(eg.tensor([1]));
    assert.deepEqual(log, [output]);

    const failing = new Failing();
    failing.registerForwardHook((_, inputs, output) => void log.push([inputs, output]), {
      alwaysCall: true,
    });
    failing.registerForwardHook(() => void log.push("not called"));
    assert.throws(() => failing.call(5), /no forward/);
    assert.deepEqual(log.slice(1), [[[5], undefined]]);
  });

  test("are called when another hook throws, and their own errors are shown", (t) => {
    const warn = t.mock.method(console, "warn", () => {});
    const log = [];
    const module = new Scale();
    module.registerForwardHook(() => {
      throw new Error("first");
    });
    module.registerForwardHook(
      () => {
        throw new Error("second");
      },
      { alwaysCall: true },
    );
    module.registerForwardHook((_, __, output) => void log.push(values(output)), {
      alwaysCall: true,
    });
    assert.throws(() => module.call(eg.tensor([1])), /first/);
    assert.deepEqual(log, [[2]]);
    assert.match(warn.mock.calls[0].arguments[0], /alwaysCall threw.*second/);
  });
});

describe("hooks of all modules", () => {
  const handles = [];
  const register = (handle) => handles.push(handle);
  afterEach(() => {
    for (const handle of handles.splice(0)) handle.remove();
  });

  test("run before the module's own, for every module", () => {
    const log = [];
    const module = new eg.nn.Sequential(new Scale());
    const note = (name) => (self) => void log.push(`${name} ${self.constructor.name}`);
    for (const part of module.modules()) {
      part.registerForwardPreHook(note("own before"));
      part.registerForwardHook(note("own after"));
    }
    register(eg.nn.registerModuleForwardPreHook(note("all before")));
    register(eg.nn.registerModuleForwardHook(note("all after")));
    module.call(eg.tensor([1]));
    assert.deepEqual(log, [
      "all before Sequential",
      "own before Sequential",
      "all before Scale",
      "own before Scale",
      "all after Scale",
      "own after Scale",
      "all after Sequential",
      "own after Sequential",
    ]);
    for (const handle of handles.splice(0)) handle.remove();
    log.length = 0;
    new Scale().call(eg.tensor([1]));
    assert.deepEqual(log, []);
  });

  test("replace inputs, outputs and gradients", () => {
    register(eg.nn.registerModuleForwardPreHook((_, [x]) => x.add(1)));
    register(
      eg.nn.registerModuleForwardHook((_, __, options, output) => output.mul(options.by ?? 10), {
        withKwargs: true,
      }),
    );
    register(eg.nn.registerModuleFullBackwardPreHook((_, [grad]) => [grad.mul(2)]));
    register(eg.nn.registerModuleFullBackwardHook((_, [grad]) => [grad.mul(3)]));
    const x = leaf([1]);
    const y = new Scale().call(x);
    assertTensor(y, [40]);
    y.backward();
    // 10 of the forward hook comes before the output's boundary, so hooks see the gradient of 40.
    assertTensor(x.grad, [2 * 10 * 2 * 3]);
  });

  test("may always be called", () => {
    const log = [];
    register(eg.nn.registerModuleForwardHook(() => void log.push("called"), { alwaysCall: true }));
    assert.throws(() => new Failing().call(), /no forward/);
    assert.deepEqual(log, ["called"]);
  });

  test("make a captured function outdated", () => {
    const module = new Scale();
    const step = eg.capture((x) => module.call(x), eg.tensor([1]));
    assertTensor(step(eg.tensor([2])), [4]);
    register(eg.nn.registerModuleForwardHook(() => {}));
    assertThrows(() => step(eg.tensor([2])), "InvalidArgument", /hooks/);
  });
});

describe("hooks of state dicts", () => {
  const nested = () => {
    const inner = new Scale();
    const outer = new eg.nn.Sequential(inner, new eg.nn.Linear(1, 1));
    return { inner, outer };
  };

  test("run before and after the tensors of a module are listed", () => {
    const { inner, outer } = nested();
    const log = [];
    inner.registerStateDictPreHook((module, prefix, keepVars) => {
      log.push(["before", module === inner, prefix, keepVars]);
    });
    inner.registerStateDictPostHook((module, state, prefix) => {
      log.push(["after", module === inner, prefix, Object.keys(state)]);
      state[`${prefix}more`] = eg.tensor([5]);
    });
    const handle = outer.registerStateDictPostHook((_, state, prefix) => {
      log.push([prefix, Object.keys(state)]);
      delete state["1.bias"];
    });
    assert.deepEqual(Object.keys(outer.stateDict()), ["0.factor", "0.more", "1.weight"]);
    assert.deepEqual(log, [
      ["before", true, "0.", false],
      ["after", true, "0.", ["0.factor"]],
      ["", ["0.factor", "0.more", "1.weight", "1.bias"]],
    ]);
    handle.remove();
    assert.ok("1.bias" in outer.stateDict());
    assert.deepEqual(Object.keys(outer.clone().stateDict()).length, 4);
    outer.registerStateDictPostHook(() => ({}));
    assertThrows(() => outer.stateDict(), "InvalidArgument", /the hook must return nothing/);
  });

  test("run before loading, on a copy of the state dict", () => {
    const { inner, outer } = nested();
    const state = outer.stateDict();
    const renamed = { "0.scale": eg.tensor([7]), ...state };
    delete renamed["0.factor"];
    let seen;
    const handle = inner.registerLoadStateDictPreHook(
      (module, given, prefix, metadata, strict, missing, unexpected, errors) => {
        seen = [module === inner, Object.keys(given), prefix, metadata, strict];
        assert.deepEqual([missing, unexpected, errors], [[], [], []]);
        given[`${prefix}factor`] = given[`${prefix}scale`];
        delete given[`${prefix}scale`];
      },
    );
    outer.loadStateDict(renamed);
    assertTensor(inner.factor, [7]);
    assert.deepEqual(seen, [true, ["0.scale"], "0.", {}, true]);
    assert.ok("0.scale" in renamed);
    handle.remove();
    assertThrows(() => outer.loadStateDict(renamed), "InvalidArgument", /Missing keys: "0.factor"/);
  });

  test("report errors, and nothing is loaded then", () => {
    const { inner, outer } = nested();
    inner.registerLoadStateDictPreHook((...given) => void given[7].push("mine is wrong"));
    const state = { ...outer.stateDict(), "0.factor": eg.tensor([9]) };
    assertThrows(() => outer.loadStateDict(state), "ShapeMismatch", /\n\tmine is wrong/);
    assertTensor(inner.factor, [2]);
  });

  test("run after loading, and decide about the names that do not match", () => {
    const { inner, outer } = nested();
    const order = [];
    const handle = inner.registerLoadStateDictPostHook((module, incompatible) => {
      order.push(module.constructor.name);
      assertTensor(inner.factor, [3]);
      assert.deepEqual(incompatible.missingKeys, ["1.weight"]);
      incompatible.missingKeys.length = 0;
      incompatible.unexpectedKeys.length = 0;
    });
    outer.registerLoadStateDictPostHook(() => void order.push("outer"));
    const state = { ...outer.stateDict(), "0.factor": eg.tensor([3]), extra: eg.tensor([1]) };
    delete state["1.weight"];
    assert.deepEqual(outer.loadStateDict(state), { missingKeys: [], unexpectedKeys: [] });
    assert.deepEqual(order, ["Scale", "outer"]);
    handle.remove();
    assertThrows(
      () => outer.loadStateDict(state),
      "InvalidArgument",
      /Missing keys: "1.weight".\n\tUnexpected keys: "extra"/,
    );
    assert.deepEqual(outer.loadStateDict(state, { strict: false }), {
      missingKeys: ["1.weight"],
      unexpectedKeys: ["extra"],
    });
    outer.registerLoadStateDictPostHook(() => 1);
    assertThrows(
      () => outer.loadStateDict(outer.stateDict()),
      "InvalidArgument",
      /must return nothing/,
    );
  });

  test("leave nothing behind", () => {
    const { inner, outer } = nested();
    inner.registerStateDictPostHook(() => {});
    inner.registerLoadStateDictPostHook(() => {});
    assertFlat(() => eg.scope(() => void outer.loadStateDict(outer.stateDict())));
  });
});

test("stateDict() names tensors with a prefix, and returns the parameters themselves with keepVars", () => {
  const model = new eg.nn.Sequential(new eg.nn.Linear(2, 2), new eg.nn.BatchNorm1d(2));
  const state = model.stateDict({ prefix: "model.", keepVars: true });
  assert.equal(state["model.0.weight"], model.at(0).weight);
  assert.equal(state["model.1.running_mean"], model.at(1).running_mean);
  assert.deepEqual(
    Object.keys(model.stateDict({ prefix: "m." })),
    Object.keys(model.stateDict()).map((name) => `m.${name}`),
  );
  assert.equal(model.stateDict()["0.weight"].requiresGrad, false);
  const seen = [];
  model.at(0).registerStateDictPreHook((_, prefix, keepVars) => void seen.push(prefix, keepVars));
  const hooked = model.stateDict({ prefix: "model.", keepVars: true });
  assert.equal(hooked["model.0.bias"], model.at(0).bias);
  assert.deepEqual(seen, ["model.0.", true]);
});
