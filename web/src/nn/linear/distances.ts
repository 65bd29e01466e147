import { type MixedArguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, number, type Options } from "../../arguments/rule.js";
import { cosineSimilarity, pairwiseDistance } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type ClassWith, declared } from "../layer.js";
import { Module } from "../module.js";

const kCosine = {
  /** The dimension of the vectors; default 1. */
  dim: integer.or(1),
  /** The least product of their norms; default 1e-8. */
  eps: number.or(1e-8),
};

/** Options of `CosineSimilarity`. */
export type CosineSimilarityOptions = Options<typeof kCosine>;

/** The cosine of the angle between vectors. */
export class CosineSimilarity extends declared<
  ClassWith<[], [dim: number, eps: number], CosineSimilarityOptions, typeof kCosine>,
  typeof kCosine
>(kCosine) {
  override forward(x1: Tensor, x2: Tensor): Tensor {
    return cosineSimilarity(x1, x2, this.dim, this.eps);
  }

  override extraRepr(): string {
    return "";
  }
}

const kDistanceArguments = {
  /** The order of the norm; default 2. */
  p: number.or(2),
  /** Added to every difference; default 1e-6. */
  eps: number.or(1e-6),
  /** Keep the dimension of the vectors, with size 1; default false. */
  keepdim: boolean.or(false),
};

/** Options of `PairwiseDistance`. */
export type PairwiseDistanceOptions = Options<typeof kDistanceArguments>;

/** The distance between vectors along the last dimension. */
export class PairwiseDistance extends Module {
  readonly norm: number;
  readonly eps: number;
  readonly keepdim: boolean;

  constructor(p?: number, eps?: number, keepdim?: boolean);
  constructor(
    ...rest: MixedArguments<[p: number, eps: number, keepdim: boolean], PairwiseDistanceOptions>
  );
  constructor(options?: PairwiseDistanceOptions);
  constructor(...given: unknown[]) {
    super();
    const { p, eps, keepdim } = readArguments(new.target.name, kDistanceArguments, given);
    this.norm = p;
    this.eps = eps;
    this.keepdim = keepdim;
  }

  override forward(x1: Tensor, x2: Tensor): Tensor {
    return pairwiseDistance(x1, x2, this.norm, this.eps, this.keepdim);
  }
}
