import { type Arguments, type MixedArguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, type Options, size } from "../../arguments/rule.js";
import { empty } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { needsPart } from "../../runtime/parts.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { embedding } from "../functional/embedding.js";
import { normal_, zeros_ } from "../init.js";
import { kLayerArguments, parameterOf } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import { Parameter } from "../parameter.js";
import {
  kLookupOptions,
  kSparse,
  type Lookup,
  type LookupRules,
  printedLookup,
} from "./lookup_options.js";

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
export class Embedding extends Module implements Lookup {
  readonly numEmbeddings: number;
  readonly embeddingDim: number;
  weight: Parameter;
  readonly paddingIdx: number | null;
  readonly maxNorm: number | null;
  readonly normType: number;
  readonly scaleGradByFreq: boolean;
  readonly sparse: boolean;

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
    super();
    const name = new.target.name;
    const { paddingIdx, device, dtype, ...own } = readArguments(name, kArguments, given);
    const { numEmbeddings, embeddingDim } = own;
    this.numEmbeddings = numEmbeddings;
    this.embeddingDim = embeddingDim;
    this.paddingIdx = paddingIdx === null ? null : rowOf(name, paddingIdx, numEmbeddings);
    this.maxNorm = own.maxNorm;
    this.normType = own.normType;
    this.scaleGradByFreq = own.scaleGradByFreq;
    this.sparse = own.sparse;
    this.weight = parameterOf(name, empty, [numEmbeddings, embeddingDim], { device, dtype });
    this.resetParameters();
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

  /** Draws new vectors. */
  resetParameters(): void {
    normal_(this.weight);
    if (this.paddingIdx !== null) clearRow(this.weight, this.paddingIdx);
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

/** Returns a table of a class without calling its constructor, which draws numbers. */
export function tableOf<Table extends Module>(
  where: string,
  table: { readonly prototype: Table },
  call: { readonly embeddings: Tensor; readonly paddingIdx: number | null },
  freeze: boolean,
): Table {
  const { embeddings, paddingIdx, ...own } = call;
  const [rows = 0, features = 0] = embeddings.shape;
  if (embeddings.ndim !== 2) {
    const message = `embeddings: expected a matrix, got the shape [${embeddings.shape.join(", ")}].`;
    fail("ShapeMismatch", where, message);
  }
  return Object.assign(Reflect.construct(Module, [], table as new () => Table) as Table, {
    ...own,
    numEmbeddings: rows,
    embeddingDim: features,
    paddingIdx: paddingIdx === null ? null : rowOf(where, paddingIdx, rows),
    weight: new Parameter(embeddings, !freeze),
  });
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
