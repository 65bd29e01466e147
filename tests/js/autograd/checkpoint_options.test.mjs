// The options of checkpoint(): early stop, contexts, debug, selective checkpoints, the re-entrant form, sequences.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertTensor, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { assertFlat, leaf } from "../support/graphs.mjs";

const {
  checkpoint,
  checkpointSequential,
  CheckpointPolicy,
  createSelectiveCheckpointContexts,
  grad,
  setCheckpointDebugEnabled,
  setCheckpointEarlyStop,
} = eg.autograd;

const nearly = { atol: 1e-6 };
const derivative = (fn, x) => grad(fn(x).sum(), x)[0].dataSync();
const chain = (x) => x.sin().cos().exp();

/** Returns a function that is `first` in its first call and `again` in the others. */
function changing(first, again) {
  let calls = 0;
  return (x) => (calls++ === 0 ? first(x) : again(x));
}

describe("checkpoint options", () => {
  test("come last, and the function gets what else is in that object", () => {
    const x = leaf([2]);
    const fn = (a, options) => a.mul(options?.by ?? 1).exp();
    assertTensor(checkpoint(fn, x, { by: 3, debug: false }), [Math.exp(6)], { rtol: 1e-5 });
    assertTensor(checkpoint(fn, x, { by: 3 }), [Math.exp(6)], { rtol: 1e-5 });
    assertTensor(checkpoint(fn, x, { preserveRngState: true }), [Math.exp(2)], { rtol: 1e-5 });
    assertThrows(
      () => checkpoint(fn, x, { debug: 1 }),
      "InvalidArgument",
      /debug: expected true or false/,
    );
  });

  test("setCheckpointEarlyStop(false) runs the whole function again", () => {
    // rule: checkpoint-early-stop
    const count = (work) => {
      let calls = 0;
      // A clone saves nothing.
      const fn = (x) => {
        const y = x.sin().cos();
        calls++;
        return y.clone();
      };
      const x = leaf([1]);
      work(() => checkpoint(fn, x)).backward();
      return calls;
    };
    assert.equal(
      count((run) => run()),
      1,
    );
    assert.equal(
      count((run) => setCheckpointEarlyStop(false, run)),
      2,
    );
    assert.equal(
      count((run) => setCheckpointEarlyStop(false, () => setCheckpointEarlyStop(true, run))),
      1,
    );
    const guard = setCheckpointEarlyStop(false);
    try {
      assert.equal(
        count((run) => run()),
        2,
      );
    } finally {
      guard[Symbol.dispose]();
    }
    assert.equal(
      count((run) => run()),
      1,
    );
  });

  test("a derivative inside of a checkpoint works with and without early stop", () => {
    const f = (x) => x.sin().exp().sin();
    const derived = (fn) => (x) => grad(fn(x), x, { createGraph: true })[0];
    const saved = (fn) => (x) => checkpoint(fn, x);
    const x = leaf(0.7);
    for (const stops of [true, false]) {
      setCheckpointEarlyStop(stops, () => {
        for (const [expected, ...actual] of [
          [derived(f), derived(saved(f)), derived(saved(saved(f)))],
          [
            derived(derived(f)),
            derived(saved(derived(f))),
            saved(derived(derived(saved(f)))),
            derived(saved(derived(saved(f)))),
          ],
          [derived(derived(derived(f))), derived(saved(derived(saved(derived(saved(f))))))],
        ]) {
          for (const one of actual) assertTensor(one(x), [expected(x).item()], nearly);
        }
      });
    }
  });

  test("a second run that differs is an error", () => {
    // rule: checkpoint-determinism
    const two = (x) => x.sin().exp();
    const three = (x) => x.sin().exp().sin();
    const other = (x) => x.sin().mul(eg.tensor([1, 2]));
    const run = (first, again, options = {}) =>
      checkpoint(changing(first, again), leaf([1]), options)
        .sum()
        .backward();
    assertThrows(() => run(three, two), "InvalidArgument", /saved 2 tensors, the forward 3/);
    // What comes after the last saved tensor has no effect.
    run(two, three);
    assertThrows(
      () => setCheckpointEarlyStop(false, () => run(two, three)),
      "InvalidArgument",
      /the recomputation saved more tensors than the forward/,
    );
    assertThrows(
      () => run(two, other),
      "InvalidArgument",
      /differ from those of the forward in shape/,
    );
    run(
      (x) => x.exp(),
      (x) => x.double().exp().float(),
      { determinismCheck: "none" },
    );
    assertThrows(
      () => run(two, other, { determinismCheck: "some" }),
      "InvalidArgument",
      /determinismCheck/,
    );
  });

  test("debug shows the operations of both runs", () => {
    const run = (options, around = (work) => work()) => {
      const fn = changing(
        (x) => x.sin().exp(),
        (x) => x.cos().mul(eg.tensor([1, 2])),
      );
      around(() =>
        checkpoint(fn, leaf([1]), options)
          .sum()
          .backward(),
      );
    };
    const shown = /the forward: sin exp\nof the recomputation: cos mul/;
    assertThrows(() => run({ debug: true }), "InvalidArgument", shown);
    assertThrows(
      () => run({}, (work) => setCheckpointDebugEnabled(true, work)),
      "InvalidArgument",
      shown,
    );
    assert.throws(
      () => run({ debug: true }, (work) => setCheckpointDebugEnabled(false, work)),
      (error) => !shown.test(error.message),
    );
    assertThrows(
      () => run({ debug: true, contextFn: () => [null, null] }),
      "InvalidArgument",
      /debug cannot be combined with contextFn/,
    );
  });

  test("contextFn runs functions around both runs", () => {
    const order = [];
    const noting = (name) => (run) => {
      order.push(`${name} begins`);
      try {
        return run();
      } finally {
        order.push(`${name} ends`);
      }
    };
    const fn = (x) => {
      order.push("runs");
      return x.exp().exp();
    };
    const x = leaf([0.5]);
    const y = checkpoint(fn, x, { contextFn: () => [noting("first"), noting("second")] });
    assert.deepEqual(order, ["first begins", "runs", "first ends"]);
    y.backward();
    assert.deepEqual(order.slice(3), ["second begins", "runs", "second ends"]);
    checkpoint(fn, x, { contextFn: () => [null, null] }).backward();
    assertThrows(
      () => checkpoint(fn, x, { contextFn: () => noting("one") }),
      "InvalidArgument",
      /contextFn must return \[around the forward, around the recomputation\]/,
    );
    assertThrows(
      () => checkpoint(fn, x, { contextFn: () => [null, null], useReentrant: true }),
      "InvalidArgument",
      /only supported without useReentrant/,
    );
  });

  test("preserveRngState: false draws other numbers the second time", () => {
    // rule: checkpoint-random-numbers
    const masks = [];
    const fn = (x) => {
      const mask = eg.randLike(x);
      masks.push(mask.tolist());
      return x.mul(mask).exp();
    };
    const run = (options) => {
      masks.length = 0;
      eg.manualSeed(3);
      checkpoint(fn, leaf([1, 2]), options)
        .sum()
        .backward();
      return masks;
    };
    const [first, again] = run({});
    assert.deepEqual(first, again);
    const [one, two] = run({ preserveRngState: false });
    assert.notDeepEqual(one, two);
  });
});

describe("selective checkpoints", () => {
  const selective = (policy, options) => ({
    contextFn: () => createSelectiveCheckpointContexts(policy, options),
  });

  /** Compares the gradients of a selective checkpoint with those of `fn`. */
  function assertSame(fn, inputs, policy) {
    const grads = grad(checkpoint(fn, ...inputs, selective(policy)).sum(), inputs);
    const expected = grad(fn(...inputs).sum(), inputs);
    grads.forEach((one, i) => {
      assertTensor(one, expected[i].dataSync(), nearly);
    });
  }

  test("compute the same gradients, whatever is stored", () => {
    // rule: checkpoint-selective
    const [x, y] = [leaf([0.1, 0.2, 0.3, 0.4]), leaf([1, 2, 3, 4])];
    const fn = (a, b) => {
      const [first, second] = [a.cos().reshape(2, 2), b.reshape(2, 2)];
      const [values] = first.matmul(second).sin().max(1);
      return eg.nn.functional.layerNorm(values.exp(), [2]).mul(b.at([[0, 1]]));
    };
    for (const policy of [
      ["mm"],
      ["matmul", "exp"],
      ["layerNorm", "max", "reshape"],
      () => true,
      () => false,
      () => CheckpointPolicy.MUST_SAVE,
      () => CheckpointPolicy.PREFER_RECOMPUTE,
      (_ctx, op) => (op === "sin" ? CheckpointPolicy.PREFER_SAVE : CheckpointPolicy.MUST_RECOMPUTE),
    ]) {
      assertSame(fn, [x, y], policy);
    }
  });

  test("run what is stored only once", () => {
    let calls = 0;
    class Counted extends eg.autograd.Function {
      static forward(_ctx, x) {
        calls++;
        return x.clone();
      }
      static backward(_ctx, grad) {
        return grad;
      }
    }
    const asked = [];
    const policy = ({ isRecompute }, op, values) => {
      asked.push(`${isRecompute ? "again" : "first"} ${op}`);
      assert.ok(values.input instanceof eg.Tensor);
      return op === "exp";
    };
    const x = leaf([0.5, 1]);
    checkpoint((a) => Counted.apply(a.exp().sin()).cos(), x, selective(policy))
      .sum()
      .backward();
    assert.equal(calls, 2);
    // A Function is not an operation, but consists of them.
    assert.deepEqual(asked, [
      "first exp",
      "first sin",
      "first clone",
      "first cos",
      "again exp",
      "again sin",
      "again clone",
      "again cos",
    ]);
    assertTensor(
      x.grad,
      derivative((a) => a.exp().sin().cos(), x),
      nearly,
    );
  });

  test("continue random numbers after a stored operation", () => {
    const x = leaf([1, 2, 3, 4]);
    const fn = (a) => {
      const first = eg.nn.functional.dropout(a.exp(), 0.5);
      return eg.nn.functional.dropout(first.sin(), 0.5).sin();
    };
    const seeded = (run) => {
      eg.manualSeed(11);
      return grad(run().sum(), x)[0].dataSync();
    };
    const expected = seeded(() => fn(x));
    assertTensor(
      eg.tensor([
        ...seeded(() =>
          checkpoint(
            fn,
            x,
            selective(() => true),
          ),
        ),
      ]),
      expected,
      nearly,
    );
    assertTensor(
      eg.tensor([...seeded(() => checkpoint(fn, x, selective(["dropout"])))]),
      expected,
      nearly,
    );
  });

  test("refuse stored results that were changed, unless that is allowed", () => {
    const fn = (x) => x.sin().mul_(2).cos().exp();
    const x = leaf([1]);
    assertThrows(
      () =>
        checkpoint(fn, x, selective(["sin"]))
          .sum()
          .backward(),
      "ModifiedInPlace",
      /a stored result of sin has been changed in place/,
    );
    checkpoint(fn, x, selective(["sin"], { allowCacheEntryMutation: true }))
      .sum()
      .backward();
  });

  test("allow one backward call, and say so", () => {
    const x = leaf([1]);
    const y = checkpoint(chain, x, selective(["sin"]));
    y.sum().backward(null, { retainGraph: true });
    assertThrows(
      () => y.sum().backward(null, { retainGraph: true }),
      "InvalidArgument",
      /stored results of sin were already used/,
    );
    const other = changing(
      (a) => a.cos().exp().exp(),
      (a) => a.sin().exp().exp(),
    );
    assertThrows(
      () =>
        checkpoint(other, x, selective(["sin"]))
          .sum()
          .backward(),
      "InvalidArgument",
      /sin was called again, but not in the forward/,
    );
    for (const wrong of [2, [2], null]) {
      assertThrows(
        () => createSelectiveCheckpointContexts(wrong),
        "InvalidArgument",
        /a function, or an array of names of operations/,
      );
    }
  });

  test("leave nothing behind, whether backward runs or not", () => {
    assertFlat(() => {
      eg.scope(() => {
        checkpoint(
          chain,
          leaf([1, 2]),
          selective(() => true),
        )
          .sum()
          .backward();
        checkpoint(
          chain,
          leaf([1, 2]),
          selective(() => true),
        );
      });
    });
  });
});

describe("checkpoint with useReentrant", () => {
  const reentrant = { useReentrant: true };

  test("computes the same gradients, of parameters too", () => {
    // rule: checkpoint-reentrant
    const w = leaf([3]);
    const x = leaf([0.5]);
    let calls = 0;
    const fn = (a, factor, b) => {
      calls++;
      return [a.mul(w).sin().mul(factor), b, "text"];
    };
    const [y, same, text] = checkpoint(fn, x, 2, eg.tensor([7]), reentrant);
    assert.equal(y.gradFn.name, "CheckpointFunctionBackward");
    assert.equal(text, "text");
    assertTensor(same, [7]);
    y.sum().backward();
    assert.equal(calls, 2);
    assertTensor(x.grad, [6 * Math.cos(1.5)], nearly);
    assertTensor(w.grad, [Math.cos(1.5)], nearly);
  });

  test("repeats random numbers", () => {
    const x = leaf([1, 2, 3]);
    const fn = (a) => eg.nn.functional.dropout(a.exp(), 0.5);
    eg.manualSeed(5);
    const expected = grad(fn(x).sum(), x)[0];
    eg.manualSeed(5);
    checkpoint(fn, x, reentrant).sum().backward();
    assertTensor(x.grad, expected.dataSync(), nearly);
  });

  test("refuses grad() and inputs, and works again after that", () => {
    // rule: checkpoint-reentrant-refused
    const x = leaf([1]);
    const y = () => checkpoint((a) => a.exp(), x, reentrant).sum();
    assertThrows(() => grad(y(), x), "InvalidArgument", /gradients cannot be computed by grad\(\)/);
    assertThrows(
      () => y().backward(null, { inputs: [x] }),
      "InvalidArgument",
      /by backward\(\) with inputs/,
    );
    y().backward();
    assertTensor(x.grad, [Math.E], nearly);
    assertThrows(
      () =>
        checkpoint((a) => a.detach(), x, reentrant)
          .sum()
          .backward(),
      "NotDifferentiable",
      /no result of the function requires a gradient/,
    );
  });

  test("warns once if no input requires a gradient", (t) => {
    // rule: checkpoint-reentrant-refused
    const warn = t.mock.method(console, "warn", () => {});
    for (let i = 0; i < 2; i++) checkpoint((a) => a.exp(), eg.tensor([1]), reentrant);
    assert.ok(warn.mock.callCount() <= 1);
    assert.equal(checkpoint((a) => a.exp(), eg.tensor([1]), reentrant).requiresGrad, false);
  });

  test("leaves nothing behind", () => {
    assertFlat(() => {
      eg.scope(() => {
        checkpoint(chain, leaf([1]), reentrant)
          .sum()
          .backward();
        checkpoint(chain, leaf([1]), reentrant);
      });
    });
  });
});

describe("checkpointSequential", () => {
  test("computes segments again, but not the last one", () => {
    const counts = [0, 0, 0, 0, 0];
    const parts = counts.map((_, i) => (x) => {
      counts[i]++;
      return x.mul(1.1).sin();
    });
    for (const options of [{}, { useReentrant: true }, { preserveRngState: false }]) {
      counts.fill(0);
      const x = leaf([1, 2]);
      const expected = derivative((a) => parts.reduce((y, part) => part(y), a), x);
      counts.fill(0);
      checkpointSequential(parts, 2, x, options).sum().backward();
      assert.deepEqual(counts, [2, 2, 1, 1, 1]);
      assertTensor(x.grad, expected, nearly);
    }
  });

  test("takes a Sequential", () => {
    const model = new eg.nn.Sequential(
      new eg.nn.Linear(2, 3),
      new eg.nn.ReLU(),
      new eg.nn.Linear(3, 1),
    );
    const x = eg.ones([4, 2]);
    const expected = model.call(x).sum();
    const y = checkpointSequential(model, 3, x).sum();
    assertTensor(y, expected.dataSync());
    y.backward();
    assert.ok(model[0].weight.grad !== null);
    assertThrows(
      () => checkpointSequential(model, 4, x),
      "InvalidArgument",
      /segments: expected at most 3/,
    );
    for (const wrong of [undefined, (one) => one, [5], [null]]) {
      assertThrows(
        () => checkpointSequential(wrong, 1, x),
        "InvalidArgument",
        /functions: expected functions or modules in an array/,
      );
    }
  });
});
