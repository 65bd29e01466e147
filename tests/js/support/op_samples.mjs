// Sample calls of every op, generated from the op table: elementwise ops are sampled inside their domains,
// the others define their calls in `samples`.

import { eg } from "./engine.mjs";
import { readJson } from "./files.mjs";

/** The op table, in the order of the ids. */
export const opTable = readJson("web/src/generated/op_table.json").ops;

/**
 * Returns sample calls: `text`, and `make(dtype, stored)`, which returns the arguments, with the same
 * numbers each time: tensors (which require a gradient if possible) and plain values. With a dtype,
 * tensors have values that the dtype can represent, stored as `stored`, and samples of complex numbers are null
 * for real dtypes; without a dtype, tensors are float64 or complex128. Indices and masks keep their dtypes.
 */
export function samplesOf(op) {
  const texts = op.kind === "elementwise" ? elementwiseSamples(op) : (op.samples ?? []);
  return texts.map((text) => ({
    text,
    make: (dtype = null, stored = dtype) => {
      const random = makeRandom(op.kind === "elementwise" ? op.name : text);
      return evaluate(text, random, dtype, stored);
    },
  }));
}

/** Returns the function with a name, which may be in a namespace: "linalg.norm". */
export function functionOf(name) {
  return name.split(".").reduce((value, part) => value?.[part], eg);
}

/**
 * Calls an op reproducibly, including random ones; returns its results as an array. An op
 * that writes into its first argument receives a copy, because a leaf cannot be written to.
 */
export function callOp(op, args, { seed = 7 } = {}) {
  if (seed !== null) eg.manualSeed(seed);
  const [first, ...rest] = args;
  const result = functionOf(op.js)(...(op.js.endsWith("_") ? [first.clone(), ...rest] : args));
  return Array.isArray(result) ? result : [result];
}

// Vectors that are unique up to a sign or, for complex matrices, up to a factor of magnitude 1.
const kFreePhases = new Set(["eig", "eigh", "svd", "pcaLowrank", "svdLowrank"]);

/** Returns results in comparable form: complex results with an arbitrary phase, or with `all` also real ones, as magnitudes. */
export function comparable(op, results, { all = false } = {}) {
  if (!kFreePhases.has(op.js)) return results;
  return results.map((one) => (all || one.dtype.startsWith("complex") ? one.abs() : one));
}

// All operands with the full shape, and with the second one broadcast.
function elementwiseSamples(op) {
  const operands = op.args.filter((arg) => arg.type === "operand");
  const shapes = [operands.map(() => [2, 3])];
  if (operands.length > 1) shapes.push(operands.map((_, i) => (i === 1 ? [3] : [2, 3])));
  // At least one of the limits is required.
  const limit = op.args.some(({ type }) => type === "operand?") ? ["1"] : [];
  return shapes.map((list) =>
    list
      .map((shape, i) =>
        op.isOfIntegers
          ? `I(${JSON.stringify(shape)}, 7)`
          : operandSample(operands[i], op.domains[i], shape),
      )
      .concat(limit)
      .join(", "),
  );
}

// A domain with a single value is a mask, or a number with respect to which the op has no derivative.
function operandSample({ name }, [low, high], shape) {
  const text = JSON.stringify(shape);
  if (low < high) return `T(${text}, ${low}, ${high})`;
  return ["condition", "mask"].includes(name) ? `B(${text})` : String(low);
}

function evaluate(text, random, dtype, stored) {
  const count = (shape) => shape.reduce((product, size) => product * size, 1);
  const fill = (Type, shape, value) => Type.from({ length: count(shape) }, value);
  const filled = (shape, draw, type) => {
    const requiresGrad = type.startsWith("float") || type.startsWith("complex");
    return eg.tensor(fill(Array, shape, draw), { shape, dtype: type, requiresGrad });
  };
  const T = (shape, low = -2, high = 2) =>
    filled(shape, drawer(dtype ?? "float64", low, high, random), stored ?? "float64");
  let isPossible = true;
  const C = (shape, low = -2, high = 2) => {
    const type = stored ?? "complex128";
    isPossible &&= type.startsWith("complex");
    const part = drawer(dtype === "complex64" ? "float32" : "float64", low, high, random);
    return isPossible ? filled(shape, () => ({ re: part(), im: part() }), type) : null;
  };
  const I = (shape, n) =>
    eg.tensor(
      fill(BigInt64Array, shape, () => BigInt(Math.floor(n * random()))),
      { shape },
    );
  const B = (shape) =>
    eg.tensor(
      fill(Uint8Array, shape, () => Number(random() < 0.5)),
      { shape, dtype: "bool" },
    );
  const Q = (shape) =>
    eg.tensor(
      fill(Uint8Array, shape, () => Math.floor(256 * random())),
      { shape },
    );
  const args = new Function("T", "C", "I", "B", "Q", `return [${text}];`)(T, C, I, B, Q);
  return isPossible ? args : null;
}

// Returns a generator of values between low and high that a dtype can represent.
function drawer(dtype, low, high, random) {
  const real = () => low + (high - low) * random();
  if (dtype === "float64") return real;
  if (dtype === "float32") return () => Math.fround(real());
  if (dtype.startsWith("complex")) {
    const part = dtype === "complex64" ? Math.fround : Number;
    return () => ({ re: part(real()), im: part(random() - 0.5) });
  }
  const least = Math.ceil(["uint8", "bool"].includes(dtype) ? Math.max(low, 0) : low);
  const most = Math.floor(high);
  // Domains avoid points that only matter for finite differences, so a whole number just outside is also fine.
  const [from, to] = most < least ? [Math.max(Math.ceil(high), 0), 0] : [least, most];
  const draw = () => from + Math.floor(random() * (Math.max(to, from) - from + 1));
  return dtype === "bool" ? () => Math.min(draw(), 1) : draw;
}

/** Returns a generator of numbers in [0, 1) that is seeded by a string. */
export function makeRandom(text) {
  let state = [...text].reduce(
    (hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16777619),
    5,
  );
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    return (state >>> 8) / 2 ** 24;
  };
}
