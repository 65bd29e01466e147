// What assertClose says about elements that are not close.

import type { Item } from "../tensor/elements.js";
import { indexAt } from "../tensor/shape.js";
import { areEqual, differenceOf, sizeOf } from "./elements.js";
import type { Tolerance } from "./tolerance.js";

/** The most elements that are listed. */
const kMostListed = 5;

const kNanAdvice = "NaN is close to NaN only with the option equalNan: true.";

/** The elements of two tensors of the same shape. */
export interface Elements {
  readonly actual: (position: number) => Item;
  readonly expected: (position: number) => Item;
  readonly shape: readonly number[];
  readonly numel: number;
}

/** Returns sentences about the elements that are not close; null if all are. */
export function differences(
  { actual, expected, shape, numel }: Elements,
  tolerance: Tolerance,
  equalNan: boolean,
): string | null {
  const wrong: number[] = [];
  for (let i = 0; i < numel; i++) {
    if (!areClose(actual(i), expected(i), tolerance, equalNan)) wrong.push(i);
  }
  if (wrong.length === 0) return null;
  const place = (position: number) => `[${indexAt(position, shape).join(", ")}]`;
  const pair = (position: number) =>
    `got ${textOf(actual(position))}, expected ${textOf(expected(position))}`;
  if (shape.length === 0) {
    const difference = numberText(differenceOf(actual(0), expected(0)));
    return `${pair(0)}: they differ by ${difference}, ${allowed(tolerance)}.`;
  }
  const absolute = (i: number) => differenceOf(actual(i), expected(i));
  const relative = (i: number) => absolute(i) / sizeOf(expected(i));
  const largest = (name: string, measure: (position: number) => number) => {
    const [position, difference] = largestOf(wrong, measure);
    return `The largest ${name} difference is ${numberText(difference)}, at ${place(position)}.`;
  };
  const share = ((100 * wrong.length) / numel).toFixed(1);
  const lines = [
    `${wrong.length} of ${numel} elements (${share} %) are not close, ${allowed(tolerance)}.`,
    largest("absolute", absolute),
    largest("relative", relative),
    ...wrong.slice(0, kMostListed).map((i) => `  at ${place(i)}: ${pair(i)}`),
  ];
  const rest = wrong.length - kMostListed;
  if (rest > 0) lines.push(`  and ${rest} more`);
  if (wrong.some((i) => areEqual(actual(i), expected(i), true))) lines.push(kNanAdvice);
  return lines.join("\n");
}

// Equal, or differing by at most atol + rtol * |expected|.
function areClose(
  actual: Item,
  expected: Item,
  { rtol, atol }: Tolerance,
  equalNan: boolean,
): boolean {
  if (areEqual(actual, expected, equalNan)) return true;
  const size = sizeOf(expected);
  return Number.isFinite(size) && differenceOf(actual, expected) <= atol + rtol * size;
}

function allowed({ rtol, atol }: Tolerance): string {
  if (rtol === 0 && atol === 0) return "while they must be equal";
  return `allowed are atol ${numberText(atol)} + rtol ${numberText(rtol)} * |expected|`;
}

// NaN counts as larger than any number.
function largestOf(
  positions: readonly number[],
  measure: (position: number) => number,
): [position: number, value: number] {
  let [largest, place] = [Number.NEGATIVE_INFINITY, positions[0] ?? 0];
  for (const position of positions) {
    const value = measure(position);
    if (Number.isNaN(largest) || value <= largest) continue;
    [largest, place] = [value, position];
  }
  return [place, largest];
}

function numberText(value: number): string {
  return String(Number(value.toPrecision(6)));
}

function textOf(item: Item): string {
  if (typeof item !== "object") return String(item);
  const sign = item.im < 0 || Object.is(item.im, -0) ? "-" : "+";
  return `${item.re} ${sign} ${Math.abs(item.im)}i`;
}
