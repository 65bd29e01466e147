import { type Arguments, readArguments } from "../../arguments/read.js";
import { type Options, wholeFrom } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { diagEmbed, mvlgamma } from "../../composites/index.js";
import { arange, cat, narrow, zeros } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  broadcastAll,
  kDistributionOptions,
  type Parameter,
  parameter,
  type SampleShape,
} from "../base/arguments.js";
import { Distribution } from "../base/distribution.js";
import { limitsOf, oneMinus } from "../base/numbers.js";
import { standardNormal } from "../base/random.js";
import { type Constraint, corrCholesky, positive } from "../constraints/constraints.js";
import { Beta } from "./dirichlet.js";

const kOptions = {
  /** How near correlations are to 0: 1 is an even distribution; default 1. */
  concentration: parameter.or(1),
  ...kDistributionOptions,
};

const kArguments = { dim: wholeFrom(2), ...kOptions };

/** Options of `LKJCholesky`. */
export type LKJCholeskyOptions = Options<typeof kOptions>;

/** Distributions of the lower triangular factors of correlation matrices, after Lewandowski, Kurowicka and Joe. */
export class LKJCholesky extends Distribution<Record<"concentration", Tensor>> {
  /** The rows of a matrix. */
  readonly dim: number;

  constructor(
    ...given: [
      dim: number,
      ...rest: Arguments<
        [concentration: Parameter, validateArgs: boolean | null],
        LKJCholeskyOptions
      >,
    ]
  ) {
    const name = new.target.name;
    const { dim, validateArgs, ...values } = readArguments(name, kArguments, given);
    const [concentration] = broadcastAll(name, values.concentration);
    const batchShape = concentration.shape;
    super({ parameters: { concentration }, batchShape, eventShape: [dim, dim], validateArgs });
    this.dim = dim;
  }

  /** How near correlations are to 0. */
  get concentration(): Tensor {
    return this.parameters.concentration;
  }

  override get argConstraints(): Readonly<Record<string, Constraint>> {
    return { concentration: positive };
  }

  override get support(): Constraint {
    return corrCholesky;
  }

  override sample(shape: SampleShape = []): Tensor {
    const extended = this.extendedShape("sample", shape);
    return scope(() => noGrad(() => this.drawn(shape, extended)));
  }

  override logProb(value: Tensor): Tensor {
    this.validateSample("logProb", value);
    const { concentration, dim } = this;
    const { device } = concentration;
    const diagonal = value.diagonal(0, -2, -1);
    const order = concentration
      .sub(1)
      .mul(2)
      .unsqueeze(-1)
      .add(dim)
      .sub(arange(2, dim + 1, { device }));
    const density = order.mul(narrow(diagonal, -1, 1, dim - 1).log()).sum(-1);
    const count = dim - 1;
    const alpha = concentration.add(0.5 * count);
    return density.sub(
      mvlgamma(alpha.sub(0.5), count)
        .add(0.5 * count * Math.log(Math.PI))
        .sub(alpha.lgamma().mul(count)),
    );
  }

  // The onion method: rows are random directions, of random lengths.
  private drawn(shape: SampleShape, extended: readonly number[]): Tensor {
    const { concentration, dim } = this;
    const { dtype, device } = concentration;
    const offset = cat([zeros([1], { dtype, device }), arange(dim - 1, { dtype, device })]);
    const rest = concentration
      .add(0.5 * (dim - 2))
      .unsqueeze(-1)
      .sub(offset.mul(0.5));
    const squares = new Beta(offset.add(0.5), rest).sample(shape).unsqueeze(-1);
    const normal = standardNormal(extended, concentration).tril(-1);
    const directions = normal.div(normal.square().sum(-1, true).sqrt());
    // The first row has none.
    const below = narrow(directions, -2, 1, dim - 1);
    const first = zeros([...extended.slice(0, -2), 1, dim], { dtype, device });
    const rows = squares.sqrt().mul(cat([first, below], -2));
    const lengths = oneMinus(rows.square().sum(-1)).clamp(limitsOf(dtype).tiny);
    return rows.add(diagEmbed(lengths.sqrt()));
  }
}
