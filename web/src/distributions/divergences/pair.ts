// The entries of the table of divergences.

import { fullLike } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { hasShape } from "../../tensor/shape.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { DistributionClass } from "../base/declaration.js";
import type { Distribution } from "../base/distribution.js";

/** The formula for the divergence of two classes. */
export interface KlPair {
  readonly p: DistributionClass;
  readonly q: DistributionClass;
  readonly kl: (p: Distribution, q: Distribution) => Tensor;
}

/** Creates an entry of the table. */
export function pair<P extends Distribution, Q extends Distribution>(
  p: DistributionClass<P>,
  q: DistributionClass<Q>,
  kl: (p: P, q: Q) => Tensor,
): KlPair {
  return { p, q, kl: kl as KlPair["kl"] };
}

/** Creates entries with infinite divergences, for classes q that lack values of p; `parameter` has the shape of the result. */
export function infinite<P extends Distribution>(
  p: DistributionClass<P>,
  qs: readonly DistributionClass[],
  parameter: (p: P) => Tensor,
): KlPair[] {
  return qs.map((q) => pair(p, q, (own) => fullLike(parameter(own), Number.POSITIVE_INFINITY)));
}

/** Returns divergences, replaced by infinity where a condition holds. */
export function infiniteWhere(condition: Tensor, kl: Tensor): Tensor {
  return kl.maskedFill(condition, Number.POSITIVE_INFINITY);
}

/** Throws ShapeMismatch unless both distributions have the same event shape. */
export function requireSameEvents(p: Distribution, q: Distribution): void {
  if (hasShape(p.eventShape, q.eventShape)) return;
  const message = `expected distributions of the same eventShape, got [${p.eventShape}] and [${q.eventShape}].`;
  fail("ShapeMismatch", "klDivergence", message);
}
