import { count, number, type Options } from "../../arguments/rule.js";
import { localResponseNorm } from "../../composites/index.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type ClassWith, declared } from "../layer.js";
import { formatArguments, formatFloat } from "../module_text.js";

const kOptions = {
  /** The factor of the squares; default 1e-4. */
  alpha: number.or(1e-4),
  /** The exponent; default 0.75. */
  beta: number.or(0.75),
  /** Added to the squares; default 1. */
  k: number.or(1),
};

const kArguments = {
  /** The number of neighboring channels. */
  size: count,
  ...kOptions,
};

/** Options of `LocalResponseNorm`. */
export type LocalResponseNormOptions = Options<typeof kOptions>;

/** Divides by a power of the mean square of `size` neighboring channels. */
export class LocalResponseNorm extends declared<
  ClassWith<
    [size: number],
    [alpha: number, beta: number, k: number],
    LocalResponseNormOptions,
    typeof kArguments
  >,
  typeof kArguments
>(kArguments) {
  override forward(input: Tensor): Tensor {
    return localResponseNorm(input, this.size, this.alpha, this.beta, this.k);
  }

  override extraRepr(): string {
    const [alpha, beta, k] = [this.alpha, this.beta, this.k].map(formatFloat);
    return formatArguments([this.size], { alpha, beta, k });
  }
}
