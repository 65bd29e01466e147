// Attention with grouped heads, a cache, sliding windows and soft caps.

import * as eg from "edgegrad";
import type { Pass } from "./pass.js";

/** The settings of a layer's attention. */
export interface AttentionOptions {
  readonly pass: Pass;
  /** The index of the layer in the cache; null for attention that is not cached. */
  readonly layer: number | null;
  readonly scale: number;
  readonly window?: number | null;
  /** Limits scores to between -softcap and softcap by tanh. */
  readonly softcap?: number | null;
  /** The dropout probability of the attention weights. */
  readonly dropout?: number;
  /** A bias that is added to the scores. */
  readonly bias?: eg.Tensor | null;
}

/** Splits the last dimension into heads: [batch, tokens, heads * size] becomes [batch, heads, tokens, size]. */
export function splitHeads(x: eg.Tensor, heads: number): eg.Tensor {
  const [batch, tokens, width] = x.shape as [number, number, number];
  return x.reshape([batch, tokens, heads, width / heads]).transpose(1, 2);
}

/** Undoes splitHeads(). */
export function joinHeads(x: eg.Tensor): eg.Tensor {
  const [batch, heads, tokens, size] = x.shape as [number, number, number, number];
  return x.transpose(1, 2).reshape([batch, tokens, heads * size]);
}

/**
 * Returns softmax(query keyᵀ scale + mask) value for [batch, heads, tokens, size]. Keys and values may have fewer heads, which several query
 * heads share.
 */
export function attend(
  query: eg.Tensor,
  key: eg.Tensor,
  value: eg.Tensor,
  options: AttentionOptions,
): eg.Tensor {
  const { pass, layer, window = null } = options;
  const { cache } = pass;
  const [keys, values] =
    cache === null || layer === null ? [key, value] : cache.append(layer, key, value);
  const mask = pass.mask(window);
  const [batch, heads, tokens, size] = query.shape as [number, number, number, number];
  const groups = keys.shape[1] as number;
  if (groups === heads) return attendTo(query, keys, values, mask, options);
  if (tokens === 1 && !mask.isCausal) {
    // With one token, query heads that share keys can be treated as tokens of one head.
    const shared = query.reshape([batch, groups, heads / groups, size]);
    return attendTo(shared, keys, values, mask, options).reshape([batch, heads, 1, -1]);
  }
  // Expands the keys to the heads that share them, as a view instead of a copy.
  const repeated = (x: eg.Tensor) =>
    x.unsqueeze(2).expand([batch, groups, heads / groups, ...x.shape.slice(2)]);
  const grouped = query.reshape([batch, groups, heads / groups, tokens, size]);
  const attnMask = mask.attnMask?.unsqueeze(-3) ?? null;
  const own = { ...mask, attnMask };
  return attendTo(grouped, repeated(keys), repeated(values), own, options).reshape([
    batch,
    heads,
    tokens,
    -1,
  ]);
}

function attendTo(
  query: eg.Tensor,
  key: eg.Tensor,
  value: eg.Tensor,
  { attnMask, isCausal }: ReturnType<Pass["mask"]>,
  { scale, softcap = null, dropout = 0, bias = null }: AttentionOptions,
): eg.Tensor {
  if (softcap === null) {
    const mask = bias === null ? attnMask : addBias(bias, attnMask, isCausal);
    const order = isCausal && bias === null;
    return eg.scaledDotProductAttention(query, key, value, mask, dropout, order, scale);
  }
  const capped = eg
    .matmul(query, key.transpose(-2, -1))
    .mul(scale / softcap)
    .tanh()
    .mul(softcap);
  // The lowest finite number instead of -Infinity: otherwise a token that may attend to nothing would get NaN, also as its gradient.
  const lowest = eg.finfo(query.dtype).min;
  const weights = eg.softmax(
    addBias(capped, attnMask?.clampMin(lowest) ?? null, isCausal, lowest),
    -1,
  );
  return eg.matmul(eg.dropout(weights, dropout, dropout > 0), value);
}

function addBias(
  scores: eg.Tensor,
  mask: eg.Tensor | null,
  isCausal: boolean,
  hidden = -Infinity,
): eg.Tensor {
  if (mask !== null) return scores.add(mask);
  if (!isCausal) return scores;
  const [rows, columns] = scores.shape.slice(-2) as [number, number];
  const seen = eg.ones([rows, columns], { dtype: "bool", device: scores.device }).tril();
  return scores.maskedFill(seen.logicalNot(), hidden);
}
