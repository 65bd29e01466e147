import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, number, type Options, size } from "../../arguments/rule.js";
import { embedding, empty } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { normal_, zeros_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import { Parameter } from "../parameter.js";
import { limitRows, limitText, type RowLimit } from "./row_limit.js";

const kLookupOptions = {
  /** The row that starts as zeros and gets no gradient. */
  paddingIdx: integer.orNull(),
  /** The largest norm of a row: a longer one is scaled down to it, in place, when it is looked up. */
  maxNorm: number.orNull(),
  /** The p of `maxNorm`; default 2. */
  normType: number.or(2),
};

const kOptions = { ...kLookupOptions, ...kLayerArguments };

const kArguments = { numEmbeddings: size, embeddingDim: size, ...kOptions };

/** Options of `Embedding`. */
export type EmbeddingOptions = Options<typeof kOptions>;

const kPretrainedOptions = {
  /** Keep the vectors as they are; default true. */
  freeze: boolean.or(true),
  ...kLookupOptions,
};

const kPretrainedArguments = { embeddings: tensorRule, ...kPretrainedOptions };

/** Options of `Embedding.fromPretrained`. */
export type FromPretrainedOptions = Options<typeof kPretrainedOptions>;

/** A table of vectors, looked up by position. */
export class Embedding extends Module {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
  weight: Parameter;
  readonly paddingIdx: number | null;
  readonly maxNorm: number | null;
  readonly normType: number;

  constructor(
    numEmbeddings: number,
    embeddingDim: number,
    paddingIdx?: number | null,
    options?: LayerOptions & Partial<RowLimit>,
  );
  constructor(
    numEmbeddings: number,
    embeddingDim: number,
    paddingIdx: number | null,
    maxNorm: number | null,
    normType?: number,
    options?: LayerOptions,
  );
  constructor(numEmbeddings: number, embeddingDim: number, options?: EmbeddingOptions);
  constructor(...given: unknown[]) {
    super();
    const name = new.target.name;
    const { paddingIdx, device, dtype, ...sizes } = readArguments(name, kArguments, given);
    const { numEmbeddings, embeddingDim } = sizes;
    this.numEmbeddings = numEmbeddings;
    this.embeddingDim = embeddingDim;
    this.paddingIdx = paddingIdx === null ? null : rowOf(name, paddingIdx, numEmbeddings);
    this.maxNorm = sizes.maxNorm;
    this.normType = sizes.normType;
    this.weight = parameterOf(name, empty, [numEmbeddings, embeddingDim], { device, dtype });
    this.resetParameters();
  }

  /**
   * Returns a table of these vectors [rows, features], whose data it shares. They do not learn unless `freeze` is
   * false.
   */
  static fromPretrained(
    embeddings: Tensor,
    ...rest: Arguments<
      [freeze: boolean, paddingIdx: number | null, maxNorm: number | null, normType: number],
      FromPretrainedOptions
    >
  ): Embedding {
    const where = "Embedding.fromPretrained";
    const call = readArguments(where, kPretrainedArguments, [embeddings, ...rest]);
    const [rows = 0, features = 0] = call.embeddings.shape;
    if (call.embeddings.ndim !== 2) {
      const told = "Embeddings parameter is expected to be 2-dimensional, got";
      fail("ShapeMismatch", where, `${told} [${call.embeddings.shape.join(", ")}].`);
    }
    // Not by the constructor, which draws numbers.
    const table = Reflect.construct(Module, [], Embedding) as Embedding;
    const paddingIdx = call.paddingIdx === null ? null : rowOf(where, call.paddingIdx, rows);
    const weight = new Parameter(call.embeddings, !call.freeze);
    return Object.assign(table, {
      numEmbeddings: rows,
      embeddingDim: features,
      weight,
      paddingIdx,
      maxNorm: call.maxNorm,
      normType: call.normType,
    });
  }

  /** Draws new vectors. */
  resetParameters(): void {
    normal_(this.weight);
    if (this.paddingIdx !== null) clearRow(this.weight, this.paddingIdx);
  }

  override forward(input: Tensor): Tensor {
    limitRows(this.weight, input, this);
    return embedding(input, this.weight, this.paddingIdx);
  }

  override extraRepr(): string {
    const { numEmbeddings, embeddingDim, paddingIdx } = this;
    return formatArguments([numEmbeddings, embeddingDim], {
      paddingIdx: paddingIdx ?? undefined,
      ...limitText(this),
    });
  }
}

/** Sets a row of a table to zeros. */
export function clearRow(weight: Parameter, position: number): void {
  const alias = weight.detach();
  const row = alias.at(position);
  zeros_(row);
  row.dispose();
  alias.dispose();
}

/** Returns the position of a row that may count from the end. */
export function rowOf(where: string, paddingIdx: number, rows: number): number {
  if (Number.isInteger(paddingIdx) && paddingIdx >= -rows && paddingIdx < rows) {
    return paddingIdx < 0 ? paddingIdx + rows : paddingIdx;
  }
  fail("IndexOutOfRange", where, `paddingIdx ${paddingIdx} is not one of ${rows} rows.`);
}
