// Derivatives that user code computes inside a backward call are the same as outside: every transform in every place.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";
import { leaf } from "../support/graphs.mjs";

const { autograd, func, nn } = eg;
const { functional, forwardAd, graph } = autograd;

const T = (data) => eg.tensor(data, { dtype: "float64" });
// Forward mode is not allowed in inference mode, and a gradient check changes its inputs in place.
const normally = (fn) => (eg.isInferenceModeEnabled() ? eg.inferenceMode(false, fn) : fn());
const recorded = (fn) => normally(() => eg.enableGrad(fn));
const normalLeaf = () => normally(() => leaf([1, 2], { dtype: "float64" }));
const cubes = (x) => x.pow(3);
const sumOfCubes = (x) => x.pow(3).sum();

/** Users also run custom Functions, modules and optimizers inside derivatives. */
class Square extends autograd.Function {
  static forward(ctx, x) {
    ctx.saveForBackward(x);
    return x.mul(x);
  }

  static backward(ctx, grad) {
    return ctx.savedTensors[0].mul(grad).mul(2);
  }
}

// The derivatives; each creates everything that it needs.
const kTransforms = {
  "func.grad": () => func.grad(sumOfCubes)(T([1, 2])),
  "func.grad of grad": () => func.grad((x) => func.grad(sumOfCubes)(x).sum())(T([1, 2])),
  "func.grad with noGrad in the function": () =>
    func.grad((x) =>
      eg
        .noGrad(() => x.square())
        .mul(x)
        .sum(),
    )(T([1, 2])),
  "func.grad of a custom Function": () => func.grad((x) => Square.apply(x).sum())(T([1, 2])),
  "func.grad of a checkpoint": () =>
    func.grad((x) => autograd.checkpoint((y) => y.sin().exp(), x).sum())(T([1, 2])),
  "func.grad of a functionalCall": () => {
    const layer = new nn.Linear(2, 1, { dtype: "float64" });
    const params = { weight: T([[1, 2]]), bias: T([3]) };
    return func.grad((p) =>
      func
        .functionalCall(layer, p, T([4, 5]))
        .square()
        .sum(),
    )(params);
  },
  "func.gradAndValue": () => func.gradAndValue(sumOfCubes)(T([1, 2])),
  "func.vjp": () => func.vjp(cubes, T([1, 2]))[1](T([1, 3])),
  "func.jvp": () => func.jvp(cubes, [T([1, 2])], [T([1, 3])]),
  "func.linearize": () => func.linearize(cubes, T([1, 2]))[1](T([1, 3])),
  "func.jacrev": () => func.jacrev(cubes)(T([1, 2])),
  "func.jacfwd": () => func.jacfwd(cubes)(T([1, 2])),
  "func.hessian": () => func.hessian(sumOfCubes)(T([1, 2])),
  "func.vmap of grad": () => func.vmap(func.grad(cubes))(T([1, 2])),
  "func.vmap of jacrev": () => func.vmap(func.jacrev(cubes))(T([[1, 2]])),
  "func.grad of vmap": () => func.grad((x) => func.vmap(cubes)(x).sum())(T([1, 2])),
  "functional.vjp": () => functional.vjp(cubes, T([1, 2]), T([1, 3])),
  "functional.jvp": () => functional.jvp(cubes, T([1, 2]), T([1, 3])),
  "functional.jacobian": () => functional.jacobian(cubes, T([1, 2])),
  "functional.hessian": () => functional.hessian(sumOfCubes, T([1, 2])),
  "functional.hvp": () => functional.hvp(sumOfCubes, T([1, 2]), T([1, 3])),
  "functional.vhp": () => functional.vhp(sumOfCubes, T([1, 2]), T([1, 3])),
  forwardAd: () =>
    normally(() =>
      forwardAd.dualLevel(
        () => forwardAd.unpackDual(forwardAd.makeDual(T([1, 2]), T([1, 3])).pow(3)).tangent,
      ),
    ),
  gradcheck: () => autograd.gradcheck(cubes, normalLeaf()),
  gradgradcheck: () => autograd.gradgradcheck(cubes, normalLeaf()),
  klDivergence: () => {
    const { Gamma, klDivergence } = eg.distributions;
    return klDivergence(new Gamma(T(2), T(1)), new Gamma(T(1), T(3)));
  },
  entropy: () => new eg.distributions.Dirichlet(T([1, 2, 3])).entropy(),
};

// For these, the user has to enable recording.
const kRecorded = {
  "autograd.grad": () => {
    const x = T([1, 2]).requiresGrad_();
    return autograd.grad(sumOfCubes(x), x);
  },
  "autograd.grad of grad": () => {
    const x = T([1, 2]).requiresGrad_();
    const [first] = autograd.grad(sumOfCubes(x), x, { createGraph: true });
    return autograd.grad(first.sum(), x);
  },
  backward: () => {
    const x = T([1, 2]).requiresGrad_();
    sumOfCubes(x).backward();
    return x.grad;
  },
  checkpoint: () => {
    const x = T([1, 2]).requiresGrad_();
    autograd
      .checkpoint((y) => y.sin().exp(), x)
      .sum()
      .backward();
    return x.grad;
  },
  "nested checkpoints": () => {
    const x = T([1, 2]).requiresGrad_();
    const inner = (y) => autograd.checkpoint((z) => z.sin().exp(), y);
    autograd
      .checkpoint((y) => inner(y).square(), x)
      .sum()
      .backward();
    return x.grad;
  },
  "custom Function": () => {
    const x = T([1, 2]).requiresGrad_();
    Square.apply(x).sum().backward();
    return x.grad;
  },
  "step with a closure": () => {
    const x = T([1, 2]).requiresGrad_();
    const optimizer = new eg.optim.LBFGS([x], { lr: 0.1, maxIter: 3 });
    optimizer.step(() => {
      optimizer.zeroGrad();
      const loss = x.square().sum();
      loss.backward();
      return loss;
    });
    return x;
  },
};

const plain = (value) => {
  if (value instanceof eg.Tensor) return value.detach().arraySync();
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, plain(one)]));
};

// For each place, builds a graph with a hook and returns its root. A backward call from the root must call `run` once.
const kPlaces = {
  "a tensor hook": (run) => {
    const y = leaf([1]).mul(2);
    y.registerHook(run);
    return y;
  },
  "a hook of a leaf": (run) => {
    const x = leaf([1]);
    x.registerHook(run);
    return x.mul(2);
  },
  "a post-accumulate hook": (run) => {
    const x = leaf([1]);
    x.registerPostAccumulateGradHook(run);
    return x.mul(2);
  },
  "a node's hook": (run) => {
    const y = leaf([1]).mul(2);
    y.gradFn.registerHook(run);
    return y;
  },
  "a node's pre-hook": (run) => {
    const y = leaf([1]).mul(2);
    y.gradFn.registerPrehook(run);
    return y;
  },
  "an accumulator's hook": (run) => {
    const y = leaf([1]).mul(2);
    y.gradFn.nextFunctions[0][0].registerHook(run);
    return y;
  },
  "a module's full backward hook": (run) => {
    const layer = new nn.Linear(2, 1);
    layer.registerFullBackwardHook(run);
    return layer.call(leaf([1, 2]));
  },
  "a module's full backward hook without gradients of inputs": (run) => {
    const layer = new nn.Linear(2, 1);
    layer.registerFullBackwardHook(run);
    return layer.call(eg.tensor([1, 2]));
  },
  "the backward of a Function": (run) => {
    class Own extends autograd.Function {
      static forward(_ctx, x) {
        return x.clone();
      }
      static backward(_ctx, grad) {
        run();
        return grad;
      }
    }
    return Own.apply(leaf([1]));
  },
  "the backward of a Function that is differentiable once": (run) => {
    class Once extends autograd.Function {
      static onceDifferentiable = true;
      static forward(_ctx, x) {
        return x.clone();
      }
      static backward(_ctx, grad) {
        run();
        return grad;
      }
    }
    return Once.apply(leaf([1]));
  },
  "an unpack hook": (run) =>
    graph.savedTensorsHooks(
      (x) => x,
      (x) => {
        run();
        return x;
      },
      () => leaf([1]).exp(),
    ),
  "an unpack hook of a saved tensor": (run) => {
    const y = leaf([1]).exp();
    y.gradFn.rawSaved.result.registerHooks(
      (x) => x,
      (x) => {
        run();
        return x;
      },
    );
    return y;
  },
  "a multi-grad hook for all": (run) => {
    const [x, y] = [leaf([1]), leaf([2])];
    graph.registerMultiGradHook([x, y], run);
    return x.mul(y);
  },
  "a multi-grad hook for any": (run) => {
    const [x, y] = [leaf([1]), leaf([2])];
    graph.registerMultiGradHook([x, y], run, "any");
    return x.mul(y);
  },
  "a queued callback": (run) => {
    const y = leaf([1]).mul(2);
    y.registerHook(() => {
      graph.queueCallback(run);
    });
    return y;
  },
  "the function of a checkpoint, run again": (run) => {
    let isBackward = false;
    const fn = (x) => {
      // Done on each run, because every run must do the same.
      if (isBackward) run();
      else run(null);
      return x.exp();
    };
    const y = autograd.checkpoint(fn, leaf([1]));
    y.registerHook(() => {
      isBackward = true;
    });
    return y;
  },
  "a hook of a backward within a hook": (run) => {
    const y = leaf([1]).mul(2);
    y.registerHook(() => {
      const z = normally(() => leaf([1]));
      z.registerHook(run);
      recorded(() => z.mul(2).backward());
    });
    return y;
  },
};

// The ways to run the graph.
const kRuns = {
  backward: (y) => y.backward(),
  "backward with createGraph": (y) => y.backward(null, { createGraph: true, inputs: leavesOf(y) }),
  "backward in anomaly mode": (y) => autograd.detectAnomaly(() => y.backward()),
  "backward in inference mode": (y) => eg.inferenceMode(() => y.backward()),
  backwardAsync: (y) => y.backwardAsync(),
};

function leavesOf(root) {
  const pending = [root.gradFn];
  const leaves = [];
  for (const node of pending) {
    if (node.variable !== null && node.variable !== undefined) leaves.push(node.variable);
    pending.push(...node.nextFunctions.map(([next]) => next).filter((next) => next !== null));
  }
  return leaves;
}

const kAll = [
  ...Object.entries(kTransforms).map(([name, take]) => ({ name, take, inPlace: take })),
  ...Object.entries(kRecorded).map(([name, take]) => ({
    name,
    take,
    inPlace: () => recorded(take),
  })),
];

// A gradient check changes its inputs between saving and reading them, which a recomputed function must not do.
const isPossible = (place, name) => !(place.includes("checkpoint") && name.endsWith("gradcheck"));

const warn = console.warn;

describe("what is taken inside a backward is what it is outside", () => {
  for (const [place, build] of Object.entries(kPlaces)) {
    for (const [way, start] of Object.entries(kRuns)) {
      test(`${place}, ${way}`, async () => {
        console.warn = () => undefined;
        try {
          for (const { name, take, inPlace } of kAll) {
            if (!isPossible(place, name)) continue;
            const expected = plain(take());
            const found = [];
            const root = build((first) => {
              const result = plain(inPlace());
              if (first !== null) found.push(result);
            });
            await start(root);
            assert.deepEqual(found, [expected], name);
            assert.equal(eg.isGradEnabled(), true, name);
          }
        } finally {
          console.warn = warn;
        }
      });
    }
  }
});

describe("what is taken where nothing is recorded is what it is elsewhere, without a graph", () => {
  const modes = {
    noGrad: eg.noGrad,
    inferenceMode: eg.inferenceMode,
    "the forward of a Function": (fn) => {
      let result;
      class Own extends autograd.Function {
        static forward(_ctx, x) {
          result = fn();
          return x.clone();
        }
      }
      Own.apply(leaf([1]));
      return result;
    },
    "a pack hook": (fn) => {
      let result;
      graph.savedTensorsHooks(
        (x) => {
          result ??= eg.noGrad(() =>
            graph.savedTensorsHooks(
              (y) => y,
              (y) => y,
              fn,
            ),
          );
          return x;
        },
        (x) => x,
        () => leaf([1]).exp(),
      );
      return result;
    },
  };
  for (const [mode, within] of Object.entries(modes)) {
    for (const [name, take] of Object.entries(kTransforms)) {
      test(`${name}, ${mode}`, () => {
        const expected = plain(take());
        const result = within(take);
        assert.deepEqual(plain(result), expected);
        for (const one of [result].flat(3)) {
          if (one instanceof eg.Tensor) assert.equal(one.requiresGrad, false);
        }
      });
    }
  }

  const w = leaf([2, 3], { dtype: "float64" });
  const ofOuter = {
    grad: () => func.grad((x) => x.mul(w).pow(2).sum())(w),
    vjp: () => func.vjp((x) => x.mul(w), w)[1](w)[0],
    jvp: () => func.jvp((x) => x.mul(w), [w], [w])[1],
    jacrev: () => func.jacrev((x) => x.mul(w))(w),
    jacfwd: () => func.jacfwd((x) => x.mul(w))(w),
    linearize: () => func.linearize((x) => x.mul(w), w)[1](w),
    "vmap of grad": () => func.vmap(func.grad((x) => x.pow(3)))(w),
  };
  for (const [name, take] of Object.entries(ofOuter)) {
    test(`${name} of what requires a gradient: recorded outside as the mode around says`, () => {
      const expected = take();
      assert.equal(expected.requiresGrad, true);
      for (const mode of [eg.noGrad, eg.inferenceMode]) {
        const result = mode(take);
        assert.equal(result.requiresGrad, false);
        assert.deepEqual(plain(result), plain(expected));
      }
    });
  }

  test("a function that is differentiated under noGrad records, and noGrad inside of it holds", () => {
    const states = [];
    eg.noGrad(() =>
      func.grad((x) => {
        states.push(eg.isGradEnabled());
        eg.noGrad(() => states.push(eg.isGradEnabled()));
        return x.square();
      })(T(1)),
    );
    assert.deepEqual(states, [true, false]);
    assert.equal(eg.isGradEnabled(), true);
  });

  test("inputs that were made in inference mode can be differentiated by", () => {
    const x = eg.inferenceMode(() => T([1, 2]));
    assert.deepEqual(plain(func.grad(sumOfCubes)(x)), [3, 12]);
    assert.deepEqual(plain(functional.jacobian(cubes, x)), [
      [3, 0],
      [0, 12],
    ]);
  });
});
