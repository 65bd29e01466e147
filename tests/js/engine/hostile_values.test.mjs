// User values that throw on any access: the error reaches the caller, modes are restored,
// nothing leaks and the engine continues to work.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor } from "../support/assert.mjs";
import { runProgram } from "../support/child.mjs";
import { eg } from "../support/engine.mjs";

function revoked(target) {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

class Unspeakable extends Error {
  get message() {
    throw new Error("no message");
  }
  get stack() {
    throw new Error("no stack");
  }
  get name() {
    throw new Error("no name");
  }
}

function throwing() {
  throw new Error("not to be touched");
}

// Values that a user may throw.
const thrown = {
  error: new Error("my own"),
  "bigint message": Object.assign(new Error(), { message: 12n }),
  "symbol message": Object.assign(new Error(), { message: Symbol("m") }),
  "object message": Object.assign(new Error(), { message: Object.create(null) }),
  "circular cause": (() => {
    const error = new Error("round");
    error.cause = error;
    return error;
  })(),
  getters: new Unspeakable(),
  toString: { toString: throwing, [Symbol.toPrimitive]: throwing },
  proxy: new Proxy({}, { get: throwing, getPrototypeOf: throwing, has: throwing }),
  "proxy of an error": new Proxy(new Error("inner"), { get: throwing }),
  "revoked proxy": revoked({}),
  "revoked function": revoked(() => 1),
  "no prototype": Object.create(null),
  null: null,
  undefined: undefined,
  symbol: Symbol("s"),
  bigint: 3n,
  "lone surrogate": "\ud800",
  "constructor that throws": Object.defineProperty({}, "constructor", { get: throwing }),
};

const leaf = () => eg.tensor([1, 2], { requiresGrad: true });

// The places where the engine calls user code; each receives the value to throw and a function that calls backward.
const places = {
  "tensor hook": (fail, run) => {
    const y = leaf().mul(2);
    y.registerHook(fail);
    return run(y.sum());
  },
  "hook of a leaf": (fail, run) => {
    const x = leaf();
    x.registerHook(fail);
    return run(x.mul(2).sum());
  },
  "post-accumulate hook": (fail, run) => {
    const x = leaf();
    x.registerPostAccumulateGradHook(fail);
    return run(x.mul(2).sum());
  },
  "node hooks": (fail, run) => {
    const y = leaf().mul(2);
    y.gradFn.registerHook(fail);
    return run(y.sum());
  },
  "node pre-hook": (fail, run) => {
    const y = leaf().mul(2);
    y.gradFn.registerPrehook(fail);
    return run(y.sum());
  },
  "Function.backward": (fail, run) => {
    class Own extends eg.autograd.Function {
      static forward(_ctx, x) {
        return x.clone();
      }
      static backward() {
        return fail();
      }
    }
    return run(Own.apply(leaf()).sum());
  },
  "unpack hook": (fail, run) => {
    const y = eg.autograd.graph.savedTensorsHooks(
      (t) => t,
      () => fail(),
      () => leaf().square(),
    );
    return run(y.sum());
  },
  checkpoint: (fail, run) => {
    let runs = 0;
    const y = eg.autograd.checkpoint((x) => (++runs === 1 ? x.square() : fail()), leaf());
    return run(y.sum());
  },
  "module backward hook": (fail, run) => {
    const layer = new eg.nn.Linear(2, 2);
    layer.registerFullBackwardHook(fail);
    return run(layer.call(leaf()).sum());
  },
};

// The places where user code runs inside a synchronous call.
const bodies = {
  noGrad: (fail) => eg.noGrad(fail),
  enableGrad: (fail) => eg.enableGrad(fail),
  inferenceMode: (fail) => eg.inferenceMode(fail),
  setGradEnabled: (fail) => eg.setGradEnabled(false, fail),
  detectAnomaly: (fail) => eg.autograd.detectAnomaly(fail),
  dualLevel: (fail) => eg.autograd.forwardAd.dualLevel(fail),
  scope: (fail) => eg.scope(fail),
  "pack hook": (fail) =>
    eg.autograd.graph.savedTensorsHooks(
      fail,
      (t) => t,
      () => leaf().square(),
    ),
  savedTensorsHooks: (fail) =>
    eg.autograd.graph.savedTensorsHooks(
      (t) => t,
      (t) => t,
      fail,
    ),
  disableSavedTensorsHooks: (fail) => eg.autograd.graph.disableSavedTensorsHooks("no", fail),
  saveOnCpu: (fail) => eg.autograd.graph.saveOnCpu(fail),
  capture: (fail) => eg.capture(fail),
  "second run of a capture": (fail) => {
    let runs = 0;
    return eg.capture(() => (++runs === 2 ? fail() : undefined));
  },
  "optimizer closure": (fail) => new eg.optim.SGD([leaf()], { lr: 0.1 }).step(fail),
  "module forward": (fail) => {
    class Own extends eg.nn.Module {
      forward() {
        return fail();
      }
    }
    return new Own().call(leaf());
  },
  "module hook": (fail) => {
    const layer = new eg.nn.Linear(2, 2);
    layer.registerForwardPreHook(fail);
    return layer.call(leaf());
  },
  "Function.forward": (fail) => {
    class Own extends eg.autograd.Function {
      static forward() {
        return fail();
      }
    }
    return Own.apply(leaf());
  },
  checkpoint: (fail) => eg.autograd.checkpoint(fail, leaf()),
  "func.grad": (fail) => eg.func.grad(fail)(leaf()),
  "func.vmap": (fail) => eg.func.vmap(fail)(leaf()),
  "func.jvp": (fail) => eg.func.jvp(fail, [leaf()], [eg.ones([2])]),
  jacobian: (fail) => eg.autograd.functional.jacobian(fail, leaf()),
  gradcheck: (fail) => eg.autograd.gradcheck(fail, [leaf().to("float64")]),
  profile: (fail) => eg.autograd.profile(fail),
  autocast: (fail) => eg.amp.autocast(fail),
};

function modes() {
  return [eg.isGradEnabled(), eg.isInferenceModeEnabled(), eg.getDefaultDtype()];
}

/** Returns the thrown value, whatever it is. */
function caughtIn(work) {
  try {
    work();
  } catch (error) {
    return { error };
  }
  return {};
}

async function caughtLater(work) {
  try {
    await work();
  } catch (error) {
    return { error };
  }
  return {};
}

function assertEngineGoesOn(before) {
  assert.deepEqual(modes(), before);
  const x = leaf();
  x.square().sum().backward();
  assertTensor(x.grad, [2, 4]);
}

describe("what a user throws reaches the caller", () => {
  for (const [what, value] of Object.entries(thrown)) {
    const fail = () => {
      throw value;
    };
    for (const [where, call] of Object.entries({ ...places })) {
      test(`${what} from ${where}, as the same object`, () => {
        const before = modes();
        const found = caughtIn(() => call(fail, (loss) => loss.backward()));
        assert.ok("error" in found);
        assert.ok(Object.is(found.error, value), "the same object");
        assertEngineGoesOn(before);
      });
      test(`${what} from ${where} with backwardAsync`, async () => {
        const before = modes();
        const found = await caughtLater(() => call(fail, (loss) => loss.backwardAsync()));
        assert.ok("error" in found);
        // An error from another thread arrives as a copy.
        if (!Object.is(found.error, value)) assert.ok(found.error instanceof Error);
        assertEngineGoesOn(before);
      });
    }
    for (const [where, call] of Object.entries(bodies)) {
      test(`${what} from the body of ${where}`, () => {
        const before = modes();
        const found = caughtIn(() => call(fail));
        assert.ok("error" in found);
        assert.ok(Object.is(found.error, value), "the same object");
        assertEngineGoesOn(before);
      });
    }
  }
});

describe("what a user returns may throw when it is looked at", () => {
  const hostile = ["getters", "toString", "proxy", "proxy of an error", "revoked proxy"];
  for (const what of [...hostile, "revoked function", "no prototype", "constructor that throws"]) {
    const value = thrown[what];
    for (const [where, call] of Object.entries(places)) {
      test(`${what} from ${where}`, async () => {
        const before = modes();
        // The outcome does not matter, but the call must end and the engine continue to work.
        caughtIn(() =>
          call(
            () => value,
            (loss) => loss.backward(),
          ),
        );
        assertEngineGoesOn(before);
        await caughtLater(() =>
          call(
            () => value,
            (loss) => loss.backwardAsync(),
          ),
        );
        assertEngineGoesOn(before);
      });
    }
    for (const [where, call] of Object.entries(bodies)) {
      test(`${what} from the body of ${where}`, () => {
        const before = modes();
        caughtIn(() => call(() => value));
        assertEngineGoesOn(before);
      });
    }
  }
});

describe("what a user passes may throw when it is looked at", () => {
  const x = leaf();
  const calls = {
    add: (value) => eg.add(x, value),
    "method with options": (value) => x.sum(value),
    tensor: (value) => eg.tensor(value),
    "tensor options": (value) => eg.tensor([1], value),
    zeros: (value) => eg.zeros(value),
    at: (value) => x.at(value),
    backward: (value) => x.sum().backward(value),
    "backward options": (value) => x.sum().backward(null, value),
    grad: (value) => eg.autograd.grad(value, [x]),
    hook: (value) => x.registerHook(value),
    noGrad: (value) => eg.noGrad(value),
    scope: (value) => eg.scope(value),
    Linear: (value) => new eg.nn.Linear(value, 2),
    "Linear options": (value) => new eg.nn.Linear(2, 2, value),
    SGD: (value) => new eg.optim.SGD(value, { lr: 0.1 }),
    "SGD options": (value) => new eg.optim.SGD([leaf()], value),
    loadStateDict: (value) => new eg.nn.Linear(2, 2).loadStateDict(value),
    capture: (value) => eg.capture(value),
    "capture input": (value) => eg.capture((a) => a, value),
    "grad setter": (value) => {
      x.grad = value;
    },
    "requiresGrad setter": (value) => {
      x.requiresGrad = value;
    },
    DataLoader: (value) => new eg.data.DataLoader(value),
    "func.grad": (value) => eg.func.grad((a) => a.sum())(value),
  };
  for (const what of [
    "getters",
    "toString",
    "proxy",
    "revoked proxy",
    "revoked function",
    "no prototype",
    "symbol",
  ]) {
    for (const [where, call] of Object.entries(calls)) {
      test(`${what} to ${where}`, () => {
        const before = modes();
        caughtIn(() => call(thrown[what]));
        x.grad = null;
        x.requiresGrad = true;
        assertEngineGoesOn(before);
      });
    }
  }
});

describe("a console that throws", () => {
  const own = new Error("no console");
  const withConsole = async (work) => {
    const { warn } = console;
    console.warn = () => {
      throw own;
    };
    try {
      return await caughtLater(work);
    } finally {
      console.warn = warn;
    }
  };

  test("its error is that of the call which warns", async () => {
    const z = eg.complex(eg.ones([2]), eg.ones([2]));
    const before = modes();
    const alwaysBefore = eg.setWarnAlways(true);
    const found = await withConsole(async () => void z.to("float32"));
    eg.setWarnAlways(alwaysBefore === true);
    assert.equal(found.error, own);
    assertEngineGoesOn(before);
  });

  test("does not hide the anomaly that it was to tell of", async () => {
    const before = modes();
    const found = await withConsole(async () =>
      eg.autograd.detectAnomaly(() => {
        const x = eg.tensor([-1], { requiresGrad: true });
        x.sqrt().sum().backward();
      }),
    );
    assert.equal(found.error?.code, "AnomalyNan");
    assertEngineGoesOn(before);
  });

  test("does not end the process", async () => {
    const { status, stderr } = await runProgram(`
      import * as eg from "edgegrad";
      await eg.init({ threads: 2 });
      console.warn = () => { throw new Error("no console"); };
      const codes = [];
      for (const name of ["backward", "backwardAsync"]) {
        const x = eg.tensor([1], { requiresGrad: true });
        try { await x.mul(2).sum()[name](null, { createGraph: true }); codes.push("none"); }
        catch (error) { codes.push(error.message); }
        const z = eg.complex(x.detach(), x.detach()).requiresGrad_();
        try { await z.real().sum()[name](); } catch (error) { codes.push(error.message); }
      }
      const y = eg.tensor([2], { requiresGrad: true });
      await y.square().sum().backwardAsync();
      if (y.grad.item() !== 4) process.exit(3);`);
    assert.equal(status, 0, stderr);
  });
});
