import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, number, type Options, oneOf, Rule, size } from "../../arguments/rule.js";
import { embeddingBag } from "../../composites/index.js";
import { empty } from "../../generated/ops.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { normal_ } from "../init.js";
import { kLayerArguments, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";
import { clearRow, rowOf } from "./embedding.js";
import { limitRows, limitText } from "./row_limit.js";

const kFalse = new Rule<false>("false", (value) => value === false);

const kOptions = {
  /** The largest norm of a row: a longer one is scaled down to it, in place, when it is looked up. */
  maxNorm: number.orNull(),
  /** The p of `maxNorm`; default 2. */
  normType: number.or(2),
  /** Nothing but false: PyTorch divides gradients by how often a vector was looked up. */
  scaleGradByFreq: kFalse.or(false),
  /** What becomes of the vectors of a bag; default "mean". */
  mode: oneOf("sum", "mean", "max").or("mean"),
  /** Nothing but false: gradients are dense. */
  sparse: kFalse.or(false),
  /** The last offset is the end of the last bag; default false. */
  includeLastOffset: boolean.or(false),
  /** The row that starts as zeros, gets no gradient and does not count. */
  paddingIdx: integer.orNull(),
  ...kLayerArguments,
};

const kArguments = { numEmbeddings: size, embeddingDim: size, ...kOptions };

/** Options of `EmbeddingBag`. */
export type EmbeddingBagOptions = Options<typeof kOptions>;

/** What becomes of the vectors of a bag. */
export type BagMode = typeof kOptions.mode.type;

const kCallOptions = {
  /** Where each bag begins in an input that is a vector. */
  offsets: tensorRule.orNull(),
  /** A factor for each position of the input, for sums. */
  perSampleWeights: tensorRule.orNull(),
};

/** Options of a call of `EmbeddingBag`. */
export type EmbeddingBagCall = Options<typeof kCallOptions>;

/** A table of vectors, which are looked up by position and summed, averaged or maximised bag by bag. */
export class EmbeddingBag extends Module {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
  readonly maxNorm: number | null;
  readonly normType: number;
  readonly mode: BagMode;
  readonly includeLastOffset: boolean;
  readonly paddingIdx: number | null;
  weight: Parameter;

  constructor(
    ...given: [
      numEmbeddings: number,
      embeddingDim: number,
      ...rest: Arguments<
        [
          maxNorm: number | null,
          normType: number,
          scaleGradByFreq: false,
          mode: BagMode,
          sparse: false,
        ],
        EmbeddingBagOptions
      >,
    ]
  ) {
    super();
    const name = new.target.name;
    const { device, dtype, paddingIdx, ...own } = readArguments(name, kArguments, given);
    this.numEmbeddings = own.numEmbeddings;
    this.embeddingDim = own.embeddingDim;
    this.maxNorm = own.maxNorm;
    this.normType = own.normType;
    this.mode = own.mode;
    this.includeLastOffset = own.includeLastOffset;
    this.paddingIdx = paddingIdx === null ? null : rowOf(name, paddingIdx, own.numEmbeddings);
    const sizes = [own.numEmbeddings, own.embeddingDim];
    this.weight = parameterOf(name, empty, sizes, { device, dtype });
    this.resetParameters();
  }

  /** Draws new vectors. */
  resetParameters(): void {
    normal_(this.weight);
    if (this.paddingIdx !== null) clearRow(this.weight, this.paddingIdx);
  }

  /** Returns a vector for each bag: for each row of `input`, or for each of the offsets of a vector. */
  override forward(
    input: Tensor,
    ...rest:
      | [options?: EmbeddingBagCall]
      | [offsets: Tensor | null, perSampleWeights?: Tensor | null]
  ): Tensor {
    const call = readArguments("EmbeddingBag", kCallOptions, rest);
    const { mode, includeLastOffset, paddingIdx } = this;
    limitRows(this.weight, input, this);
    return embeddingBag(input, this.weight, { ...call, mode, includeLastOffset, paddingIdx });
  }

  override extraRepr(): string {
    return formatArguments([this.numEmbeddings, this.embeddingDim], {
      ...limitText(this),
      mode: `'${this.mode}'`,
      paddingIdx: this.paddingIdx ?? undefined,
    });
  }
}
