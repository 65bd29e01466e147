// Every public function and class with options rejects an unknown option, and the error names
// the function. The calls are the samples of the op table and the composites, and the fuzzer's recipes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { fill } from "../../fuzz/recipe_calls.mjs";
import { kRecipes } from "../../fuzz/recipes/index.mjs";
import { surfaceOf } from "../../fuzz/surface.mjs";
import { compositeTable } from "../support/composite_samples.mjs";
import { eg } from "../support/engine.mjs";
import { functionOf, opTable, samplesOf } from "../support/op_samples.mjs";

const kUnknown = "{ notAnOption: 1 }";

// Functions without options: their last argument is something else, belongs to the user, or is not checked.
const kWithoutOptions = new Set(
  `
  eg.autograd.Function eg.autograd.FunctionContext eg.autograd.checkpoint eg.autograd.forwardAd.dualLevel
  eg.autograd.setCheckpointDebugEnabled eg.autograd.setCheckpointEarlyStop
  eg.autograd.forwardAd.makeDual eg.autograd.forwardAd.unpackDual eg.autograd.graph.disableSavedTensorsHooks
  eg.autograd.graph.getGradientEdge eg.autograd.graph.queueCallback eg.autograd.graph.registerMultiGradHook
  eg.autograd.graph.savedTensorsHooks eg.autograd.graph.allowMutationOnSavedTensors eg.autograd.graph.incrementVersion
  eg.autograd.graph.unsafePreserveVersionCounter
  eg.broadcastShapes eg.capture eg.errorFrom eg.onDeviceLost eg.toCanvas eg.data.TensorDataset eg.data.idx eg.distributions.Distribution
  eg.distributions.ExponentialFamily eg.distributions.Transform eg.distributions.bijectTo eg.distributions.transformTo
  eg.distributions.constraints.cat eg.distributions.constraints.halfOpenInterval eg.distributions.constraints.stack
  eg.getDefaultDtype eg.setDefaultDtype eg.distributions.constraints.Constraint eg.distributions.constraints.greaterThan
  eg.distributions.constraints.greaterThanEq eg.distributions.constraints.independent
  eg.distributions.constraints.integerInterval eg.distributions.constraints.interval
  eg.distributions.constraints.lessThan eg.distributions.constraints.multinomial
  eg.distributions.klDivergence eg.distributions.registerKl eg.einsum eg.enableGrad eg.equal eg.expose eg.finfo
  eg.func.linearize eg.func.stackModuleState eg.func.vjp eg.iinfo eg.inferenceMode eg.isGradEnabled
  eg.isInferenceModeEnabled eg.keep eg.manualSeed eg.memory eg.nn.Identity eg.nn.LazyModuleMixin eg.nn.ModuleDict eg.nn.ParameterDict
  eg.nn.Sequential eg.nn.init.fans eg.nn.utils.parametrize.ParametrizationList
  eg.nn.utils.prune.BasePruningMethod eg.nn.utils.prune.PruningContainer eg.nn.utils.rnn.PackedSequence eg.noGrad
  eg.optim.Optimizer eg.optim.lrScheduler.BaseScheduler eg.optim.lrScheduler.LRScheduler eg.random.getState
  eg.random.initialSeed eg.random.manualSeed eg.random.seed eg.random.setState eg.runtime eg.scope eg.setGradEnabled
  eg.setWarnAlways eg.slice eg.Slice eg.EdgeGradError eg.testing.tensorsAreEqual eg.webgpuStats
  `
    .trim()
    .split(/\s+/),
);

// Ops and composites that have a sample, and their in-place forms.
const ops = [...opTable, ...compositeTable].flatMap((op) =>
  [op.js, `${op.js}_`]
    .filter((js) => typeof functionOf(js) === "function" && !kWithoutOptions.has(`eg.${js}`))
    .flatMap((js) =>
      samplesOf(op)
        .slice(0, 1)
        .map((sample) => ({ js, sample })),
    ),
);

describe("an unknown option is refused by every op and composite:", () => {
  for (const { js, sample } of ops) {
    test(js, () =>
      eg.scope(() => {
        const args = sample.make();
        const options = isOptions(args.at(-1)) ? args.pop() : {};
        const call = () => functionOf(js)(...args, { ...options, notAnOption: 1 });
        assertRefused(call, js, `${js}(${sample.text})`);
      }),
    );
  }
});

describe("an unknown option is refused by what recipes call:", () => {
  const called = new Set();
  for (const recipe of kRecipes) {
    test(recipe.join("; ").slice(0, 100), async () => {
      const values = {};
      await eg.scope(async () => {
        for (const [i, line] of recipe.entries()) {
          const text = fill(line, 0);
          for (const call of callsIn(text)) await refusedCall(text, call, values, called);
          values[`t${i}`] = await run(text, values).catch(() => undefined);
        }
      });
    });
  }

  test("and that is everything public", () => {
    const tested = new Set(ops.map(({ js }) => functionOf(js)));
    const others = surfaceOf(eg).filter(
      ({ text }) =>
        !called.has(text) && !kWithoutOptions.has(text) && !tested.has(publicValue(text)),
    );
    assert.deepEqual(
      others.map(({ text }) => text),
      [],
    );
    const names = new Set(surfaceOf(eg).map(({ text }) => text));
    assert.deepEqual(
      [...kWithoutOptions].filter((name) => !names.has(name) || called.has(name)),
      [],
    );
  });
});

async function refusedCall(text, call, values, called) {
  const name = call.name.split(".").at(-1);
  if (call.name.startsWith("eg.")) {
    if (kWithoutOptions.has(call.name) || called.has(call.name)) return;
    called.add(call.name);
  } else if (!call.hasOptions) return;
  const line = text.slice(0, call.start) + call.withUnknown + text.slice(call.end);
  await assert.rejects(
    () => run(line, values),
    (error) => isRefusal(error, name, line),
  );
}

function assertRefused(call, name, what) {
  assert.throws(call, (error) => isRefusal(error, name, what));
}

function isRefusal(error, name, what) {
  assert.ok(error instanceof eg.EdgeGradError, `${what}: ${error.stack}`);
  assert.equal(error.code, "InvalidArgument", what);
  const [, caller] =
    /^\[([\w.]+)\] (?:\S+: )?unknown option "notAnOption"/.exec(error.message) ?? [];
  assert.ok(caller !== undefined, `${what}: ${error.message}`);
  const plain = (spelling) => spelling.split(".").at(-1).replaceAll("_", "").toLowerCase();
  // An error of a method may name its class.
  if (!what.includes("v.t")) assert.equal(plain(caller), plain(name), what);
  return true;
}

const AsyncFunction = (async () => {}).constructor;

async function run(text, values) {
  return new AsyncFunction("eg", "v", `return ${text}`)(eg, values);
}

// Finds the calls of the package's functions, classes and methods, with the positions of their arguments in the source text.
function callsIn(text) {
  return Array.from(text.matchAll(/(?:\beg(?:\.\w+)+|\bv\.t\d+(?:\.\w+)+)\(/g), (match) => {
    const start = match.index + match[0].length;
    const end = endOf(text, start);
    const given = text.slice(start, end);
    const options = /(?:^|, )\{((?: \w+: (?:[^{}]|\{[^{}]*\})*)?)\}$/.exec(given);
    const more = given === "" ? kUnknown : `${given}, ${kUnknown}`;
    const joined = `${given.slice(0, -1)}, notAnOption: 1 }`;
    return {
      name: match[0].slice(0, -1),
      start,
      end,
      hasOptions: options !== null,
      withUnknown: options === null ? more : joined,
    };
  });
}

function endOf(text, start) {
  let depth = 1;
  let at = start;
  for (; depth > 0; at++) {
    if ("([{".includes(text[at])) depth++;
    if (")]}".includes(text[at])) depth--;
  }
  return at - 1;
}

function publicValue(path) {
  return path
    .split(".")
    .slice(1)
    .reduce((value, name) => value[name], eg);
}

function isOptions(value) {
  return Object.getPrototypeOf(value ?? 0) === Object.prototype && !("re" in value);
}
