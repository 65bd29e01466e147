// Tests of the fuzzer itself: that it detects the faults it is meant to detect, and that it calls everything it is
// meant to call.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as eg from "edgegrad";
import { Runner } from "./cases.mjs";
import { fuzz, runProgram } from "./driver.mjs";
import { kOps, opCall } from "./op_calls.mjs";
import { Canaries } from "./oracle.mjs";
import { Program } from "./program.mjs";
import { Random } from "./random.mjs";
import { fill } from "./recipe_calls.mjs";
import { kRecipes } from "./recipes/index.mjs";
import { stress } from "./stress/driver.mjs";
import { surfaceOf } from "./surface.mjs";

const kFaults = new URL("support/faults.mjs", import.meta.url).href;
const kVariant = "single";

await eg.init({ variant: kVariant });

// Classes that are created by other classes, or are base classes.
const kNotMade = [
  "eg.distributions.ExponentialFamily",
  "eg.distributions.Transform",
  "eg.distributions.constraints.Constraint",
  "eg.nn.utils.parametrize.ParametrizationList",
  "eg.nn.utils.prune.BasePruningMethod",
  "eg.nn.utils.rnn.PackedSequence",
  "eg.optim.Optimizer",
];

/** Runs lines in a separate process; the last one contains the fault. */
function findingIn(texts, kind = "ops", maxSeconds = undefined) {
  const lines = texts.map((text) => ({ text, mayChange: false }));
  return runProgram({ variant: kVariant, lines, kind, faults: kFaults, maxSeconds });
}

for (const [name, run] of Object.entries({ fuzz, stress })) {
  test(`${name}() whose time is up while a process starts ends without a finding`, async (t) => {
    const until = Date.now();
    // For this process it is not up yet.
    t.mock.method(Date, "now", () => until - 1);
    const result = await run({ seed: 1, variant: kVariant, until });
    assert.deepEqual(result, { cases: 0, calls: 0, findings: [] });
  });
}

describe("the oracle notices", () => {
  for (const [what, texts, kind, message, caseKind, maxSeconds] of [
    ["a trap", ["faults.trap()"], "trap", /unreachable/],
    ["a process that aborts", ["faults.crash()"], "crash", /SIGABRT/],
    ["a process that ends", ["faults.exit()"], "crash", /7/],
    ["a call that never ends", ["faults.hang()"], "hang", /no progress for \d+ s/, "ops", 2],
    ["a tensor that is never freed", ["faults.leak()"], "leak", /tensors/],
    [
      "a tensor left to the garbage collector",
      ["faults.leakOfCall()"],
      "leak",
      /tensors/,
      "dispose",
    ],
    ["a write into a small canary tensor", ["faults.writeOver(0)"], "canary", /of 16/],
    ["a write into a large canary tensor", ["faults.writeOver(6)"], "canary", /of 64000/],
    ["a raw TypeError", ["faults.rawError()"], "raw error", /TypeError/],
    ["a stack overflow", ["faults.overflowStack()"], "raw error", /RangeError/],
    ["an unknown code", ['faults.fail("Odd", "[x] no")'], "unknown code", /Odd/],
    ["an internal error", ['faults.fail("Internal", "[x] no")'], "Internal", /no/],
    [
      "an error that names no op",
      ['faults.fail("InvalidArgument", "no")'],
      "no caller named",
      /no/,
    ],
    [
      "an operand changed by a failing call",
      ["eg.ones([2])", "faults.changeAndFail(v.t0)"],
      "changed operand",
      /t0/,
    ],
    [
      "an operand changed silently",
      ["eg.ones([2])", "faults.changeSilently(v.t0)"],
      "changed operand",
      /version 0 .* version 1/,
    ],
    ["a mode that is not restored", ["faults.leaveGradModeOff()"], "mode left on", /grad mode/],
    ["an engine that no longer computes", ["await faults.stopAndFail()"], "broken engine", /init/],
    [
      "an unhandled rejection",
      ["await (faults.rejectUnseen(), new Promise(setImmediate))"],
      "unhandled rejection",
      /not awaited/,
    ],
    [
      "65 dimensions",
      ["faults.tensorOf({ shape: Array(65).fill(1), numel: 1 })"],
      "bad tensor",
      /65/,
    ],
    [
      "a size that has overflowed",
      ["faults.tensorOf({ shape: [2 ** 32, 2 ** 32], numel: 0 })"],
      "bad tensor",
      /numel/,
    ],
    [
      "a view that extends beyond its storage",
      ["faults.tensorOf({ isView: true, dtype: 'float32', offset: 3, base: eg.ones([4]) })"],
      "out of bounds",
      /16 bytes/,
    ],
  ]) {
    test(what, async () => {
      const finding = await findingIn(texts, caseKind, maxSeconds);
      assert.equal(finding?.kind, kind, finding?.message);
      assert.match(finding.message, message);
    });
  }

  test("nothing in a correct program", async () => {
    const texts = [
      "eg.randn([2, 3], { requiresGrad: true })",
      "v.t0.exp()",
      "v.t1.at(7)",
      "v.t1.sum().backward()",
    ];
    assert.equal(await findingIn(texts), null);
  });
});

describe("a run", () => {
  test("is the same for the same seed", async () => {
    const runner = new Runner(eg, new Canaries(eg));
    const linesOf = async (seed, number) => (await runner.runCase(seed, number)).program.lines;
    for (let number = 0; number < 20; number++) {
      assert.deepEqual(await linesOf(5, number), await linesOf(5, number));
    }
    assert.notDeepEqual(await linesOf(5, 0), await linesOf(6, 0));
  });

  test("continues after a process that died, and reports what it was doing", async () => {
    const found = [];
    const { cases, findings } = await fuzz({
      seed: 1,
      variant: kVariant,
      only: ["faulty"],
      to: 3,
      faults: kFaults,
      onFinding: (finding) => found.push(finding),
    });
    assert.equal(cases, 3);
    assert.equal(findings.length, 1);
    assert.equal(findings[0].count, 3);
    assert.deepEqual(found, findings);
    // The finding has been shrunk.
    assert.deepEqual(
      found[0].lines.filter(({ text }) => text !== "undefined").map(({ text }) => text),
      ["faults.crash()"],
    );
  });
});

describe("programs reach", () => {
  test("every op of the table, as functions and in place", () => {
    const called = new Set();
    const program = {
      tensors: ["v.t0"],
      isTensor: (text) => text === "v.t0",
      make: () => "v.t0",
      run: (text) => called.add(/^(?:eg|v\.t0)\.([\w.]+)\(/.exec(text)[1]),
    };
    for (let i = 0; i < 20_000; i++) opCall(new Random(1, i), program);
    const expected = kOps.flatMap(({ js, inplace }) => (inplace ? [js, `${js}_`] : [js]));
    assert.deepEqual(
      expected.filter((name) => !called.has(name)),
      [],
    );
  });

  test("every function and class", () => {
    const names = surfaceOf(eg).map(({ text }) => text);
    for (const name of [
      "eg.tensor",
      "eg.scope",
      "eg.nn.Linear",
      "eg.nn.init.uniform_",
      "eg.optim.lrScheduler.StepLR",
    ]) {
      assert.ok(names.includes(name), name);
    }
    assert.ok(names.length > kOps.length);
  });

  test("every class of layers, optimizers, schedulers, distributions and data sets in a recipe", () => {
    const lines = kRecipes.flat().join("\n");
    const isReached = (text) => new RegExp(`\\b${text.replaceAll(".", "\\.")}\\(`).test(lines);
    const classes = surfaceOf(eg).filter(
      ({ text, isClass }) => isClass && /^eg\.(nn|optim|distributions|data)\./.test(text),
    );
    assert.ok(classes.length > 150);
    assert.deepEqual(
      classes.map(({ text }) => text).filter((text) => !isReached(text)),
      kNotMade,
    );
  });

  describe("everything that is not an op, through recipes that work unmodified", () => {
    for (const recipe of kRecipes) {
      test(recipe.join("; ").slice(0, 100), async () => {
        const errors = [];
        const program = new Program(eg, { onError: (error) => errors.push(error) });
        await eg.scope(async () => {
          for (const line of recipe) {
            const text = fill(line, 0);
            if (text.startsWith("await ")) await program.runAsync(text, { mayChange: true });
            else program.run(text, { mayChange: true });
            assert.equal(errors.splice(0).length, line.startsWith("!") ? 1 : 0, text);
            assert.equal(program.problem, null, text);
          }
          program.end();
        });
      });
    }
  });
});
