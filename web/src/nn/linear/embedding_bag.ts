import { type Arguments, type MixedArguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, type Options, oneOf, size } from "../../arguments/rule.js";
import { embeddingBag } from "../../composites/index.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLayerArguments } from "../layer_options.js";
import { formatArguments } from "../module_text.js";
import { kLookupOptions, kSparse, type LookupRules, printedLookup } from "./lookup_options.js";
import { LookupTable, tableOf } from "./lookup_table.js";

const kModeOption = {
  /** How the vectors of a bag are combined; default "mean". */
  mode: oneOf("sum", "mean", "max").or("mean"),
};

const kBagOptions = {
  /** The last offset is the end of the last bag; default false. */
  includeLastOffset: boolean.or(false),
  /** The row that starts as zeros, gets no gradient and does not count. */
  paddingIdx: integer.orNull(),
};

const kOptions = {
  ...kLookupOptions,
  ...kModeOption,
  ...kSparse,
  ...kBagOptions,
  ...kLayerArguments,
};

const kArguments = { numEmbeddings: size, embeddingDim: size, ...kOptions };

/** Options of `EmbeddingBag`. */
export type EmbeddingBagOptions = Options<typeof kOptions & LookupRules & typeof kLayerArguments>;

const kPretrainedOptions = {
  /** Do not train the vectors; default true. */
  freeze: boolean.or(true),
  ...kLookupOptions,
  ...kModeOption,
  ...kSparse,
  ...kBagOptions,
};

const kPretrainedArguments = { embeddings: tensorRule, ...kPretrainedOptions };

/** Options of `EmbeddingBag.fromPretrained`. */
export type BagFromPretrainedOptions = Options<typeof kPretrainedOptions & LookupRules>;

/** How the vectors of a bag are combined. */
export type BagMode = typeof kOptions.mode.type;

const kCallOptions = {
  /** Where each bag begins in an input that is a vector. */
  offsets: tensorRule.orNull(),
  /** A factor for each position of the input; for mode "sum". */
  perSampleWeights: tensorRule.orNull(),
};

/** Options of a call of `EmbeddingBag`. */
export type EmbeddingBagCall = Options<typeof kCallOptions>;

/** A table of vectors, which are looked up by position, and whose sum, mean or maximum is taken over each bag. */
export class EmbeddingBag extends LookupTable {
  declare readonly mode: BagMode;
  declare readonly includeLastOffset: boolean;

  constructor(
    numEmbeddings: number,
    embeddingDim: number,
    maxNorm?: number | null,
    normType?: number,
    scaleGradByFreq?: boolean,
    mode?: BagMode,
    sparse?: boolean,
    includeLastOffset?: boolean,
    paddingIdx?: number | null,
  );
  constructor(
    numEmbeddings: number,
    embeddingDim: number,
    ...rest: MixedArguments<
      [
        maxNorm: number | null,
        normType: number,
        scaleGradByFreq: boolean,
        mode: BagMode,
        sparse: boolean,
        includeLastOffset: boolean,
        paddingIdx: number | null,
      ],
      EmbeddingBagOptions
    >
  );
  constructor(numEmbeddings: number, embeddingDim: number, options?: EmbeddingBagOptions);
  constructor(...given: unknown[]) {
    super(readArguments(new.target.name, kArguments, given));
  }

  /**
   * Returns a table of these vectors [rows, features], whose data it shares. They are not trained unless `freeze` is
   * false.
   */
  static fromPretrained(
    embeddings: Tensor,
    ...rest: Arguments<
      [
        freeze: boolean,
        maxNorm: number | null,
        normType: number,
        scaleGradByFreq: boolean,
        mode: BagMode,
        sparse: boolean,
        includeLastOffset: boolean,
        paddingIdx: number | null,
      ],
      BagFromPretrainedOptions
    >
  ): EmbeddingBag {
    const where = "EmbeddingBag.fromPretrained";
    const { freeze, ...call } = readArguments(where, kPretrainedArguments, [embeddings, ...rest]);
    return tableOf(where, EmbeddingBag, call, freeze);
  }

  /** Returns a vector for each bag: for each row of `input`, or for each of the offsets of a vector. */
  override forward(
    input: Tensor,
    ...rest:
      | [options?: EmbeddingBagCall]
      | [offsets: Tensor | null, perSampleWeights?: Tensor | null]
  ): Tensor {
    const call = readArguments("EmbeddingBag", kCallOptions, rest);
    const { maxNorm, normType, scaleGradByFreq, mode, sparse } = this;
    const { includeLastOffset, paddingIdx } = this;
    return embeddingBag(input, this.weight, {
      ...call,
      maxNorm,
      normType,
      scaleGradByFreq,
      mode,
      sparse,
      includeLastOffset,
      paddingIdx,
    });
  }

  override extraRepr(): string {
    return formatArguments([this.numEmbeddings, this.embeddingDim], {
      ...printedLookup(this),
      mode: `'${this.mode}'`,
      paddingIdx: this.paddingIdx ?? undefined,
    });
  }
}
