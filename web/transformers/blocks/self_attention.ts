// Self-attention of encoders.

import * as eg from "edgegrad";
import { attend, joinHeads, splitHeads } from "./attention.js";
import { Linear, type Projection } from "./linear.js";
import type { Pass } from "./pass.js";

/** The settings of self-attention. */
export interface SelfAttentionOptions {
  readonly pass: Pass;
  readonly heads: number;
  /** The dropout probability of this call. */
  readonly dropout: number;
}

/** Computes self-attention from the projections to queries, keys and values. */
export function attendToEachOther(
  x: eg.Tensor,
  projections: readonly [query: Projection, key: Projection, value: Projection],
  { pass, heads, dropout }: SelfAttentionOptions,
): eg.Tensor {
  const [q, k, v] = projections.map((layer) => splitHeads(layer.call(x), heads)) as [
    eg.Tensor,
    eg.Tensor,
    eg.Tensor,
  ];
  const scale = (q.shape.at(-1) as number) ** -0.5;
  return joinHeads(attend(q, k, v, { pass, layer: null, scale, dropout }));
}

/** The sizes of a SelfAttention. */
export interface SelfAttentionSizes {
  readonly hidden: number;
  readonly heads: number;
  readonly hasBias: boolean;
  readonly dropout: number;
}

/** Self-attention whose projections have the names of BERT and ViT. */
export class SelfAttention extends eg.nn.Module {
  query: Projection;
  key: Projection;
  value: Projection;

  constructor(private readonly sizes: SelfAttentionSizes) {
    super();
    const { hidden, hasBias } = sizes;
    this.query = new Linear(hidden, hidden, hasBias);
    this.key = new Linear(hidden, hidden, hasBias);
    this.value = new Linear(hidden, hidden, hasBias);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { heads, dropout } = this.sizes;
    const share = this.training ? dropout : 0;
    return attendToEachOther(x, [this.query, this.key, this.value], {
      pass,
      heads,
      dropout: share,
    });
  }
}
