// Activation functions that exporters write as several nodes.

import * as eg from "edgegrad";
import { op } from "../../ops/op.js";
import { isNumbers } from "../../values/host.js";
import { isInteger } from "../../values/types.js";
import { tensor } from "../../values/value.js";
import type { Step } from "../program.js";
import { type Found, isAbout, isOp, otherInput, outputOf, type Steps } from "./match.js";

const kGelu = op({ run: ([x]) => eg.gelu(tensor(x)) });
const kTanhGelu = op({ run: ([x]) => eg.gelu(tensor(x), { approximate: "tanh" }) });
const kSilu = op({ run: ([x]) => eg.silu(tensor(x)) });
const kHardSigmoid = op({ run: ([x]) => eg.hardsigmoid(tensor(x)) });
const kHardSwish = op({ run: ([x]) => eg.hardswish(tensor(x)) });

/** x sigmoid(x) */
export function findSilu(step: Step, steps: Steps): Found | undefined {
  if (!isOp(step, "Sigmoid")) return undefined;
  const x = step.inputs[0] as number;
  const product = readerTimes(step, x, steps);
  return product && matchOf([step, product], kSilu, x, "SiLU");
}

/** x hardsigmoid(x) */
export function findHardSwish(step: Step, steps: Steps): Found | undefined {
  if (!isOp(step, "HardSigmoid")) return undefined;
  const { alpha, beta } = step.attributes as { alpha: number; beta: number };
  const x = step.inputs[0] as number;
  const product = readerTimes(step, x, steps);
  if (product === undefined || !isAbout(alpha, 1 / 6) || beta !== 0.5) return undefined;
  return matchOf([step, product], kHardSwish, x, "HardSwish");
}

/** min(max(x + 3, 0), 6) / 6, which is hardsigmoid(x), and the product with x, before or after the division. */
export function findClippedSum(step: Step, steps: Steps): Found | undefined {
  if (!isOp(step, "Clip")) return undefined;
  const { min, max } = step.attributes as { min?: number; max?: number };
  const sum = steps.maker(step.inputs[0], "Add");
  if (sum === undefined) return undefined;
  const [x, added] = withNumber(sum, steps);
  const low = steps.number(step.inputs[1]) ?? min;
  const high = steps.number(step.inputs[2]) ?? max;
  if (added !== 3 || low !== 0 || high !== 6 || !isFloat(otherInput(sum, x), steps))
    return undefined;
  const product = readerTimes(step, x, steps);
  const sixth = sixthOf(product ?? step, steps);
  if (sixth === undefined) return undefined;
  const before = [sum, step];
  if (product !== undefined)
    return matchOf([...before, product, sixth], kHardSwish, x, "HardSwish");
  const last = readerTimes(sixth, x, steps);
  return last === undefined
    ? matchOf([...before, sixth], kHardSigmoid, x, "HardSigmoid")
    : matchOf([...before, sixth, last], kHardSwish, x, "HardSwish");
}

// A quotient of integers would be truncated.
function isFloat(slot: number, steps: Steps): boolean {
  const value = steps.constants.get(slot);
  return isNumbers(value) && !isInteger(value.type);
}

function readerTimes(step: Step, x: number, steps: Steps): Step | undefined {
  const product = steps.reader(step, "Mul");
  return product !== undefined && otherInput(product, outputOf(step)) === x ? product : undefined;
}

function sixthOf(step: Step, steps: Steps): Step | undefined {
  const quotient = steps.reader(step, "Div");
  if (quotient !== undefined) {
    const isSixth = quotient.inputs[0] === outputOf(step) && steps.number(quotient.inputs[1]) === 6;
    return isSixth ? quotient : undefined;
  }
  const product = steps.reader(step, "Mul");
  const factor = product && steps.number(otherInput(product, outputOf(step)));
  return isAbout(factor, 1 / 6) ? product : undefined;
}

function matchOf(steps: readonly Step[], fused: Found["op"], x: number, title: string): Found {
  return { steps, op: fused, inputs: [x], output: outputOf(steps.at(-1) as Step), title };
}

/** x / 2 (1 + erf(x / sqrt(2))), with the factors in any order. */
export function findGelu(step: Step, steps: Steps): Found | undefined {
  if (!isOp(step, "Erf")) return undefined;
  const [inside] = step.inputs;
  const divided = steps.maker(inside, "Div");
  const scaled = divided ?? steps.maker(inside, "Mul");
  if (scaled === undefined) return undefined;
  const [x, factor] = withNumber(scaled, steps);
  if (!isAbout(factor, divided === undefined ? Math.SQRT1_2 : Math.SQRT2)) return undefined;
  return halved(step, x, [scaled, step], steps, kGelu, "Gelu");
}

/** x / 2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) */
export function findTanhGelu(step: Step, steps: Steps): Found | undefined {
  if (!isOp(step, "Tanh")) return undefined;
  const scaled = steps.maker(step.inputs[0], "Mul");
  if (scaled === undefined) return undefined;
  const [inside, factor] = withNumber(scaled, steps);
  const sum = steps.maker(inside, "Add");
  if (!isAbout(factor, Math.sqrt(2 / Math.PI)) || sum === undefined) return undefined;
  for (const [x, cubed] of [sum.inputs, [...sum.inputs].reverse()] as [number, number][]) {
    const weighted = steps.maker(cubed, "Mul");
    if (weighted === undefined) continue;
    const [power, weight] = withNumber(weighted, steps);
    const cube = steps.maker(power, "Pow");
    const isCube = cube?.inputs[0] === x && steps.number(cube.inputs[1]) === 3;
    if (cube === undefined || !isCube || !isAbout(weight, 0.044715)) continue;
    return halved(step, x, [cube, weighted, sum, scaled, step], steps, kTanhGelu, "Gelu");
  }
  return undefined;
}

// The end of both forms: x / 2 (1 + y), where y is the output of `step`.
function halved(
  step: Step,
  x: number,
  before: readonly Step[],
  steps: Steps,
  fused: Found["op"],
  title: string,
): Found | undefined {
  const added = steps.reader(step, "Add");
  if (added === undefined || steps.number(otherInput(added, outputOf(step))) !== 1)
    return undefined;
  const product = steps.reader(added, "Mul");
  if (product === undefined) return undefined;
  const other = otherInput(product, outputOf(added));
  const result = (last: Step, ...more: readonly Step[]): Found => ({
    steps: [...before, added, product, ...more],
    op: fused,
    inputs: [x],
    output: outputOf(last),
    title,
  });
  const half = steps.maker(other, "Mul");
  if (half !== undefined) {
    const [inner, factor] = withNumber(half, steps);
    return inner === x && factor === 0.5 ? result(product, half) : undefined;
  }
  const last = other === x ? steps.reader(product, "Mul") : undefined;
  const isHalf = last !== undefined && steps.number(otherInput(last, outputOf(product))) === 0.5;
  return isHalf ? result(last, last) : undefined;
}

/** Returns the slot of the input that is not a constant number, and the number of the other input. */
function withNumber(step: Step, steps: Steps): [slot: number, value: number | undefined] {
  const [a, b] = step.inputs as [number, number];
  const value = steps.number(b);
  return value === undefined ? [b, steps.number(a)] : [a, value];
}
