// Attention and rotary embeddings.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { tensor, tensorOrNull, type Value } from "../values/value.js";
import {
  flag,
  float,
  ignored,
  int,
  maybeFloat,
  maybeInt,
  type Ops,
  op,
  type ValuesOf,
} from "./op.js";

/** Returns [batch, length, heads * size] as [batch, heads, length, size]. */
export function intoHeads(x: eg.Tensor, heads: number): eg.Tensor {
  const [batch = 1, length = 1, width = 1] = x.shape;
  return eg.permute(x.reshape([batch, length, heads, width / heads]), [0, 2, 1, 3]);
}

/** Returns [batch, heads, length, size] as [batch, length, heads * size]. */
export function fromHeads(x: eg.Tensor): eg.Tensor {
  const [batch = 1, heads = 1, length = 1, size = 1] = x.shape;
  return eg.permute(x, [0, 2, 1, 3]).reshape([batch, length, heads * size]);
}

/** The inputs of attention. */
export interface AttentionInputs {
  readonly query: eg.Tensor;
  readonly key: eg.Tensor;
  readonly value: eg.Tensor;
  /** A boolean mask, or numbers to add to the scores. */
  readonly mask: eg.Tensor | null;
  readonly scale: number | undefined;
  readonly softcap: number;
}

/** Returns the mask of keys at or before each query; the first query has `offset` keys before it. */
export function causalMask(
  length: number,
  keys: number,
  offset: number,
  device: eg.Device,
): eg.Tensor {
  return eg.tril(eg.ones([length, keys], { dtype: "bool", device }), offset);
}

/** Returns the intersection of two masks. */
export function bothMasks(a: eg.Tensor | null, b: eg.Tensor | null): eg.Tensor | null {
  if (a === null || b === null) return a ?? b;
  if (a.dtype === "bool" && b.dtype === "bool") return eg.logicalAnd(a, b);
  const bias = a.dtype === "bool" ? b : a;
  return maskAsNumbers(a, bias.dtype).add(maskAsNumbers(b, bias.dtype));
}

// Converts a boolean mask to numbers to add to the scores.
function maskAsNumbers(mask: eg.Tensor, dtype: eg.DType): eg.Tensor {
  if (mask.dtype !== "bool") return mask.to(dtype);
  const options = { dtype, device: mask.device };
  return eg.where(mask, eg.zeros([], options), eg.full([], Number.NEGATIVE_INFINITY, options));
}

/** Returns the values weighted by attention; key and value may have fewer heads. */
export function attention({ query, key, value, mask, scale, softcap }: AttentionInputs): eg.Tensor {
  if (softcap === 0) {
    const enableGqa = query.shape[1] !== key.shape[1];
    const options = { attnMask: mask, enableGqa, ...(scale === undefined ? {} : { scale }) };
    return eg.scaledDotProductAttention(query, key, value, options);
  }
  const scores = attentionScores(query, key, scale);
  const capped = withMask(limited(scores, softcap), mask);
  return eg.matmul(eg.softmax(capped, -1), repeatHeads(value, query));
}

function attentionScores(query: eg.Tensor, key: eg.Tensor, scale: number | undefined): eg.Tensor {
  const factor = scale ?? 1 / Math.sqrt(query.shape.at(-1) as number);
  return eg.matmul(query, eg.transpose(repeatHeads(key, query), -1, -2)).mul(factor);
}

const limited = (scores: eg.Tensor, softcap: number) =>
  softcap > 0 ? eg.tanh(scores.div(softcap)).mul(softcap) : scores;

const withMask = (scores: eg.Tensor, mask: eg.Tensor | null) =>
  mask === null ? scores : scores.add(maskAsNumbers(mask, scores.dtype));

// Repeats the key heads that several query heads share.
function repeatHeads(x: eg.Tensor, query: eg.Tensor): eg.Tensor {
  const times = (query.shape[1] as number) / (x.shape[1] as number);
  return times === 1 ? x : eg.repeatInterleave(x, times, 1);
}

const kAttention = {
  is_causal: flag(false),
  kv_num_heads: maybeInt,
  q_num_heads: maybeInt,
  qk_matmul_output_mode: int(0),
  scale: maybeFloat,
  softcap: float(0),
  softmax_precision: ignored,
};

function attentionOp(
  inputs: readonly Value[],
  given: ValuesOf<typeof kAttention>,
  wanted: readonly boolean[],
): Value[] {
  const [q, k, v, maskInput, pastKey, pastValue, lengths] = inputs;
  const isFlat = tensor(q).ndim === 3;
  const heads = (value: Value, count: number | undefined) => {
    const x = tensor(value);
    return isFlat
      ? intoHeads(
          x,
          count ?? fail("InvalidArgument", "OnnxModule", "the number of heads is missing."),
        )
      : x;
  };
  const query = heads(q, given.q_num_heads);
  const before = tensorOrNull(pastKey);
  const joined = (past: Value, x: eg.Tensor) =>
    past === undefined ? x : eg.cat([tensor(past), x], 2);
  const key = joined(pastKey, heads(k, given.kv_num_heads));
  const value = joined(pastValue, heads(v, given.kv_num_heads));
  const mask = maskOf(
    query,
    key,
    tensorOrNull(maskInput),
    given.is_causal,
    before?.shape[2] ?? 0,
    tensorOrNull(lengths),
  );
  const shared = { query, key, value, mask, scale: given.scale, softcap: given.softcap };
  const result = attention(shared);
  const scores = wanted[3] ? scoresOutput(shared, given.qk_matmul_output_mode) : undefined;
  return [isFlat ? fromHeads(result) : result, key, value, scores];
}

// Keys beyond the end of a short mask are masked.
function maskOf(
  query: eg.Tensor,
  key: eg.Tensor,
  given: eg.Tensor | null,
  isCausal: boolean,
  past: number,
  lengths: eg.Tensor | null,
): eg.Tensor | null {
  const [length, keys] = [query.shape[2] as number, key.shape[2] as number];
  const missing = given === null ? 0 : keys - (given.shape.at(-1) as number);
  let mask = given;
  if (given !== null && missing > 0) {
    const isTruth = given.dtype === "bool";
    const padded = eg.pad(isTruth ? given.to("int32") : given, [0, missing], {
      value: isTruth ? 0 : Number.NEGATIVE_INFINITY,
    });
    mask = isTruth ? padded.to("bool") : padded;
  }
  const positions = eg.arange(keys, { dtype: "int64", device: query.device });
  const valid = lengths?.to("int64").reshape([-1, 1, 1, 1]);
  if (isCausal && valid && past === 0) {
    const rows = eg.arange(length, { dtype: "int64", device: query.device }).reshape([-1, 1]);
    mask = bothMasks(mask, positions.le(rows.add(valid.sub(length))));
  } else if (isCausal) {
    mask = bothMasks(mask, causalMask(length, keys, past, query.device));
  }
  return valid ? bothMasks(mask, positions.lt(valid)) : mask;
}

// The scores at the requested stage: after the product, the softcap, the mask or the softmax.
function scoresOutput(
  { query, key, mask, scale, softcap }: AttentionInputs,
  mode: number,
): eg.Tensor {
  const raw = attentionScores(query, key, scale);
  if (mode === 0) return raw;
  const capped = limited(raw, softcap);
  if (mode === 1) return capped;
  const masked = withMask(capped, mask);
  return mode === 2 ? masked : eg.softmax(masked, -1);
}

/** How rotary embeddings pair the elements of a head. */
export interface Rotation {
  readonly isInterleaved: boolean;
  /** The number of elements of each head that are rotated; 0 for all. */
  readonly size: number;
}

/** Rotates the pairs of x [batch, heads, length, size] by angles, whose cosines and sines are [batch or 1, length, pairs]. */
export function rotate(
  x: eg.Tensor,
  cos: eg.Tensor,
  sin: eg.Tensor,
  { isInterleaved, size }: Rotation,
): eg.Tensor {
  const whole = x.shape[3] as number;
  const count = size === 0 ? whole : size;
  const turned = count === whole ? x : eg.narrow(x, 3, 0, count);
  const half = count / 2;
  const [c, s] = [cos, sin].map((angles) => eg.narrow(angles, -1, 0, half).unsqueeze(1)) as [
    eg.Tensor,
    eg.Tensor,
  ];
  const shape = [...x.shape.slice(0, 3), half, 2];
  const parts = isInterleaved ? eg.unbind(turned.reshape(shape), -1) : eg.chunk(turned, 2, -1);
  const [a, b] = parts as [eg.Tensor, eg.Tensor];
  const first = a.mul(c).sub(b.mul(s));
  const second = a.mul(s).add(b.mul(c));
  const result = isInterleaved
    ? eg.stack([first, second], -1).reshape(turned.shape)
    : eg.cat([first, second], -1);
  return count === whole ? result : eg.cat([result, eg.narrow(x, 3, count, whole - count)], -1);
}

/** Returns rows of a table of angles for positions [batch, length]. */
export function anglesAt(table: eg.Tensor, positions: eg.Tensor): eg.Tensor {
  const rows = eg.indexSelect(table, 0, positions.reshape([-1]).to("int64"));
  return rows.reshape([...positions.shape, table.shape[1] as number]);
}

export const kAttentionOps: Ops = {
  Attention: op({
    since: 23,
    attributes: kAttention,
    run: (inputs, given, { wanted }) => attentionOp(inputs, given, wanted),
  }),
  RotaryEmbedding: op({
    since: 23,
    attributes: { interleaved: flag(false), num_heads: int(0), rotary_embedding_dim: int(0) },
    run: ([input, cos, sin, positions], { interleaved, num_heads, rotary_embedding_dim }) => {
      const x = tensor(input);
      const split = x.ndim === 3 ? intoHeads(x, num_heads) : x;
      const at = tensorOrNull(positions);
      const [c, s] = [cos, sin].map((angles) =>
        at === null ? tensor(angles) : anglesAt(tensor(angles), at),
      ) as [eg.Tensor, eg.Tensor];
      const result = rotate(split, c, s, {
        isInterleaved: interleaved,
        size: rotary_embedding_dim,
      });
      return x.ndim === 3 ? fromHeads(result) : result;
    },
  }),
};
