import type { Forms } from "../../arguments/read.js";
import { type Options, wholeFrom } from "../../arguments/rule.js";
import { diagEmbed, mvlgamma } from "../../composites/index.js";
import { arange, cat, narrow, xlogy, zeros } from "../../generated/ops.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import {
  type DistributionOptions,
  kDistributionOptions,
  type Parameter,
  parameter,
} from "../base/arguments.js";
import { broadcastParts, distribution } from "../base/declaration.js";
import { limitsOf, oneMinus } from "../base/numbers.js";
import { standardNormal } from "../base/random.js";
import { corrCholesky, positive } from "../constraints/constraints.js";
import { Beta } from "./dirichlet.js";

const kOptions = {
  /** How close correlations are to 0; at 1, the default, the distribution is uniform. */
  concentration: parameter.or(1),
};

/** Options of `LKJCholesky`. */
export interface LKJCholeskyOptions extends DistributionOptions, Options<typeof kOptions> {}

type LKJArguments = [
  dim: number,
  ...rest: Forms<[concentration: Parameter, validateArgs: boolean | null], LKJCholeskyOptions>,
];

interface Dim {
  /** The number of rows of a matrix. */
  readonly dim: number;
}

/** Distribution of the lower triangular factors of correlation matrices, after Lewandowski, Kurowicka and Joe. */
export class LKJCholesky extends distribution({
  given: {} as LKJArguments,
  arguments: { dim: wholeFrom(2), ...kOptions, ...kDistributionOptions },
  parameters: {
    /** How close correlations are to 0. */
    concentration: positive,
  },
  parts(name, { dim, ...call }: { dim: number; concentration: Parameter }) {
    const fields = (): Dim => ({ dim });
    return { ...broadcastParts(name, ["concentration"], call), eventShape: [dim, dim], fields };
  },
  support: corrCholesky,
  sample: (self, shape, sampleShape) => scope(() => drawn(self, shape, sampleShape)),
  logProb({ concentration, dim }, value) {
    const { device } = concentration;
    const diagonal = value.diagonal(0, -2, -1);
    const excess = concentration.sub(1).mul(2).unsqueeze(-1).add(dim);
    const order = excess.sub(arange(2, dim + 1, { device }));
    const density = xlogy(order, narrow(diagonal, -1, 1, dim - 1)).sum(-1);
    const count = dim - 1;
    const alpha = concentration.add(0.5 * count);
    const numerator = mvlgamma(alpha.sub(0.5), count).add(0.5 * count * Math.log(Math.PI));
    return density.sub(numerator.sub(alpha.lgamma().mul(count)));
  },
}) {}

// The onion method: each row has a random direction and a random length.
function drawn(
  { concentration, dim }: Dim & { readonly concentration: Tensor },
  shape: readonly number[],
  sampleShape: readonly number[],
): Tensor {
  const { dtype, device } = concentration;
  const offset = cat([zeros([1], { dtype, device }), arange(dim - 1, { dtype, device })]);
  const largest = concentration.add(0.5 * (dim - 2)).unsqueeze(-1);
  const lengths = new Beta(offset.add(0.5), largest.sub(offset.mul(0.5)));
  const squares = lengths.sample(sampleShape).unsqueeze(-1);
  const normal = standardNormal(shape, concentration).tril(-1);
  const directions = normal.div(normal.square().sum(-1, true).sqrt());
  // The first row has no elements below the diagonal, hence no direction.
  const below = narrow(directions, -2, 1, dim - 1);
  const first = zeros([...shape.slice(0, -2), 1, dim], { dtype, device });
  const rows = squares.sqrt().mul(cat([first, below], -2));
  const rest = oneMinus(rows.square().sum(-1)).clamp(limitsOf(dtype).tiny);
  return rows.add(diagEmbed(rest.sqrt()));
}
