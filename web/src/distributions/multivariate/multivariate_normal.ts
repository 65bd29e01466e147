import type { Arguments } from "../../arguments/read.js";
import type { Options } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastShapes,
  type DistributionOptions,
  kDistributionOptions,
} from "../base/arguments.js";
import { distribution } from "../base/declaration.js";
import { matrixTimesVector } from "../base/numbers.js";
import { standardNormal } from "../base/random.js";
import { lowerCholesky, positiveDefinite, realVector } from "../constraints/constraints.js";
import {
  factorOf,
  type HasFactor,
  halfLogDet,
  kSpreadOptions,
  readSpread,
  type SpreadArguments,
  type SpreadMatrices,
  solveLower,
  spreadOf,
} from "./spread.js";

/** Options of `MultivariateNormal`. */
export interface MultivariateNormalOptions
  extends DistributionOptions,
    Options<typeof kSpreadOptions> {}

/** Normal distributions of vectors of mean `loc`; exactly one matrix says how wide they are. */
export class MultivariateNormal extends distribution({
  given: {} as [loc: Tensor, ...rest: Arguments<SpreadArguments, MultivariateNormalOptions>],
  arguments: { loc: tensorRule, ...kSpreadOptions, ...kDistributionOptions },
  parameters: {
    /** The mean. */
    loc: realVector,
    /** The covariance. */
    covarianceMatrix: positiveDefinite,
    /** The inverse of the covariance. */
    precisionMatrix: positiveDefinite,
    /** The lower triangular factor of the covariance. */
    scaleTril: lowerCholesky,
  },
  parts(name, { loc, ...call }: { loc: Tensor } & SpreadMatrices) {
    const [which, matrix] = readSpread(name, call);
    checkShapes(name, loc, which, matrix);
    const eventShape = loc.shape.slice(-1);
    const batchShape = broadcastShapes(name, matrix.shape.slice(0, -2), loc.shape.slice(0, -1));
    const parameters = {
      loc: loc.expand([...batchShape, ...eventShape]),
      [which]: matrix.expand([...batchShape, ...eventShape, ...eventShape]),
    };
    const fields = (): HasFactor => ({ factor: factorOf(which, matrix) });
    return { parameters, batchShape, eventShape, fields };
  },
  parameter: (it, name, own) => own[name] ?? spreadOf(name, it),
  support: realVector,
  mean: ({ loc }) => loc,
  mode: ({ loc }) => loc,
  variance: ({ factor, loc }) => factor.square().sum(-1).expand(loc.shape),
  rsample: ({ factor, loc }, shape) =>
    loc.add(matrixTimesVector(factor, standardNormal(shape, loc))),
  logProb({ eventShape, factor, loc }, value) {
    const logTwoPis = (eventShape[0] as number) * Math.log(2 * Math.PI);
    const distance = mahalanobis(factor, value.sub(loc));
    return distance.add(logTwoPis).mul(-0.5).sub(halfLogDet(factor));
  },
  entropy({ batchShape, eventShape, factor }) {
    const ofUnit = 0.5 * (eventShape[0] as number) * (1 + Math.log(2 * Math.PI));
    return halfLogDet(factor).add(ofUnit).expand(batchShape);
  },
}) {}

/** Returns the squared length of vectors, in units of the covariance that a lower triangular factor makes. */
export function mahalanobis(factor: Tensor, vectors: Tensor): Tensor {
  return solveLower(factor, vectors.unsqueeze(-1)).square().sum([-2, -1]);
}

function checkShapes(where: string, loc: Tensor, which: string, matrix: Tensor): void {
  if (loc.ndim < 1) fail("ShapeMismatch", where, "loc must be at least one-dimensional.");
  const [rows, columns] = matrix.shape.slice(-2);
  const size = loc.shape.at(-1);
  if (rows === columns && rows === size) return;
  const told = `${which} must be at least two-dimensional, its last two dimensions ${size} and ${size} as loc has ${size} elements, got shape [${matrix.shape}].`;
  fail("ShapeMismatch", where, told);
}
