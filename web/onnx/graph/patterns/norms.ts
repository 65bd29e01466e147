// Normalization that exporters write as several nodes.

import * as eg from "edgegrad";
import { axisOf } from "../../ops/axes.js";
import { op } from "../../ops/op.js";
import { isNumbers } from "../../values/host.js";
import { tensor, tensorOrNull } from "../../values/value.js";
import type { Step } from "../program.js";
import { type Found, isOp, otherInput, outputOf, type Steps } from "./match.js";

interface Given {
  readonly axes: readonly number[];
  readonly epsilon: number;
}

// Whether axes are the last ones of a tensor, as edgegrad's norms require.
function areLast(x: eg.Tensor, axes: readonly number[]): boolean {
  const found = new Set(axes.map((axis) => axisOf(axis, x.ndim)));
  return axes.every((_, i) => found.has(x.ndim - 1 - i));
}

const lastSizes = (x: eg.Tensor, axes: readonly number[]) => x.shape.slice(x.ndim - axes.length);

const kLayerNorm = op({
  run: ([input, scale, bias], given) => {
    const { axes, epsilon } = given as unknown as Given;
    const x = tensor(input);
    const [weight, added] = [tensorOrNull(scale), tensorOrNull(bias)];
    const shape = lastSizes(x, axes);
    const fits = [weight, added].every(
      (operand) => operand === null || operand.shape.join() === shape.join(),
    );
    if (areLast(x, axes) && fits)
      return eg.layerNorm(x, shape, { weight, bias: added, eps: epsilon });
    const centered = x.sub(eg.mean(x, [...axes], { keepdim: true }));
    return affine(scaled(centered, axes, epsilon), weight, added);
  },
});

const kRmsNorm = op({
  run: ([input, scale], given) => {
    const { axes, epsilon } = given as unknown as Given;
    const x = tensor(input);
    const weight = tensorOrNull(scale);
    const shape = lastSizes(x, axes);
    const fits = weight === null || weight.shape.join() === shape.join();
    if (areLast(x, axes) && fits) return eg.rmsNorm(x, shape, { weight, eps: epsilon });
    return affine(scaled(x, axes, epsilon), weight, null);
  },
});

const scaled = (x: eg.Tensor, axes: readonly number[], epsilon: number) =>
  x.div(eg.sqrt(eg.mean(x.square(), [...axes], { keepdim: true }).add(epsilon)));

function affine(x: eg.Tensor, weight: eg.Tensor | null, bias: eg.Tensor | null): eg.Tensor {
  const product = weight === null ? x : x.mul(weight);
  return bias === null ? product : product.add(bias);
}

/** The square root of a mean of squares plus a small number. */
interface Deviation {
  readonly steps: readonly Step[];
  readonly squared: number;
  readonly given: Given;
}

function deviationAt(root: Step, steps: Steps): Deviation | undefined {
  const sum = steps.maker(root.inputs[0], "Add");
  if (sum === undefined) return undefined;
  const [first, second] = sum.inputs as [number, number];
  const epsilon = steps.number(second) ?? steps.number(first);
  const mean = steps.maker(first, "ReduceMean") ?? steps.maker(second, "ReduceMean");
  if (epsilon === undefined || mean === undefined) return undefined;
  const axes = axesOfMean(mean, steps);
  const power = steps.maker(mean.inputs[0], "Pow");
  const square = power ?? steps.maker(mean.inputs[0], "Mul");
  if (axes === undefined || square === undefined) return undefined;
  const [base, other] = square.inputs as [number, number];
  const isSquare = power === undefined ? base === other : steps.number(other) === 2;
  if (!isSquare) return undefined;
  return { steps: [square, mean, sum, root], squared: base, given: { axes, epsilon } };
}

function axesOfMean({ attributes, inputs }: Step, steps: Steps): readonly number[] | undefined {
  if (attributes.keepdims !== true) return undefined;
  const input = steps.constants.get(inputs[1] ?? -1);
  const axes = isNumbers(input) ? input.data : (attributes.axes as readonly number[] | undefined);
  return axes !== undefined && axes.length > 0 ? axes : undefined;
}

/** (x - mean) / sqrt(mean((x - mean)^2) + epsilon), and a weight and a bias if they follow. */
export function findLayerNorm(step: Step, steps: Steps): Found | undefined {
  if (!isOp(step, "Sqrt")) return undefined;
  const found = deviationAt(step, steps);
  const centered = found && centeredBy(found.squared, found.given.axes, steps);
  const quotient = steps.reader(step, "Div");
  if (found === undefined || centered === undefined || quotient?.inputs[1] !== outputOf(step))
    return undefined;
  // Some exporters subtract the mean twice.
  const again = centeredBy(quotient.inputs[0] as number, found.given.axes, steps);
  if (again === undefined || again.x !== centered.x) return undefined;
  const own = [...new Set([...centered.steps, ...again.steps, ...found.steps, quotient])];
  const weighted = steps.reader(quotient, "Mul");
  const biased = weighted && steps.reader(weighted, "Add");
  const last = biased ?? weighted ?? quotient;
  const weight = weighted && otherInput(weighted, outputOf(quotient));
  const bias = biased && otherInput(biased, outputOf(weighted as Step));
  return {
    steps: [...own, ...(weighted ? [weighted] : []), ...(biased ? [biased] : [])],
    op: kLayerNorm,
    inputs: [centered.x, weight ?? -1, bias ?? -1],
    output: outputOf(last),
    attributes: { ...found.given },
    title: "LayerNormalization",
  };
}

function centeredBy(
  slot: number,
  axes: readonly number[],
  steps: Steps,
): { x: number; steps: Step[] } | undefined {
  const difference = steps.maker(slot, "Sub");
  const mean = steps.maker(difference?.inputs[1], "ReduceMean");
  if (difference === undefined || mean === undefined || mean.inputs[0] !== difference.inputs[0])
    return undefined;
  const own = axesOfMean(mean, steps);
  if (own?.join() !== axes.join()) return undefined;
  return { x: difference.inputs[0] as number, steps: [mean, difference] };
}

/** x / sqrt(mean(x^2) + epsilon), and a weight if it follows. */
export function findRmsNorm(step: Step, steps: Steps): Found | undefined {
  if (!isOp(step, "Sqrt")) return undefined;
  const found = deviationAt(step, steps);
  if (found === undefined) return undefined;
  const x = found.squared;
  const quotient = steps.reader(step, "Div");
  const inverse =
    steps.reader(step, "Reciprocal") ??
    (steps.number(quotient?.inputs[0]) === 1 ? quotient : undefined);
  const product = inverse && steps.reader(inverse, "Mul");
  const isProduct = product !== undefined && otherInput(product, outputOf(inverse as Step)) === x;
  const isQuotient = quotient?.inputs[0] === x && quotient.inputs[1] === outputOf(step);
  const whole = isProduct ? product : isQuotient ? quotient : undefined;
  if (whole === undefined) return undefined;
  const weighted = steps.reader(whole, "Mul");
  const weight = weighted && otherInput(weighted, outputOf(whole));
  const own = [...found.steps, ...(isProduct ? [inverse as Step] : []), whole];
  return {
    steps: weighted ? [...own, weighted] : own,
    op: kRmsNorm,
    inputs: [x, weight ?? -1],
    output: outputOf(weighted ?? whole),
    attributes: { ...found.given },
    title: "RMSNormalization",
  };
}
