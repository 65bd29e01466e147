// Attention with grouped heads, a cache, windows and soft caps.

import * as eg from "edgegrad";
import type { Pass } from "./pass.js";

/** How a layer attends. */
export interface AttentionOptions {
  readonly pass: Pass;
  /** The number of the layer in the cache; null for attention that no cache is for. */
  readonly layer: number | null;
  readonly scale: number;
  readonly window?: number | null;
  /** Scores are kept between -softcap and softcap by tanh. */
  readonly softcap?: number | null;
  /** The share of weights that training drops. */
  readonly dropout?: number;
  /** Is added to the scores. */
  readonly bias?: eg.Tensor | null;
}

/** Splits the last dimension into heads: [batch, tokens, heads * size] becomes [batch, heads, tokens, size]. */
export function splitHeads(x: eg.Tensor, heads: number): eg.Tensor {
  const [batch, tokens, width] = x.shape as [number, number, number];
  return x.reshape([batch, tokens, heads, width / heads]).transpose(1, 2);
}

/** Joins what splitHeads() has split. */
export function joinHeads(x: eg.Tensor): eg.Tensor {
  const [batch, heads, tokens, size] = x.shape as [number, number, number, number];
  return x.transpose(1, 2).reshape([batch, tokens, heads * size]);
}

/**
 * Returns softmax(query keyᵀ scale + mask) value for [batch, heads, tokens, size]; keys and values may have fewer heads, each of which several heads of
 * the query share.
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
  const hiding = pass.hiding(window);
  const [batch, heads, tokens, size] = query.shape as [number, number, number, number];
  const groups = keys.shape[1] as number;
  if (groups === heads) return attendTo(query, keys, values, hiding, options);
  if (tokens === 1 && !hiding.isCausal) {
    // With one token, the heads that share keys are like tokens of one head.
    const shared = query.reshape([batch, groups, heads / groups, size]);
    return attendTo(shared, keys, values, hiding, options).reshape([batch, heads, 1, -1]);
  }
  // A view of the keys for each head that shares them, instead of a copy.
  const repeated = (x: eg.Tensor) =>
    x.unsqueeze(2).expand([batch, groups, heads / groups, ...x.shape.slice(2)]);
  const grouped = query.reshape([batch, groups, heads / groups, tokens, size]);
  const attnMask = hiding.attnMask?.unsqueeze(-3) ?? null;
  const own = { ...hiding, attnMask };
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
  { attnMask, isCausal }: ReturnType<Pass["hiding"]>,
  { scale, softcap = null, dropout = 0, bias = null }: AttentionOptions,
): eg.Tensor {
  if (softcap === null) {
    const mask = bias === null ? attnMask : biased(bias, attnMask, isCausal);
    const order = isCausal && bias === null;
    return eg.scaledDotProductAttention(query, key, value, mask, dropout, order, scale);
  }
  const capped = eg
    .matmul(query, key.transpose(-2, -1))
    .mul(scale / softcap)
    .tanh()
    .mul(softcap);
  // The least number instead of -Infinity: a token that may see nothing has no NaN, whose gradient would be NaN too.
  const lowest = eg.finfo(query.dtype).min;
  const weights = eg.softmax(
    biased(capped, attnMask?.clampMin(lowest) ?? null, isCausal, lowest),
    -1,
  );
  return eg.matmul(eg.dropout(weights, dropout, dropout > 0), value);
}

function biased(
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
