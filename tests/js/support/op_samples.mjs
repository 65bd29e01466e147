// Sample calls of every op, made from the op table: elementwise ops are sampled inside their domains,
// the others say in `samples` what they want.

import { eg } from "./engine.mjs";
import { readJson } from "./files.mjs";

/** The op table, in the order of the ids. */
export const opTable = readJson("web/src/generated/op_table.json").ops;

/**
 * Returns functions that make the arguments of a sample call, from the same numbers each time.
 * Arguments are tensors (those of float64 and complex128 require a gradient) and plain values.
 */
export function samplesOf(op) {
  if (op.kind === "elementwise") return elementwiseSamples(op);
  return (op.samples ?? []).map((text) => ({ text, make: () => evaluate(text, makeRandom(text)) }));
}

// Every operand in full, and the second one broadcast.
function elementwiseSamples(op) {
  const operands = op.args.filter((arg) => arg.type === "operand");
  const shapes = [operands.map(() => [2, 3])];
  if (operands.length > 1) shapes.push(operands.map((_, i) => (i === 1 ? [3] : [2, 3])));
  return shapes.map((list) => {
    const calls = list.map((shape, i) => operandSample(operands[i], op.domains[i], shape));
    const text = calls.join(", ");
    return { text, make: () => evaluate(text, makeRandom(op.name)) };
  });
}

// A domain of one value is a mask, or a number that the op is not differentiated by.
function operandSample({ name }, [low, high], shape) {
  const text = JSON.stringify(shape);
  if (low < high) return `T(${text}, ${low}, ${high})`;
  return ["condition", "mask"].includes(name) ? `B(${text})` : String(low);
}

function evaluate(text, random) {
  const count = (shape) => shape.reduce((product, size) => product * size, 1);
  const fill = (Type, shape, value) => Type.from({ length: count(shape) }, value);
  const T = (shape, low = -2, high = 2) =>
    eg.tensor(
      fill(Float64Array, shape, () => low + (high - low) * random()),
      { shape, requiresGrad: true },
    );
  const C = (shape, low, high) => {
    const parts = eg.noGrad(() => T([...shape, 2], low, high)).detach();
    return eg.viewAsComplex(parts).requiresGrad_(true);
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
  return new Function("T", "C", "I", "B", `return [${text}];`)(T, C, I, B);
}

/** Returns a generator of numbers in [0, 1) that starts the same for the same text. */
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
