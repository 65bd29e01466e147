import { embedding, empty } from "../generated/ops.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { normal_, zeros_ } from "./init.js";
import type { LayerOptions } from "./layer_options.js";
import { Module } from "./module.js";
import { formatArguments } from "./module_text.js";
import { type Parameter, parameterFrom } from "./parameter.js";

/** Options of `Embedding`. */
export interface EmbeddingOptions extends LayerOptions {
  /** The row that starts as zeros and gets no gradient. */
  paddingIdx?: number | null;
}

/** A table of vectors, looked up by position. */
export class Embedding extends Module {
  weight: Parameter;
  readonly paddingIdx: number | null;

  constructor(
    numEmbeddings: number,
    embeddingDim: number,
    paddingIdx?: number | null,
    options?: LayerOptions,
  );
  constructor(numEmbeddings: number, embeddingDim: number, options?: EmbeddingOptions);
  constructor(
    readonly numEmbeddings: number,
    readonly embeddingDim: number,
    paddingIdx: number | null | EmbeddingOptions = null,
    layerOptions: LayerOptions = {},
  ) {
    super();
    const isNamed = typeof paddingIdx === "object" && paddingIdx !== null;
    const given: EmbeddingOptions = isNamed ? paddingIdx : { paddingIdx, ...layerOptions };
    const { paddingIdx: padding = null, ...options } = given;
    this.paddingIdx = padding === null ? null : rowOf(padding, numEmbeddings);
    this.weight = parameterFrom(empty([numEmbeddings, embeddingDim], options));
    this.resetParameters();
  }

  /** Draws new vectors. */
  resetParameters(): void {
    normal_(this.weight);
    if (this.paddingIdx === null) return;
    const alias = this.weight.detach();
    const row = alias.at(this.paddingIdx);
    zeros_(row);
    row.dispose();
    alias.dispose();
  }

  override forward(input: Tensor): Tensor {
    return embedding(input, this.weight, this.paddingIdx);
  }

  override extraRepr(): string {
    const { numEmbeddings, embeddingDim, paddingIdx } = this;
    return formatArguments([numEmbeddings, embeddingDim], { paddingIdx: paddingIdx ?? undefined });
  }
}

function rowOf(paddingIdx: number, rows: number): number {
  if (Number.isInteger(paddingIdx) && paddingIdx >= -rows && paddingIdx < rows) {
    return paddingIdx < 0 ? paddingIdx + rows : paddingIdx;
  }
  fail("IndexOutOfRange", "Embedding", `paddingIdx ${paddingIdx} is not one of ${rows} rows.`);
}
