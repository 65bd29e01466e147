import { type Arguments, readArguments } from "../../arguments/read.js";
import type { Options } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { broadcastShapes, kDistributionOptions, type SampleShape } from "../base/arguments.js";
import { Distribution } from "../base/distribution.js";
import { matrixTimesVector } from "../base/numbers.js";
import { standardNormal } from "../base/random.js";
import {
  type Constraint,
  lowerCholesky,
  positiveDefinite,
  realVector,
} from "../constraints/constraints.js";
import {
  factorOf,
  halfLogDet,
  kSpreadOptions,
  readSpread,
  type Spread,
  type SpreadArguments,
  solveLower,
  spreadOf,
} from "./spread.js";

const kOptions = { ...kSpreadOptions, ...kDistributionOptions };
const kArguments = { loc: tensorRule, ...kOptions };

/** Options of `MultivariateNormal`. */
export type MultivariateNormalOptions = Options<typeof kOptions>;

/** Normal distributions of vectors of mean `loc`; exactly one matrix says how wide they are. */
export class MultivariateNormal extends Distribution<Record<"loc", Tensor> & Spread> {
  /** The factor of the covariance, without dimensions of the batch that only `loc` has. @internal */
  readonly factor: Tensor;

  constructor(
    ...given: [loc: Tensor, ...rest: Arguments<SpreadArguments, MultivariateNormalOptions>]
  ) {
    const name = new.target.name;
    const { loc, validateArgs, ...matrices } = readArguments(name, kArguments, given);
    const [which, matrix] = readSpread(name, matrices);
    checkShapes(name, loc, which, matrix);
    const eventShape = loc.shape.slice(-1);
    const batchShape = broadcastShapes(name, matrix.shape.slice(0, -2), loc.shape.slice(0, -1));
    const parameters = {
      loc: loc.expand([...batchShape, ...eventShape]),
      [which]: matrix.expand([...batchShape, ...eventShape, ...eventShape]),
    };
    super({ parameters, batchShape, eventShape, validateArgs });
    this.factor = factorOf(which, matrix);
  }

  /** The mean. */
  get loc(): Tensor {
    return this.parameters.loc;
  }

  /** The covariance. */
  get covarianceMatrix(): Tensor {
    return spreadOf("covarianceMatrix", this.parameters, this);
  }

  /** The inverse of the covariance. */
  get precisionMatrix(): Tensor {
    return spreadOf("precisionMatrix", this.parameters, this);
  }

  /** The lower triangular factor of the covariance. */
  get scaleTril(): Tensor {
    return spreadOf("scaleTril", this.parameters, this);
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return {
      loc: realVector,
      covarianceMatrix: positiveDefinite,
      precisionMatrix: positiveDefinite,
      scaleTril: lowerCholesky,
    };
  }

  override get support(): Constraint {
    return realVector;
  }

  override get hasRsample(): boolean {
    return true;
  }

  override get mean(): Tensor {
    return this.loc;
  }

  override get mode(): Tensor {
    return this.loc;
  }

  override get variance(): Tensor {
    return this.factor.square().sum(-1).expand(this.loc.shape);
  }

  override rsample(shape: SampleShape = []): Tensor {
    const eps = standardNormal(this.extendedShape("rsample", shape), this.loc);
    return this.loc.add(matrixTimesVector(this.factor, eps));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const distance = mahalanobis(this.factor, value.sub(this.loc));
    return distance
      .add((this.loc.shape.at(-1) as number) * Math.log(2 * Math.PI))
      .mul(-0.5)
      .sub(halfLogDet(this.factor));
  }

  override entropy(): Tensor {
    const count = this.eventShape[0] as number;
    const entropy = halfLogDet(this.factor).add(0.5 * count * (1 + Math.log(2 * Math.PI)));
    return entropy.expand(this.batchShape);
  }
}

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
