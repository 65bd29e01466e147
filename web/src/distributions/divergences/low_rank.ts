// Divergences of multivariate normal distributions, at least one of which has a low-rank covariance.

import { diagEmbed } from "../../composites/index.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { DistributionClass } from "../base/declaration.js";
import type { Distribution } from "../base/distribution.js";
import {
  LowRankMultivariateNormal,
  lowRankDistance,
  lowRankLogDet,
  whitened,
} from "../multivariate/low_rank_multivariate_normal.js";
import {
  halfLogDet,
  MultivariateNormal,
  mahalanobis,
  solveLower,
} from "../multivariate/multivariate_normal.js";
import { type KlPair, pair, requireSameEvents } from "./pair.js";

/** Returns the divergences for low-rank covariances. */
export function pairsOfLowRank(): KlPair[] {
  return [
    pairOfNormals(LowRankMultivariateNormal, LowRankMultivariateNormal, (p, q) => {
      const [a, b] = [p.lowRank, q.lowRank];
      const logDets = lowRankLogDet(b).sub(lowRankLogDet(a));
      const inner = whitened(b);
      const ofFactor = trace(a.factor.mul(b.diag.rsqrt().unsqueeze(-1)));
      const ofDiag = a.diag.div(b.diag).sum(-1).add(ofFactor);
      const less = trace(inner.mul(a.diag.sqrt().unsqueeze(-2)));
      const traces = ofDiag.sub(less).sub(trace(inner.matmul(a.factor)));
      return [logDets, traces, lowRankDistance(b, q.loc.sub(p.loc))];
    }),
    pairOfNormals(LowRankMultivariateNormal, MultivariateNormal, (p, q) => {
      const { factor, diag } = p.lowRank;
      const logDets = halfLogDet(q.factor).mul(2).sub(lowRankLogDet(p.lowRank));
      const ofDiag = trace(solveLower(q.factor, diagEmbed(diag.sqrt())));
      const traces = trace(solveLower(q.factor, factor)).add(ofDiag);
      return [logDets, traces, mahalanobis(q.factor, q.loc.sub(p.loc))];
    }),
    pairOfNormals(MultivariateNormal, LowRankMultivariateNormal, (p, q) => {
      const { lowRank } = q;
      const logDets = lowRankLogDet(lowRank).sub(halfLogDet(p.factor).mul(2));
      const ofDiag = trace(p.factor.mul(lowRank.diag.rsqrt().unsqueeze(-1)));
      const traces = ofDiag.sub(trace(whitened(lowRank).matmul(p.factor)));
      return [logDets, traces, lowRankDistance(lowRank, q.loc.sub(p.loc))];
    }),
  ];
}

// The sum of the squares of the elements: the trace of X Xᵀ.
const trace = (matrix: Tensor): Tensor => matrix.square().sum([-2, -1]);

function pairOfNormals<P extends Distribution, Q extends Distribution>(
  classP: DistributionClass<P>,
  classQ: DistributionClass<Q>,
  parts: (p: P, q: Q) => [logDets: Tensor, traces: Tensor, distance: Tensor],
): KlPair {
  return pair(classP, classQ, (p, q) => {
    requireSameEvents(p, q);
    const [logDets, traces, distance] = parts(p, q);
    const [count] = p.eventShape;
    return logDets
      .add(traces)
      .add(distance)
      .sub(count as number)
      .mul(0.5);
  });
}
