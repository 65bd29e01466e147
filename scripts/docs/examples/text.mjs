// Sample calls as the text of a program: T, C, I, B and Q of a sample (tests/js/support/op_samples.mjs) become tensors that a reader can check by hand.

import { makeRandom } from "../../../tests/js/support/op_samples.mjs";

const kMostNumbers = 12;

/** Returns the arguments of a sample as texts of code; those that are tensors are `isTensor`. */
export function argumentsOf(sample, seed) {
  const random = makeRandom(seed);
  const T = (shape, low = -2, high = 2) => tensor(real(shape, low, high, random));
  const C = (shape) => tensor(`eg.complex(${plain(shape, random)}, ${plain(shape, random)})`);
  const I = (shape, n) => {
    if (isLarge(shape)) return tensor(`eg.randint(${n}, ${list(shape)})`);
    return tensor(`eg.tensor(${nested(shape, () => `${Math.floor(n * random())}n`)})`);
  };
  const B = (shape) => {
    if (isLarge(shape)) return tensor(`eg.rand(${list(shape)}).lt(0.5)`);
    // Both values, whatever is drawn.
    let next = random() < 0.5;
    const draw = () => {
      next = !next;
      return String(next);
    };
    return tensor(`eg.tensor(${nested(shape, draw)})`);
  };
  const Q = (shape) => tensor(`eg.randint(256, ${list(shape)}, { dtype: "uint8" })`);
  const values = new Function("T", "C", "I", "B", "Q", `return [${sample}];`)(T, C, I, B, Q);
  return values.map((value) => ({ text: textOf(value), isTensor: value?.isTensor === true }));
}

const list = (shape) => `[${shape.join(", ")}]`;
const isLarge = (shape) => shape.reduce((count, size) => count * size, 1) > kMostNumbers;
const plain = (shape, random) => real(shape, -2, 2, random);

function real(shape, low, high, random) {
  if (!isLarge(shape)) {
    // The ends of a domain are outside of it, and so is what a rounded number may be.
    const draw = () => low + (high - low) * (0.05 + 0.9 * random());
    const digits = high - low < 1 ? 3 : 1;
    return `eg.tensor(${nested(shape, () => String(Number(draw().toFixed(digits))))})`;
  }
  if (low === -2 && high === 2) return `eg.randn(${list(shape)})`;
  const scale = high - low === 1 ? "" : `.mul(${Number((high - low).toFixed(3))})`;
  return `eg.rand(${list(shape)})${scale}${low === 0 ? "" : `.add(${low})`}`;
}

function nested([size, ...rest], draw) {
  if (size === undefined) return draw();
  return `[${Array.from({ length: size }, () => nested(rest, draw)).join(", ")}]`;
}

// Calls of methods on it are appended to the text.
function tensor(text) {
  const get = (self, name) => {
    if (name in self) return self[name];
    return (...args) => tensor(`${text}.${String(name)}(${args.map(textOf).join(", ")})`);
  };
  return new Proxy({ text, isTensor: true }, { get });
}

/** Returns the text of a value that may contain tensors. */
function textOf(value) {
  if (value?.isTensor) return value.text;
  if (Array.isArray(value)) return `[${value.map(textOf).join(", ")}]`;
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  const fields = Object.entries(value).map(([name, item]) => `${name}: ${textOf(item)}`);
  return `{ ${fields.join(", ")} }`;
}
