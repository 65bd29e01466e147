// What the table of divergences is made of.

import { fullLike } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { hasShape } from "../base/arguments.js";
import type { Distribution } from "../base/distribution.js";

/** A class of distributions. */
export type DistributionClass<D extends Distribution = Distribution> = abstract new (
  // biome-ignore lint/suspicious/noExplicitAny: the constructors of distributions have nothing in common.
  ...given: any[]
) => D;

/** How the divergence of distributions of two classes is computed. */
export interface KlPair {
  readonly p: DistributionClass;
  readonly q: DistributionClass;
  readonly kl: (p: Distribution, q: Distribution) => Tensor;
}

/** Makes an entry of the table. */
export function pair<P extends Distribution, Q extends Distribution>(
  p: DistributionClass<P>,
  q: DistributionClass<Q>,
  kl: (p: P, q: Q) => Tensor,
): KlPair {
  return { p, q, kl: kl as KlPair["kl"] };
}

/** Throws ShapeMismatch unless values of both distributions have the same shape. */
export function requireSameEvents(p: Distribution, q: Distribution): void {
  if (hasShape(p.eventShape, q.eventShape)) return;
  const told = `the distributions have the same eventShape, got [${p.eventShape}] and [${q.eventShape}].`;
  fail("ShapeMismatch", "klDivergence", told);
}

/** Returns infinite divergences in the shape of a parameter. */
export function infiniteLike(value: Tensor): Tensor {
  return fullLike(value, Number.POSITIVE_INFINITY);
}

/** Returns x log x. */
export function xLogX(x: Tensor): Tensor {
  return x.mul(x.log());
}
