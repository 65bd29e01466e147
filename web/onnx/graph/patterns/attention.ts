// Attention that exporters write as several nodes: softmax(q k^T, scaled, plus a mask) v.

import * as eg from "edgegrad";
import { attention } from "../../ops/attention.js";
import { axisOf } from "../../ops/axes.js";
import { op } from "../../ops/op.js";
import { isNumbers } from "../../values/host.js";
import { operand, tensor, tensorOrNull, type Value } from "../../values/value.js";
import type { Step } from "../program.js";
import { type Found, isOp, otherInput, outputOf, type Steps } from "./match.js";

// The scores may be multiplied by numbers before and after the product, and divided by a number. Factors that are known in JavaScript
// when the graph runs are combined into one scale.
interface Given {
  /** The axis of the softmax, which is the last one unless the file is unusual. */
  readonly axis: number;
}

const kAttention = op({
  run: ([query, keyT, value, mask, queryFactor, keyFactor, factor, divisor], given) => {
    const { axis } = given as unknown as Given;
    let scale = 1;
    const times = (x: eg.Tensor, by: Value, isInverse = false): eg.Tensor => {
      if (by === undefined) return x;
      const isScalar = isNumbers(by) && by.data.length === 1;
      const number = isScalar ? (by.data[0] as number) : 1;
      scale *= isInverse ? 1 / number : number;
      const other = operand(by, x.ndim);
      return isScalar ? x : isInverse ? x.div(other) : x.mul(other);
    };
    const q = times(tensor(query), queryFactor);
    const kT = times(tensor(keyT), keyFactor);
    const v = tensor(value);
    const areScalars = [factor, divisor].every(
      (number) => number === undefined || isNumbers(number),
    );
    if (areScalars) {
      times(q, factor);
      times(q, divisor, true);
    }
    const key = eg.transpose(kT, -1, -2);
    const added = tensorOrNull(mask);
    const isOverKeys = axisOf(axis, q.ndim) === q.ndim - 1;
    if (areScalars && isOverKeys && isPlain(q, key, v)) {
      return attention({
        query: q,
        key,
        value: v,
        mask: added?.to(q.dtype) ?? null,
        scale,
        softcap: 0,
      });
    }
    const product = eg.matmul(q, kT);
    const scores = scale === 1 ? product : product.mul(scale);
    const whole = areScalars ? scores : times(times(scores, factor), divisor, true);
    return eg.matmul(eg.softmax(added === null ? whole : whole.add(added), axis), v);
  },
});

// Whether the leading axes are equal, as edgegrad's attention requires.
function isPlain(q: eg.Tensor, k: eg.Tensor, v: eg.Tensor): boolean {
  const front = (x: eg.Tensor) => x.shape.slice(0, -2).join();
  return q.ndim >= 3 && front(q) === front(k) && front(k) === front(v);
}

/** softmax(scores) v, where the scores are a product with optional factors, divisor and mask. */
export function findAttention(step: Step, steps: Steps): Found | undefined {
  const axis = isOp(step, "Softmax") ? axisOfSoftmax(step) : undefined;
  if (axis === undefined) return undefined;
  const last = steps.reader(step, "MatMul");
  if (last === undefined || last.inputs[0] !== outputOf(step)) return undefined;
  const own: Step[] = [step, last];
  const [input] = step.inputs as [number];
  const masked = steps.maker(input, "Add");
  const found = masked === undefined ? scoresAt(input, steps) : eitherScores(masked, steps);
  if (found === undefined) return undefined;
  if (masked !== undefined) own.push(masked);
  const [query, queryFactor, queryStep] = factored(found.product.inputs[0] as number, steps);
  const [keyT, keyFactor, keyStep] = factored(found.product.inputs[1] as number, steps);
  own.push(...found.steps, ...[queryStep, keyStep].filter((step) => step !== undefined));
  const value = last.inputs[1] as number;
  return {
    steps: own,
    op: kAttention,
    inputs: [query, keyT, value, found.mask, queryFactor, keyFactor, found.factor, found.divisor],
    output: outputOf(last),
    attributes: { axis },
    title: "Attention",
  };
}

// Before version 13, Softmax flattens all axes from `axis` on, so `axis` has to be the last one.
function axisOfSoftmax({ attributes, version }: Step): number | undefined {
  const axis = attributes.axis as number | undefined;
  if (version >= 13) return axis ?? -1;
  return axis === -1 ? axis : undefined;
}

interface Scores {
  readonly product: Step;
  readonly steps: readonly Step[];
  readonly factor: number;
  readonly divisor: number;
  readonly mask: number;
}

function eitherScores(sum: Step, steps: Steps): Scores | undefined {
  for (const slot of sum.inputs) {
    const found = scoresAt(slot, steps);
    if (found !== undefined) return { ...found, mask: otherInput(sum, slot) };
  }
  return undefined;
}

function scoresAt(slot: number, steps: Steps): Scores | undefined {
  const plain = steps.maker(slot, "MatMul");
  const none = { factor: -1, divisor: -1, mask: -1 };
  if (plain !== undefined) return { product: plain, steps: [plain], ...none };
  const divided = steps.maker(slot, "Div");
  const quotient = divided && steps.maker(divided.inputs[0], "MatMul");
  if (divided && quotient) {
    return {
      product: quotient,
      steps: [quotient, divided],
      ...none,
      divisor: divided.inputs[1] as number,
    };
  }
  const scaled = steps.maker(slot, "Mul");
  const product =
    scaled && (steps.maker(scaled.inputs[0], "MatMul") ?? steps.maker(scaled.inputs[1], "MatMul"));
  if (scaled === undefined || product === undefined) return undefined;
  return {
    product,
    steps: [product, scaled],
    ...none,
    factor: otherInput(scaled, outputOf(product)),
  };
}

// A factor of the query or the key: the second operand, as exporters write it.
function factored(
  slot: number,
  steps: Steps,
): [slot: number, factor: number, step: Step | undefined] {
  const step = steps.maker(slot, "Mul");
  if (step === undefined) return [slot, -1, undefined];
  const [x, factor] = step.inputs as [number, number];
  return [x, factor, step];
}
