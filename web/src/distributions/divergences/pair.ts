// What the table of divergences is made of.

import { fullLike } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { hasShape } from "../base/arguments.js";
import type { DistributionClass } from "../base/declaration.js";
import type { Distribution } from "../base/distribution.js";

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

/** Makes entries for a class whose values some other classes do not have: infinite, in the shape of a parameter. */
export function infinite<P extends Distribution>(
  p: DistributionClass<P>,
  qs: readonly DistributionClass[],
  parameter: (p: P) => Tensor,
): KlPair[] {
  return qs.map((q) => pair(p, q, (own) => fullLike(parameter(own), Number.POSITIVE_INFINITY)));
}

/** Returns divergences, but infinite ones where a condition holds. */
export function infiniteWhere(condition: Tensor, kl: Tensor): Tensor {
  return kl.maskedFill(condition, Number.POSITIVE_INFINITY);
}

/** Throws ShapeMismatch unless values of both distributions have the same shape. */
export function requireSameEvents(p: Distribution, q: Distribution): void {
  if (hasShape(p.eventShape, q.eventShape)) return;
  const told = `expected distributions of the same eventShape, got [${p.eventShape}] and [${q.eventShape}].`;
  fail("ShapeMismatch", "klDivergence", told);
}
