// Finds what every op supports on a device by running its samples in every dtype.
//
// A dtype that an op rejects with DtypeMismatch is not supported. The results in all other dtypes must agree with
// the most precise run of the same numbers: in float64 or complex128, and complex128 must agree with real numbers.
// Derivatives are checked against finite differences in float64 and complex128, and between the
// precisions below.

import { isDeepStrictEqual } from "node:util";
import { compositeTable } from "./composite_samples.mjs";
import { eg } from "./engine.mjs";
import { callOp, comparable, makeRandom, opTable, samplesOf } from "./op_samples.mjs";

/** All dtypes, in the order of the page. */
export const kDTypes = [
  "float32",
  "float64",
  "complex64",
  "complex128",
  "int32",
  "int64",
  "uint8",
  "bool",
];

// The same numbers with more precision: the dtype to draw numbers for, to store them as, and to compare with.
const kReferences = {
  float32: { drawn: "float32", stored: "float32", reference: "float64" },
  complex64: { drawn: "complex64", stored: "complex64", reference: "complex128" },
  complex128: { drawn: "float64", stored: "complex128", reference: "float64" },
};

const kRefusals = ["DtypeMismatch", "InvalidArgument"];
const kSingle = ["float32", "complex64"];
const kInexact = ["float32", "float64", "complex64", "complex128"];

// The ops of the engine and the composites.
const kAllOps = [...opTable.filter(({ kind }) => kind !== "internal"), ...compositeTable];

/**
 * Returns for every public op { op, forward, gradient, second, problems }: the dtypes whose values
 * are correct, and those whose derivatives are correct; null where there are no derivatives.
 * `problems` has { dtype, message } for other dtypes that the op did not reject.
 */
export function reportOps() {
  return kAllOps.map((op) => eg.scope(() => report(op)));
}

function report(op) {
  const result = { op, forward: [], gradient: null, second: null, problems: [] };
  const all = samplesOf(op);
  const isRandom = drawsNumbers(op, all);
  for (const dtype of kDTypes) {
    const attempt = (check) => {
      try {
        return eg.scope(check);
      } catch (error) {
        if (!kRefusals.includes(error.code))
          result.problems.push({ dtype, message: error.message });
        return false;
      }
    };
    const samples = all.filter(({ make }) => eg.scope(() => make(dtype)) !== null);
    if (!attempt(() => valuesAgree(op, samples, dtype, isRandom))) continue;
    result.forward.push(dtype);
    if (!kInexact.includes(dtype) || op.hasGradientOfItsOwn) continue;
    if (!attempt(() => isRecorded(op, samples, dtype))) continue;
    result.gradient ??= [];
    result.second ??= [];
    for (const [order, list] of [result.gradient, result.second].entries()) {
      if (attempt(() => derivativesAgree(op, samples, dtype, order))) list.push(dtype);
    }
  }
  return result;
}

function drawsNumbers(op, samples) {
  return eg.scope(() => {
    const args = samples[0].make();
    const runs = [1, 2].map((seed) => callOp(op, args, { seed }).map((one) => one.dataSync()));
    return !isDeepStrictEqual(...runs);
  });
}

// ---------------------------------------------------------------- values

// Returns true if some sample ran; throws if values are wrong. Some samples are only for floats, and
// their arguments are rejected for other dtypes.
function valuesAgree(op, samples, dtype, isRandom) {
  let count = 0;
  for (const sample of samples) {
    try {
      sampleAgrees(op, sample, dtype, isRandom);
      count++;
    } catch (error) {
      if (!kRefusals.includes(error.code)) throw error;
    }
  }
  return count > 0;
}

function sampleAgrees(op, { text, make }, dtype, isRandom) {
  const { drawn, stored, reference } = kReferences[dtype] ?? {
    drawn: dtype,
    stored: dtype,
    reference: "float64",
  };
  callOp(op, withDtype(op, make(dtype), dtype));
  if (isRandom) return;
  const actual = callOp(op, withDtype(op, make(drawn, stored), stored));
  const precise = make(drawn, reference);
  // Samples of complex numbers have no real counterpart to compare with.
  if (precise === null) return;
  const expected = callOp(op, withDtype(op, precise, reference));
  const all = dtype.startsWith("complex");
  const references = comparable(op, expected, { all });
  for (const [i, one] of comparable(op, actual, { all }).entries())
    assertAgree(one, references[i], `${text}, result ${i}`);
}

// Ops that create tensors receive the dtype as an option, beside those of the sample.
function withDtype(op, args, dtype) {
  if (op.kind !== "factory") return args;
  const last = args.at(-1);
  const hasOptions = last !== null && typeof last === "object" && last.constructor === Object;
  return hasOptions ? [...args.slice(0, -1), { ...last, dtype }] : [...args, { dtype }];
}

function assertAgree(actual, expected, what) {
  if (!isDeepStrictEqual(actual.shape, expected.shape)) {
    throw new Error(`${what}: shape [${actual.shape}], expected [${expected.shape}]`);
  }
  const [values, references] = [actual, expected].map(numbersOf);
  const tolerance = kSingle.includes(actual.dtype) ? 2e-5 : 1e-9;
  references.forEach(([re, im], i) => {
    const [a, b] = values[i];
    const e = converted(re, actual.dtype);
    // Where the real result is NaN, the complex result may be defined.
    if (Number.isNaN(e)) return;
    const isClose = (x, y) => Object.is(x, y) || Math.abs(x - y) <= tolerance * (1 + Math.abs(y));
    if (!(a === e || isClose(a, e)) || !isClose(b, im)) {
      throw new Error(`${what}: element ${i} is ${[a, b]}, expected ${[e, im]}`);
    }
  });
}

// Returns the elements as pairs of real and imaginary parts.
function numbersOf(tensor) {
  const data = tensor.dataSync();
  const isComplex = tensor.dtype.startsWith("complex");
  return Array.from({ length: tensor.numel }, (_, i) =>
    isComplex ? [data[2 * i], data[2 * i + 1]] : [Number(data[i]), 0],
  );
}

// Returns the value of a number in a dtype: integers are truncated and wrap around.
function converted(value, dtype) {
  if (dtype === "bool") return Number(value !== 0);
  if (dtype === "uint8") return ((Math.trunc(value) % 256) + 256) % 256;
  return dtype.startsWith("int") ? Math.trunc(value) : value;
}

// ---------------------------------------------------------------- derivatives

const leavesOf = (args) => args.flat().filter((arg) => arg?.requiresGrad === true);

function differentiableOf(op, args) {
  return comparable(op, callOp(op, args)).filter((output) => output.requiresGrad);
}

function isRecorded(op, samples, dtype) {
  return samples.some(({ make }) => differentiableOf(op, make(dtype)).length > 0);
}

// Returns true if all samples with a gradient pass; throws an error that describes the problem.
function derivativesAgree(op, samples, dtype, order) {
  for (const { text, make } of samples) {
    const args = make(dtype);
    if (differentiableOf(op, args).length === 0) continue;
    if (kSingle.includes(dtype)) compareDerivatives(op, make, dtype, order, text);
    else checkDerivatives(op, args, order);
  }
  return true;
}

// Compares with finite differences.
function checkDerivatives(op, args, order) {
  const leaves = leavesOf(args);
  const fn = (...values) => {
    let next = 0;
    const place = (arg) => {
      if (Array.isArray(arg)) return arg.map(place);
      return leaves.includes(arg) ? values[next++] : arg;
    };
    return differentiableOf(op, args.map(place));
  };
  const check = order === 0 ? eg.autograd.gradcheck : eg.autograd.gradgradcheck;
  check(fn, leaves, { atol: 1e-5, rtol: 1e-3 });
}

// Compares single precision with double precision.
function compareDerivatives(op, make, dtype, order, text) {
  const { reference } = kReferences[dtype];
  const [actual, expected] = [dtype, reference].map((stored) =>
    derivativesOf(op, make(dtype, stored), order),
  );
  actual.forEach((one, i) => {
    const [values, references] = [one, expected[i]].map((tensor) => numbersOf(tensor).flat());
    references.forEach((value, k) => {
      if (Math.abs(values[k] - value) <= 1e-3 * (1 + Math.abs(value)) || Number.isNaN(value))
        return;
      throw new Error(`${text}: derivative ${i} is ${values[k]} at ${k}, expected ${value}`);
    });
  });
}

function derivativesOf(op, args, order) {
  const leaves = leavesOf(args);
  const options = { createGraph: true, materializeGrads: true };
  let results = differentiableOf(op, args);
  for (let k = 0; k <= order; k++) {
    const recorded = results.filter(({ requiresGrad }) => requiresGrad);
    if (recorded.length === 0) return leaves.map((leaf) => leaf.mul(0));
    const gradOutputs = recorded.map((output, i) => weightsFor(output, `${op.js}${k}${i}`));
    results = eg.autograd.grad(recorded, leaves, { gradOutputs, ...options });
  }
  return results;
}

// The same random weights for both precisions.
function weightsFor({ shape, numel, dtype }, seed) {
  const random = makeRandom(seed);
  const values = Array.from({ length: numel }, () => Math.fround(0.5 + random()));
  return eg.tensor(values, { shape, dtype });
}
