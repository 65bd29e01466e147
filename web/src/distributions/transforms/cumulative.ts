import type { Distribution } from "../base/distribution.js";
import { distribution } from "../combined/independent.js";
import { unitInterval } from "../constraints/constraints.js";
import { transformation } from "./declaration.js";
import { kTransformOptions, type TransformArguments } from "./transform.js";

interface Cumulative {
  readonly distribution: Distribution;
  readonly sign: number;
}

const kArguments = { distribution, ...kTransformOptions };

/** Takes values to the probability of values up to them under a distribution. */
export class CumulativeDistributionTransform extends transformation<
  [distribution: Distribution, ...rest: TransformArguments],
  Cumulative
>({
  arguments: kArguments,
  domain: ({ distribution }) => distribution.support,
  codomain: unitInterval,
  sign: 1,
  tensors: ({ distribution }) => distribution.tensors,
  forward: (x, { distribution }) => distribution.cdf(x),
  inverse: (y, { distribution }) => distribution.icdf(y),
  logStretch: (x, _y, { distribution }) => distribution.logProb(x),
  equals: (other, it) => other === it,
}) {}
