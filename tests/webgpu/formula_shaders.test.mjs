// The shaders generated from formulas compute the same as the CPU's kernels, for every elementwise op.

import assert from "node:assert/strict";
import { test } from "node:test";
import { readJson } from "../js/support/files.mjs";
import { describe, evaluate, functionOf } from "./support/cpu_ops.mjs";
import { openDevice, Runner } from "./support/device.mjs";
import {
  contiguousText,
  formulas,
  forwardShader,
  gradientShader,
  workgroupSize,
} from "./support/formula_shader.mjs";
import { flushed, integersOf, kLargest, makeRandom, operandsOf } from "./support/operands.mjs";
import { toleranceOf } from "./support/tolerances.mjs";

const kConstants = readJson("tests/golden/formula_constants.json");
const kNoParams = [{ params: [], form: 0, forward: [], gradient: [] }];

const { device, reason } = await openDevice();
const runner = device && new Runner(device);
const options = { skip: reason ?? false };
if (reason) console.log(`Shaders are not run: ${reason}.`);

/** The parameters with which an op is tested, each with its form and the numbers in its formulas. */
function samplesOf(name) {
  const { forms } = formulas[name];
  const known = kConstants[name]?.map(({ params, form, forward, gradient }) => ({
    params: params.map(Number),
    form,
    forward: forward.map(Number),
    gradient: gradient.map(Number),
  }));
  // If none of its parameters is a number, an op has one parameter, which selects the form.
  const chosen = forms.map((_, form) => ({ params: [form], form, forward: [], gradient: [] }));
  return known ?? (forms.length > 1 ? chosen : kNoParams);
}

const asFloat = (x) => (Number.isFinite(x) ? Math.max(-kLargest, Math.min(kLargest, x)) : x);
const asInt32 = (x) => Math.max(-(2 ** 31), Math.min(2 ** 31 - 1, x));
const asInt64 = (x) => {
  if (Math.abs(x) < 2 ** 63) return BigInt(Math.trunc(x));
  return x > 0 ? 2n ** 63n - 1n : -(2n ** 63n);
};
const asUInt8 = (x) => Math.max(0, Math.min(255, x));
const kUniforms = {
  f32: (numbers) => Float32Array.from(numbers, asFloat),
  i32: (numbers) => Int32Array.from(numbers, asInt32),
  i64: (numbers) => BigInt64Array.from(numbers, asInt64),
  u32: (numbers) => Uint32Array.from(numbers, asUInt8),
};

const kArrays = { f32: Float32Array, i32: Int32Array, i64: BigInt64Array, u32: Uint32Array };

async function runShader(shader, arrays, numbers) {
  const inputs = shader.loads.map((name) => arrays[name]);
  const count = arrays.a.length;
  const constants = kUniforms[shader.type](shader.slots.map((position) => numbers[position]));
  const text = contiguousText(shader);
  const Type = shader.isBool ? Uint32Array : kArrays[shader.type];
  const stored = await runner.run(text, workgroupSize, {
    inputs,
    stores: shader.stores,
    count,
    bytes: Type.BYTES_PER_ELEMENT,
    constants,
  });
  return stored.map((buffer) => Array.from(new Type(buffer)));
}

// A tolerance of null accepts every result.
function isClose(actual, expected, tolerance) {
  if (tolerance === null) return true;
  const { relative, absolute } = tolerance;
  if (Number.isNaN(expected)) return Number.isNaN(actual);
  if (Object.is(actual, expected) || actual === expected) return true;
  // The largest number and infinity may differ by a rounding error only.
  const limited = (x) => Math.max(-kLargest, Math.min(kLargest, x));
  const difference = Math.abs(limited(actual) - limited(expected));
  return difference <= relative * Math.min(kLargest, Math.abs(expected)) + absolute;
}

/** Lines that describe where results differ from all values that the CPU may return. */
function differences(title, actual, candidates, columns, tolerance) {
  const wrong = actual.flatMap((value, i) =>
    candidates.some((expected) => isClose(value, expected[i], tolerance(columns, i))) ? [] : [i],
  );
  const lines = wrong
    .slice(0, 5)
    .map((i) => `(${columns.map((column) => column[i])}): ${actual[i]}, not ${candidates[0][i]}`);
  return wrong.length ? [`${title}: ${wrong.length} wrong, ${lines.join("; ")}`] : [];
}

// Evaluates the operands as they are, and with denormal numbers replaced by zeros, as a GPU may see them.
function bothWays(columns, evaluateOne) {
  return [evaluateOne(columns), evaluateOne(columns.map(flushed))];
}

async function forwardDifferences(name, sample) {
  const { domains, isMask, op } = describe(name, formulas[name].operands);
  const call = functionOf(name, op);
  const columns = limitedTo(name, operandsOf(domains));
  const expected = bothWays(columns, (some) =>
    evaluate(call, some, { isMask, params: sample.params }),
  );
  const arrays = Object.fromEntries(columns.map((column, i) => ["abc"[i], column]));
  const [actual] = await runShader(
    forwardShader(name, sample.form, "float32"),
    arrays,
    sample.forward,
  );
  const values = expected.map(({ value }) => value);
  const title = `${name}(${sample.params})`;
  return differences(title, actual, values, columns, toleranceOf(name, "forward"));
}

// The loss of probabilities is tested only for probabilities.
function limitedTo(name, columns) {
  if (name !== "binary_cross_entropy_error") return columns;
  const inside = (i) => columns.every((column) => column[i] >= 0 && column[i] <= 1);
  return columns.map((column) => column.filter((_, i) => inside(i)));
}

async function gradientDifferences(name, sample) {
  const { domains, isMask, op } = describe(name, formulas[name].operands);
  const { reads } = formulas[name].forms[sample.form].gradient;
  const inputs = domains.map((_, i) => i).filter((i) => reads[i] !== null);
  // Denormal numbers are flushed to zero on both sides, so that both compute the output that the formula reads from the same
  // operands.
  const columns = limitedTo(name, operandsOf(domains)).map(flushed);
  const random = makeRandom(11);
  // No huge numbers: the result would depend on whether a factor was denormal or zero.
  const specials = [NaN, 0, -0];
  const g = Float32Array.from(columns[0], (_, i) =>
    i % 31 === 0 ? specials[(i / 31) % specials.length] : 4 * random() - 2,
  );
  const call = functionOf(name, op);
  const { params } = sample;
  const { value, gradients } = evaluate(call, columns, { isMask, params, inputs, g });
  const arrays = Object.fromEntries(columns.map((column, i) => ["abc"[i], column]));
  arrays.g = g;
  arrays.y = Float32Array.from(value);
  const shader = gradientShader(name, sample.form, inputs);
  const results = await runShader(shader, arrays, sample.gradient);
  return inputs.flatMap((input, place) => {
    const zeros = new Array(g.length).fill(0);
    const expected = [gradients[place] ?? zeros];
    const title = `${name}(${params}), gradient ${input}`;
    const tolerance = toleranceOf(name, "gradient");
    return differences(title, results[place], expected, [...columns, g], tolerance);
  });
}

// The ops for which integer divisors must not be zero.
const kDivide = new Set(["fmod", "remainder", "floor_divide", "trunc_divide"]);

const truth = (x) => (typeof x === "bigint" ? x & 1n : x & 1);

async function integerDifferences(name, sample, dtype) {
  const { isMask, op } = describe(name, formulas[name].operands);
  const integers = integersOf(formulas[name].operands, dtype, kDivide.has(name));
  const columns = integers.map((column, i) => (isMask[i] ? column.map(truth) : column));
  const { params } = sample;
  const { value } = evaluate(functionOf(name, op), columns, { isMask, params, dtype });
  const arrays = Object.fromEntries(columns.map((column, i) => ["abc"[i], column]));
  const [actual] = await runShader(forwardShader(name, 0, dtype), arrays, sample.forward);
  const wrong = actual.flatMap((x, i) => (BigInt(x) === BigInt(value[i]) ? [] : [i]));
  const shown = wrong
    .slice(0, 5)
    .map((i) => `(${columns.map((column) => column[i])}): ${actual[i]}, not ${value[i]}`);
  return wrong.length ? [`${name}(${params}) of ${dtype}: ${shown.join("; ")}`] : [];
}

async function failuresOf(names, check, isWanted = () => true) {
  const failures = [];
  for (const name of names)
    for (const sample of samplesOf(name).filter(isWanted))
      failures.push(...(await check(name, sample)));
  return failures;
}

const names = Object.keys(formulas);

test("the value of every op is the CPU's", options, async () => {
  const ofFloats = names.filter((name) => formulas[name].forms[0].forward.float32);
  assert.equal((await failuresOf(ofFloats, forwardDifferences)).join("\n"), "");
});

test("the gradients of every op are the CPU's", options, async () => {
  const differentiable = names.filter((name) => formulas[name].forms[0].gradient);
  assert.equal((await failuresOf(differentiable, gradientDifferences)).join("\n"), "");
});

for (const dtype of ["int32", "int64", "uint8"]) {
  test(`ops that keep integers compute ${dtype} as the CPU does`, options, async () => {
    const keeping = names.filter((name) => formulas[name].forms[0].forward[dtype]);
    const check = (name, sample) => integerDifferences(name, sample, dtype);
    const isWhole = ({ params, form }) =>
      form === 0 && params.every((x) => Number.isInteger(x) || !Number.isFinite(x));
    assert.equal((await failuresOf(keeping, check, isWhole)).join("\n"), "");
  });
}

test("numbers are uniforms: other parameters take the same pipeline", options, async () => {
  const { pipelines } = runner;
  const samples = samplesOf("softplus");
  for (const sample of samples) await forwardDifferences("softplus", sample);
  assert.ok(samples.length > 1);
  assert.equal(runner.pipelines, pipelines);
});

test("a gradient that is not wanted is neither computed nor read for", () => {
  const { loads, stores } = gradientShader("mul", 0, [0]);
  assert.deepEqual({ loads, stores }, { loads: ["g", "b"], stores: 1 });
  const weighted = gradientShader("binary_cross_entropy_with_logits_error", 0, [2]);
  assert.deepEqual(weighted.loads, ["g", "a", "b"]);
  assert.doesNotMatch(weighted.values, /sigmoid/);
});

test("what a gradient's text loads is what the op saves", () => {
  for (const [name, { forms }] of Object.entries(formulas)) {
    for (const [form, { gradient }] of forms.entries()) {
      for (const [input, reads] of (gradient?.reads ?? []).entries()) {
        if (reads === null) continue;
        const { loads } = gradientShader(name, form, [input]);
        const saved = loads.filter((operand) => operand !== "g");
        assert.ok(
          saved.every((operand) => reads.includes(operand)),
          name,
        );
      }
    }
  }
});
