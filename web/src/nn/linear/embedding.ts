import { type Arguments, type MixedArguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, type Options, size } from "../../arguments/rule.js";
import { needsPart } from "../../runtime/start/parts.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { embedding } from "../functional/embedding.js";
import { kLayerArguments } from "../layer_options.js";
import { formatArguments } from "../module_text.js";
import { kLookupOptions, kSparse, type LookupRules, printedLookup } from "./lookup_options.js";
import { LookupTable, tableOf } from "./lookup_table.js";

needsPart("attention");

const kOptions = {
  /** The row that starts as zeros and gets no gradient. */
  paddingIdx: integer.orNull(),
  ...kLookupOptions,
  ...kSparse,
  ...kLayerArguments,
};

const kArguments = { numEmbeddings: size, embeddingDim: size, ...kOptions };

/** Options of `Embedding`. */
export type EmbeddingOptions = Options<typeof kOptions & LookupRules & typeof kLayerArguments>;

const kPretrainedOptions = {
  /** Do not train the vectors; default true. */
  freeze: boolean.or(true),
  /** The row that gets no gradient. */
  paddingIdx: kOptions.paddingIdx,
  ...kLookupOptions,
  ...kSparse,
};

const kPretrainedArguments = { embeddings: tensorRule, ...kPretrainedOptions };

/** Options of `Embedding.fromPretrained`. */
export type FromPretrainedOptions = Options<typeof kPretrainedOptions & LookupRules>;

/** A table of vectors, looked up by position. */
export class Embedding extends LookupTable {
  constructor(
    numEmbeddings: number,
    embeddingDim: number,
    paddingIdx?: number | null,
    maxNorm?: number | null,
    normType?: number,
    scaleGradByFreq?: boolean,
    sparse?: boolean,
  );
  constructor(
    numEmbeddings: number,
    embeddingDim: number,
    ...rest: MixedArguments<
      [
        paddingIdx: number | null,
        maxNorm: number | null,
        normType: number,
        scaleGradByFreq: boolean,
        sparse: boolean,
      ],
      EmbeddingOptions
    >
  );
  constructor(numEmbeddings: number, embeddingDim: number, options?: EmbeddingOptions);
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
        paddingIdx: number | null,
        maxNorm: number | null,
        normType: number,
        scaleGradByFreq: boolean,
        sparse: boolean,
      ],
      FromPretrainedOptions
    >
  ): Embedding {
    const where = "Embedding.fromPretrained";
    const { freeze, ...call } = readArguments(where, kPretrainedArguments, [embeddings, ...rest]);
    return tableOf(where, Embedding, call, freeze);
  }

  override forward(input: Tensor): Tensor {
    const { paddingIdx, maxNorm, normType, scaleGradByFreq, sparse } = this;
    return embedding(input, this.weight, paddingIdx, maxNorm, normType, scaleGradByFreq, sparse);
  }

  override extraRepr(): string {
    const paddingIdx = this.paddingIdx ?? undefined;
    return formatArguments([this.numEmbeddings, this.embeddingDim], {
      paddingIdx,
      ...printedLookup(this),
    });
  }
}
