import { readArguments } from "../../arguments/read.js";
import { integer, type Options, size } from "../../arguments/rule.js";
import { embedding, empty } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { normal_, zeros_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";

const kOptions = {
  /** The row that starts as zeros and gets no gradient. */
  paddingIdx: integer.orNull(),
  ...kLayerArguments,
};

const kArguments = { numEmbeddings: size, embeddingDim: size, ...kOptions };

/** Options of `Embedding`. */
export type EmbeddingOptions = Options<typeof kOptions>;

/** A table of vectors, looked up by position. */
export class Embedding extends Module {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
  weight: Parameter;
  readonly paddingIdx: number | null;

  constructor(
    numEmbeddings: number,
    embeddingDim: number,
    paddingIdx?: number | null,
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
    this.paddingIdx = paddingIdx === null ? null : rowOf(paddingIdx, numEmbeddings);
    this.weight = parameterOf(name, empty, [numEmbeddings, embeddingDim], { device, dtype });
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
