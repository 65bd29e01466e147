// Multi-head attention. The heads are a part of the batch, [batch * heads, positions, size of a head], as in
// torch.nn.functional.multi_head_attention_forward.

import { readArguments } from "../../arguments/read.js";
import {
  boolean,
  count,
  integer,
  number,
  type Options,
  type Values,
} from "../../arguments/rule.js";
import {
  add,
  baddbmm,
  bmm,
  cat,
  chunk,
  dropout,
  empty,
  linear,
  maskedFill,
  mul,
  scaledDotProductAttention,
  softmax,
  transpose,
  zeros,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { needsPart } from "../../runtime/start/parts.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { constant_, xavierNormal_, xavierUniform_ } from "../init.js";
import { kLayerArguments, type LayerOptions, parameterOf } from "../layer_options.js";
import { Linear } from "../linear/linear.js";
import { Module } from "../module.js";
import type { Parameter } from "../parameter.js";

needsPart("attention");

const kOptions = {
  /** The probability of dropout on the weights; default 0. */
  dropout: number.or(0),
  /** Add learned biases to the projections; default true. */
  bias: boolean.or(true),
  /** Add a learned position to keys and values; default false. */
  addBiasKv: boolean.or(false),
  /** Add a position of zeros to keys and values; default false. */
  addZeroAttn: boolean.or(false),
  /** The number of features of keys; default `embedDim`. */
  kdim: count.orNull(),
  /** The number of features of values; default `embedDim`. */
  vdim: count.orNull(),
  /** The batch is dimension 0 instead of 1; default false. */
  batchFirst: boolean.or(false),
  ...kLayerArguments,
};

const kArguments = { embedDim: integer, numHeads: integer, ...kOptions };

/** Options of `MultiheadAttention`. */
export type MultiheadAttentionOptions = Options<typeof kOptions & typeof kLayerArguments>;

const kCallOptions = {
  /** Keys to ignore, [batch, keys]: true, or numbers that are added to the scores. */
  keyPaddingMask: tensorRule.orNull(),
  /** Also return the weights; default true. */
  needWeights: boolean.or(true),
  /** Pairs to ignore: [queries, keys], or one such mask for each of batch * heads. */
  attnMask: tensorRule.orNull(),
  /** Return the mean of the weights over the heads; default true. */
  averageAttnWeights: boolean.or(true),
  /** Says that `attnMask` is the causal mask; default false. */
  isCausal: boolean.or(false),
};

const kCallArguments = {
  query: tensorRule,
  key: tensorRule,
  value: tensorRule,
  ...kCallOptions,
};

/** Options of a call of `MultiheadAttention`. */
export type AttentionOptions = Options<typeof kCallOptions>;

type AttentionCall = Values<typeof kCallArguments>;

/** What a call takes besides query, key and value: options by name, or all by position. */
export type AttentionArguments =
  | [options?: AttentionOptions]
  | [
      keyPaddingMask: Tensor | null,
      needWeights?: boolean,
      attnMask?: Tensor | null,
      averageAttnWeights?: boolean,
      isCausal?: boolean,
    ];

/** Attention of queries to keys, which averages their values, by several heads in parallel. */
export class MultiheadAttention extends Module {
  readonly embedDim: number;
  readonly numHeads: number;
  readonly kdim: number;
  readonly vdim: number;
  readonly headDim: number;
  readonly dropout: number;
  readonly batchFirst: boolean;
  readonly addZeroAttn: boolean;
  q_proj_weight: Parameter | null;
  k_proj_weight: Parameter | null;
  v_proj_weight: Parameter | null;
  in_proj_weight: Parameter | null;
  in_proj_bias: Parameter | null;
  bias_k: Parameter | null;
  bias_v: Parameter | null;
  out_proj: Linear;

  constructor(
    embedDim: number,
    numHeads: number,
    dropout: number,
    bias?: boolean,
    addBiasKv?: boolean,
    addZeroAttn?: boolean,
    kdim?: number | null,
    vdim?: number | null,
    batchFirst?: boolean,
    options?: LayerOptions,
  );
  constructor(
    embedDim: number,
    numHeads: number,
    dropout: number,
    options: MultiheadAttentionOptions,
  );
  constructor(embedDim: number, numHeads: number, options?: MultiheadAttentionOptions);
  constructor(...given: unknown[]) {
    super();
    const name = new.target.name;
    const { device, dtype, bias, ...own } = readArguments(name, kArguments, given);
    const { embedDim, numHeads } = own;
    const kind = { device, dtype };
    if (!(embedDim > 0 && numHeads > 0)) {
      this.refuse(`embedDim and numHeads must be above 0, got ${embedDim} and ${numHeads}.`);
    }
    if (embedDim % numHeads !== 0) {
      this.refuse(`embedDim must be divisible by numHeads, got ${embedDim} and ${numHeads}.`);
    }
    this.embedDim = embedDim;
    this.numHeads = numHeads;
    this.kdim = own.kdim ?? embedDim;
    this.vdim = own.vdim ?? embedDim;
    this.headDim = embedDim / numHeads;
    this.dropout = own.dropout;
    this.batchFirst = own.batchFirst;
    this.addZeroAttn = own.addZeroAttn;
    const weight = (...size: number[]) => parameterOf(name, empty, size, kind);
    // One matrix for all three projections if the sizes allow it.
    const isJoint = this.kdim === embedDim && this.vdim === embedDim;
    this.q_proj_weight = isJoint ? null : weight(embedDim, embedDim);
    this.k_proj_weight = isJoint ? null : weight(embedDim, this.kdim);
    this.v_proj_weight = isJoint ? null : weight(embedDim, this.vdim);
    this.in_proj_weight = isJoint ? weight(3 * embedDim, embedDim) : null;
    this.in_proj_bias = bias ? weight(3 * embedDim) : null;
    this.bias_k = own.addBiasKv ? weight(1, 1, embedDim) : null;
    this.bias_v = own.addBiasKv ? weight(1, 1, embedDim) : null;
    this.out_proj = new Linear(embedDim, embedDim, { bias, ...kind });
    this.resetParameters();
  }

  /** Draws new weights, except those of the output projection. */
  resetParameters(): void {
    const { in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight } = this;
    for (const weight of [in_proj_weight, q_proj_weight, k_proj_weight, v_proj_weight]) {
      if (weight !== null) xavierUniform_(weight);
    }
    if (this.in_proj_bias !== null) constant_(this.in_proj_bias, 0);
    if (this.out_proj.bias !== null) constant_(this.out_proj.bias, 0);
    if (this.bias_k !== null) xavierNormal_(this.bias_k);
    if (this.bias_v !== null) xavierNormal_(this.bias_v);
  }

  /** Returns the output for each query, and the weights of the keys, or null unless `needWeights`. */
  override forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    ...given: AttentionArguments
  ): [Tensor, Tensor | null] {
    const call = readArguments("MultiheadAttention", kCallArguments, [query, key, value, ...given]);
    return scope(() => this.attend(call));
  }

  private attend({ query, key, value, ...options }: AttentionCall): [Tensor, Tensor | null] {
    const isBatched = this.checkInputs(query, key, value);
    const { needWeights, averageAttnWeights } = options;
    const [q, k, v] = [query, key, value].map((each) => this.sequenceFirst(each, isBatched));
    const [length = 0, batch = 0] = (q as Tensor).shape;
    const projected = this.project(q as Tensor, k as Tensor, v as Tensor);
    const [queries, ownKeys, ownValues] = projected;
    const keys = this.extend(ownKeys, this.bias_k);
    const values = this.extend(ownValues, this.bias_v);
    const count = keys.shape[1] as number;
    const splitQueries = this.split(queries);
    const sizes = [batch, length, count] as const;
    const giveBack = (heads: Tensor) => {
      const joined = transpose(heads, 0, 1).reshape(length, batch, this.embedDim);
      return this.giveBack(this.out_proj.call(joined), isBatched);
    };
    if (!needWeights) {
      // A mask that is declared to be the causal one need not be read.
      const isCausal = this.isPlainlyCausal(options);
      const mask = isCausal ? null : this.maskFor(options, queries.dtype, sizes, isBatched);
      const dropoutP = this.training ? this.dropout : 0;
      const given = { attnMask: mask, dropoutP, isCausal };
      const heads = scaledDotProductAttention(splitQueries, keys, values, given);
      return [giveBack(heads), null];
    }
    const mask = this.maskFor(options, queries.dtype, sizes, isBatched);
    const scaled = mul(splitQueries, Math.sqrt(1 / this.headDim));
    const turned = transpose(keys, 1, 2);
    const scores = mask === null ? bmm(scaled, turned) : baddbmm(mask, scaled, turned);
    const weights = dropout(softmax(scores, -1), this.dropout, this.training);
    const output = giveBack(bmm(weights, values));
    const each = weights.view(batch, this.numHeads, length, count);
    const shown = averageAttnWeights ? each.mean({ dim: 1 }) : each;
    return [output, isBatched ? shown : shown.squeeze(0)];
  }

  // Positions that the layer adds are last, where a causal mask would hide them.
  private isPlainlyCausal({ isCausal, attnMask, keyPaddingMask }: AttentionOptions): boolean {
    const addsPositions = this.bias_k !== null || this.addZeroAttn;
    return !!isCausal && !!attnMask && !keyPaddingMask && !addsPositions;
  }

  private project(query: Tensor, key: Tensor, value: Tensor): [Tensor, Tensor, Tensor] {
    const biases = this.in_proj_bias === null ? [] : chunk(this.in_proj_bias, 3, 0);
    const weights =
      this.in_proj_weight === null
        ? [this.q_proj_weight, this.k_proj_weight, this.v_proj_weight]
        : chunk(this.in_proj_weight, 3, 0);
    const projected = (input: Tensor, i: number) =>
      linear(input, weights[i] as Tensor, biases[i] ?? null);
    return [projected(query, 0), projected(key, 1), projected(value, 2)];
  }

  // [positions, batch, features] to [batch * heads, positions, size of a head].
  private split(input: Tensor): Tensor {
    const [length = 0, batch = 0] = input.shape;
    return transpose(input.reshape(length, batch * this.numHeads, this.headDim), 0, 1);
  }

  // The keys or values by head, with the positions that the layer adds.
  private extend(input: Tensor, learned: Parameter | null): Tensor {
    const batch = input.shape[1] ?? 1;
    const own = learned === null ? input : cat([input, learned.expand(1, batch, this.embedDim)], 0);
    const heads = this.split(own);
    if (!this.addZeroAttn) return heads;
    const zero = zeros([batch * this.numHeads, 1, this.headDim], kindOf(input));
    return cat([heads, zero], 1);
  }

  // Both masks as one tensor that is added to the scores.
  private maskFor(
    { attnMask = null, keyPaddingMask = null, isCausal = false }: AttentionOptions,
    dtype: Tensor["dtype"],
    [batch, length, count]: readonly [number, number, number],
    isBatched: boolean,
  ): Tensor | null {
    if (isCausal && attnMask === null) {
      this.refuse("isCausal: true requires attnMask.");
    }
    const given = count - (this.bias_k === null ? 0 : 1) - (this.addZeroAttn ? 1 : 0);
    const heads = batch * this.numHeads;
    let mask: Tensor | null = null;
    if (attnMask !== null) {
      const expected = attnMask.ndim === 3 ? [heads, length, given] : [length, given];
      this.checkShape("attnMask", attnMask, expected);
      mask = widen(additive(attnMask, dtype), count);
    }
    if (keyPaddingMask === null) return mask;
    this.checkShape("keyPaddingMask", keyPaddingMask, isBatched ? [batch, given] : [given]);
    const padding = widen(additive(keyPaddingMask, dtype), count)
      .view(batch, 1, 1, count)
      .expand(batch, this.numHeads, 1, count)
      .reshape(heads, 1, count);
    return mask === null ? padding : add(mask, padding);
  }

  private sequenceFirst(input: Tensor, isBatched: boolean): Tensor {
    if (!isBatched) return input.unsqueeze(1);
    return this.batchFirst ? transpose(input, 0, 1) : input;
  }

  private giveBack(output: Tensor, isBatched: boolean): Tensor {
    if (!isBatched) return output.squeeze(1);
    return this.batchFirst ? transpose(output, 0, 1) : output;
  }

  // Returns whether the inputs are batches.
  private checkInputs(query: Tensor, key: Tensor, value: Tensor): boolean {
    const { ndim } = query;
    if ((ndim !== 2 && ndim !== 3) || key.ndim !== ndim || value.ndim !== ndim) {
      fail(
        "ShapeMismatch",
        "MultiheadAttention",
        `query, key and value must all be 2D, or all 3D as batches, got ${ndim}D, ${key.ndim}D and ${value.ndim}D.`,
      );
    }
    const sizes = [this.embedDim, this.kdim, this.vdim];
    ["query", "key", "value"].forEach((name, i) => {
      const { shape } = [query, key, value][i] as Tensor;
      if (shape[ndim - 1] === sizes[i]) return;
      fail(
        "ShapeMismatch",
        "MultiheadAttention",
        `${name}: expected ${sizes[i]} features, got ${shape[ndim - 1]}.`,
      );
    });
    return ndim === 3;
  }

  private checkShape(name: string, { shape }: Tensor, expected: readonly number[]): void {
    if (String(shape) === String(expected)) return;
    fail(
      "ShapeMismatch",
      "MultiheadAttention",
      `${name}: expected the shape [${expected.join(", ")}], got [${shape.join(", ")}].`,
    );
  }

  private refuse(message: string): never {
    fail("InvalidArgument", "MultiheadAttention", message);
  }
}

// Turns a mask that is true for what to ignore into one that is added to the scores.
function additive(mask: Tensor, dtype: Tensor["dtype"]): Tensor {
  if (mask.dtype !== "bool") return mask;
  return maskedFill(zeros(mask.shape, { dtype, device: mask.device }), mask, -Infinity);
}

// The positions that the layer adds are never ignored.
function widen(mask: Tensor, count: number): Tensor {
  const { shape } = mask;
  const missing = count - (shape[shape.length - 1] ?? 0);
  if (missing === 0) return mask;
  return cat([mask, zeros([...shape.slice(0, -1), missing], kindOf(mask))], -1);
}

function kindOf({ dtype, device }: Tensor): LayerOptions {
  return { dtype, device };
}
