// Anomaly mode, which finds the operation that makes a backward call fail.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { assertRejects, assertThrows } from "../support/assert.mjs";
import { eg } from "../support/engine.mjs";
import { leaf } from "../support/graphs.mjs";

const { detectAnomaly, Function: AutogradFunction, grad } = eg.autograd;

class Failing extends AutogradFunction {
  static forward(_ctx, x) {
    return x.clone();
  }
  static backward() {
    throw new Error("in backward");
  }
}

class NotANumber extends Failing {
  static backward(_ctx, gradient) {
    return gradient.mul(Number.NaN);
  }
}

/** Runs `fn` and returns its warnings. */
function warningsOf(t, fn) {
  const { mock } = t.mock.method(console, "warn", () => {});
  try {
    fn();
  } finally {
    mock.restore();
  }
  return mock.calls.map((call) => call.arguments.join(" "));
}

describe("detectAnomaly", () => {
  test("shows where the failing operation was called in the program", function here(t) {
    // rule: anomaly-origin
    const warnings = warningsOf(t, () =>
      detectAnomaly(() => {
        const y = (function theCulprit() {
          return Failing.apply(leaf([1]));
        })();
        assert.throws(() => y.backward(), /in backward/);
      }),
    );
    assert.equal(warnings.length, 1);
    assert.match(
      warnings[0],
      /backward failed in FailingBackward\. FailingBackward was made here:/,
    );
    assert.match(warnings[0], /theCulprit .*anomaly\.test\.mjs/);
    assert.doesNotMatch(warnings[0], /wasm:|dist\/index\.js/);
  });

  for (const [name, start] of Object.entries({
    backwardAsync: (loss) => loss.backwardAsync(),
    gradAsync: (loss, x) => eg.autograd.gradAsync(loss, [x]),
  })) {
    test(`a ${name} that begins in it is searched though it runs later, and others are not`, async (t) => {
      t.mock.method(console, "warn", () => {});
      const graph = () => {
        const x = leaf([1]);
        return [NotANumber.apply(x).sum(), x];
      };
      const [outside, inside] = [graph(), graph()];
      const calls = detectAnomaly(() => ({ searched: start(...inside) }));
      await assertRejects(calls.searched, "AnomalyNan", /NotANumberBackward/);
      await start(...outside);
      const unsearched = detectAnomaly(() => ({ call: start(...graph()) }), { checkNan: false });
      await unsearched.call;
      // The mode is off after overlapping calls have ended.
      const some = detectAnomaly(() => Array.from({ length: 3 }, () => start(...graph())));
      await Promise.all(some.map((call) => assertRejects(call, "AnomalyNan")));
      graph()[0].backward();
    });
  }

  test("says that it knows nothing of operations called outside of it", (t) => {
    // rule: anomaly-origin
    const y = Failing.apply(leaf([1]));
    const warnings = warningsOf(t, () => {
      detectAnomaly(() => assert.throws(() => y.backward(), /in backward/));
    });
    assert.match(warnings.join(), /backward failed in FailingBackward\. Its origin is unknown/);
    assert.deepEqual(
      warningsOf(t, () => assert.throws(() => Failing.apply(leaf([1])).backward())),
      [],
    );
  });

  test("shows the operation in whose backward the failing one was called", (t) => {
    // rule: anomaly-parents
    class Outer extends AutogradFunction {
      static forward(_ctx, x) {
        return x.clone();
      }
      static backward(_ctx, gradient) {
        return Failing.apply(gradient);
      }
    }
    const warnings = warningsOf(t, () =>
      detectAnomaly(() => {
        const x = leaf([1]);
        const [g] = grad(Outer.apply(x.mul(x)).square(), x, { createGraph: true });
        assert.throws(() => g.backward(), /in backward/);
      }),
    );
    assert.equal(warnings.length, 2);
    assert.match(warnings[0], /backward failed in FailingBackward/);
    assert.match(warnings[1], /made by backward of OuterBackward\. OuterBackward was made here/);
  });

  test("finds NaN, unless disabled, and restores everything", (t) => {
    // rule: anomaly-nan, anomaly-restored
    const run = () => NotANumber.apply(leaf([1])).backward();
    warningsOf(t, () => {
      assertThrows(
        () => detectAnomaly(run),
        "AnomalyNan",
        /NotANumberBackward returned NaN in gradient 0/,
      );
      detectAnomaly(
        () => {
          run();
          assertThrows(() => detectAnomaly(run), "AnomalyNan");
          run();
        },
        { checkNan: false },
      );
      run();
    });
  });

  test("returns the value, refuses promises, and leaves infinities alone", (t) => {
    // rule: anomaly-nan
    warningsOf(t, () => {
      const x = leaf([0]);
      assert.equal(
        detectAnomaly(() => 3),
        3,
      );
      detectAnomaly(() => x.sqrt().backward());
      assert.equal(x.grad.item(), Number.POSITIVE_INFINITY);
      assertThrows(() => detectAnomaly(async () => 1), "InvalidArgument", /promise/);
    });
  });

  test("keeps the place with the node", () => {
    const y = detectAnomaly(() => leaf([1]).exp());
    assert.match(y.gradFn.metadata.traceback_.join("\n"), /anomaly\.test\.mjs/);
    assert.deepEqual(Object.keys(leaf([1]).exp().gradFn.metadata), []);
  });

  test("leaves the limit of stack traces as it was", () => {
    const limit = Error.stackTraceLimit;
    detectAnomaly(() => leaf([1]).exp());
    assert.equal(Error.stackTraceLimit, limit);
  });
});
