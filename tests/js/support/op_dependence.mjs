// Finds which results of an op depend on an element of its input, and the effect of a NaN or an infinity there.

import { eg } from "./engine.mjs";
import { callOp } from "./op_samples.mjs";

// A result that none of these changes affect does not depend on the element.
const kProbes = [(x) => x + 0.5, (x) => -x, () => 0.9, () => 1000, () => -1000];
// A change so small that it does not change which elements the op selects.
const kNudge = (x) => x + 2 ** -12;
// Limits the time for ops with many elements.
const kElements = 5;

/**
 * Puts NaN, then both infinities, into elements of every floating-point input, one at a time. Returns the
 * problems as text: results that depend on the element but not on its NaN (unless the op `ignoresNan`),
 * and results that do not depend on it but become NaN (unless it `spreadsNan`).
 */
export function wrongSpread(op, make, dtype) {
  const args = eg.noGrad(() => make(dtype));
  const wrong = [];
  if (args === null) return wrong;
  for (const [i, leaf] of args.flat().entries()) {
    if (!(leaf instanceof eg.Tensor) || leaf.dtype !== dtype) continue;
    const flat = leaf.detach().reshape([-1]);
    for (let k = 0; k < Math.min(leaf.numel, kElements); k++) {
      const where = `input ${i}, element ${k}`;
      wrong.push(...spreadOf(op, args, flat, k).map((what) => `${where}: ${what}`));
    }
  }
  return wrong;
}

function spreadOf(op, args, flat, k) {
  const original = flat.at(k).item();
  const run = (value) => {
    flat.set_([k], value);
    try {
      return eg.scope(() => floatsOf(callOp(op, args)));
    } catch (error) {
      // Some values are rejected, such as a probability of 10.
      if (error.code === "InvalidArgument") return null;
      throw error;
    } finally {
      flat.set_([k], original);
    }
  };
  const plain = run(original);
  const moved = (values) => plain.map((x, j) => !Object.is(x, values?.[j] ?? x));
  const follows = moved(run(kNudge(original)));
  const probes = kProbes.map((probe) => moved(run(probe(original))));
  // A single element has no other results to reach.
  const mayReachAll = op.spreadsNan || flat.numel === 1;
  const depends = plain.map((_, j) => follows[j] || probes.some((probe) => probe[j]));
  const wrong = [];
  for (const value of [Number.NaN, Infinity, -Infinity]) {
    const values = run(value);
    values?.forEach((result, j) => {
      if (Number.isNaN(result) && !Number.isNaN(plain[j]) && !depends[j] && !mayReachAll) {
        wrong.push(`${value} makes result ${j} NaN, which does not depend on it`);
      }
      if (Number.isNaN(value) && follows[j] && !Number.isNaN(result) && !op.ignoresNan) {
        wrong.push(`NaN gives ${result} in result ${j}, which follows it`);
      }
    });
  }
  return wrong;
}

function floatsOf(outputs) {
  return outputs
    .filter(({ dtype }) => dtype.startsWith("float"))
    .flatMap((output) => Array.from(output.dataSync()));
}
