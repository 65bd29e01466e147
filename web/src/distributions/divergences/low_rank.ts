// Divergences of normal distributions of vectors, of which one at least has a covariance of low rank.

import { diagEmbed } from "../../composites/index.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  LowRankMultivariateNormal,
  lowRankDistance,
  lowRankLogDet,
  whitened,
} from "../multivariate/low_rank_multivariate_normal.js";
import { MultivariateNormal, mahalanobis } from "../multivariate/multivariate_normal.js";
import { halfLogDet, solveLower } from "../multivariate/spread.js";
import { type KlPair, pair, requireSameEvents } from "./pair.js";

/** Returns the divergences that know covariances of low rank. */
export function pairsOfLowRank(): KlPair[] {
  return [
    pair(LowRankMultivariateNormal, LowRankMultivariateNormal, klOfTwo),
    pair(LowRankMultivariateNormal, MultivariateNormal, klFromFull),
    pair(MultivariateNormal, LowRankMultivariateNormal, klOfFull),
  ];
}

// The sum of the squares of a matrix: the trace of X Xᵀ.
const trace = (matrix: Tensor): Tensor => matrix.square().sum([-2, -1]);

const halfOf = (logDets: Tensor, traces: Tensor, distance: Tensor, count: number | undefined) =>
  logDets
    .add(traces)
    .add(distance)
    .sub(count as number)
    .mul(0.5);

function klOfTwo(p: LowRankMultivariateNormal, q: LowRankMultivariateNormal): Tensor {
  requireSameEvents(p, q);
  const [a, b] = [p.lowRank, q.lowRank];
  const inner = whitened(b);
  const traces = a.diag
    .div(b.diag)
    .sum(-1)
    .add(trace(a.factor.mul(b.diag.rsqrt().unsqueeze(-1))))
    .sub(trace(inner.mul(a.diag.sqrt().unsqueeze(-2))))
    .sub(trace(inner.matmul(a.factor)));
  const distance = lowRankDistance(b, q.loc.sub(p.loc));
  return halfOf(lowRankLogDet(b).sub(lowRankLogDet(a)), traces, distance, p.eventShape[0]);
}

function klFromFull(p: LowRankMultivariateNormal, q: MultivariateNormal): Tensor {
  requireSameEvents(p, q);
  const { factor, diag } = p.lowRank;
  const traces = trace(solveLower(q.factor, factor)).add(
    trace(solveLower(q.factor, diagEmbed(diag.sqrt()))),
  );
  const distance = mahalanobis(q.factor, q.loc.sub(p.loc));
  const logDets = halfLogDet(q.factor).mul(2).sub(lowRankLogDet(p.lowRank));
  return halfOf(logDets, traces, distance, p.eventShape[0]);
}

function klOfFull(p: MultivariateNormal, q: LowRankMultivariateNormal): Tensor {
  requireSameEvents(p, q);
  const { lowRank } = q;
  const traces = trace(p.factor.mul(lowRank.diag.rsqrt().unsqueeze(-1))).sub(
    trace(whitened(lowRank).matmul(p.factor)),
  );
  const distance = lowRankDistance(lowRank, q.loc.sub(p.loc));
  const logDets = lowRankLogDet(lowRank).sub(halfLogDet(p.factor).mul(2));
  return halfOf(logDets, traces, distance, p.eventShape[0]);
}
