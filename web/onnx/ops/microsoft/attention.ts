// The attention ops that ONNX Runtime's optimizer writes.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import { isNumbers } from "../../values/host.js";
import { tensor, tensorOrNull, type Value } from "../../values/value.js";
import {
  anglesAt,
  attention,
  bothMasks,
  causalMask,
  fromHeads,
  intoHeads,
  rotate,
} from "../attention.js";
import { flag, float, ignored, int, maybeFloat, maybeInts, type Ops, op } from "../op.js";

const kShared = { num_heads: int(1), scale: maybeFloat, mask_filter_value: ignored };

/** Throws if an input is given that only special kernels of ONNX Runtime accept. */
function refuse(name: string, ...values: readonly Value[]): void {
  if (values.every((value) => value === undefined)) return;
  fail("InvalidArgument", "OnnxModule", `${name} is not supported.`);
}

/** Returns the key mask. The input is the number of keys in each row of the batch, or a mask of keys or of query-key pairs. */
function keyMask(value: Value, batch: number, keys: number): eg.Tensor | null {
  const mask = tensorOrNull(value);
  if (mask === null) return null;
  if (mask.ndim === 1) {
    if (mask.shape[0] !== batch) return refused(mask);
    const positions = eg.arange(keys, { dtype: "int64", device: mask.device });
    return positions.lt(mask.to("int64").reshape([-1, 1, 1, 1]));
  }
  const truth = mask.ne(0);
  if (mask.ndim === 2) return truth.reshape([batch, 1, 1, keys]);
  return mask.ndim === 3 ? truth.unsqueeze(1) : truth;
}

const refused = (mask: eg.Tensor): never =>
  fail("ShapeMismatch", "OnnxModule", `a mask of the shape [${mask.shape}] is not supported.`);

const joined = (past: eg.Tensor | null, x: eg.Tensor) => (past === null ? x : eg.cat([past, x], 2));

// Query, key and value may be packed into one input, and key and value may already be split into heads.
function multiHead(inputs: readonly Value[], heads: number): [eg.Tensor, eg.Tensor, eg.Tensor] {
  const [q, k, v, bias] = inputs;
  const query = tensor(q);
  if (query.ndim === 5) {
    const parts = eg.unbind(query, 3).map((part) => eg.permute(part, [0, 2, 1, 3]));
    return parts as unknown as [eg.Tensor, eg.Tensor, eg.Tensor];
  }
  const key = tensor(k);
  const width = query.shape[2] as number;
  const biases = tensorOrNull(bias);
  const own = (from: number, size: number) =>
    biases === null ? null : eg.narrow(biases, 0, from, size);
  const part = (x: eg.Tensor, added: eg.Tensor | null) => {
    if (x.ndim === 4) return x;
    return intoHeads(added === null ? x : x.add(added), heads);
  };
  if (key.ndim === 5) {
    const [first, second] = eg.unbind(key, 3).map((part) => eg.permute(part, [0, 2, 1, 3]));
    return [part(query, own(0, width)), first as eg.Tensor, second as eg.Tensor];
  }
  const value = tensor(v);
  const last = value.ndim === 4 ? 0 : (value.shape[2] as number);
  return [
    part(query, own(0, width)),
    part(key, own(width, width)),
    part(value, own(2 * width, last)),
  ];
}

const multiHeadAttention = op({
  attributes: { ...kShared, unidirectional: flag(false) },
  weights: [3],
  run: (inputs, { num_heads, scale, unidirectional }) => {
    const [padding, bias, pastKey, pastValue] = inputs.slice(4);
    refuse("a shared buffer of past keys", ...inputs.slice(8));
    const [query, newKey, newValue] = multiHead(inputs, num_heads);
    const key = joined(tensorOrNull(pastKey), newKey);
    const value = joined(tensorOrNull(pastValue), newValue);
    const [batch = 1, , length = 1] = query.shape;
    const keys = key.shape[2] as number;
    const order = unidirectional ? causalMask(length, keys, keys - length, query.device) : null;
    const mask = bothMasks(bothMasks(keyMask(padding, batch, keys), order), tensorOrNull(bias));
    return [fromHeads(attention({ query, key, value, mask, scale, softcap: 0 })), key, value];
  },
});

const fusedAttention = op({
  attributes: {
    ...kShared,
    do_rotary: flag(false),
    past_present_share_buffer: flag(false),
    qkv_hidden_sizes: maybeInts,
    rotary_embedding_dim: ignored,
    unidirectional: flag(false),
  },
  weights: [1, 2],
  run: ([input, weight, bias, mask, past, added, ...others], given) => {
    refuse(
      "a shared buffer of past keys",
      given.past_present_share_buffer || undefined ? null : undefined,
      ...others,
    );
    refuse("rotation inside Attention", given.do_rotary ? null : undefined);
    const x = tensor(input);
    const product = eg.matmul(x, tensor(weight));
    const all = bias === undefined ? product : product.add(tensor(bias));
    const third = (all.shape[2] as number) / 3;
    const sizes = given.qkv_hidden_sizes ?? [third, third, third];
    const [query, newKey, newValue] = eg
      .splitWithSizes(all, [...sizes], 2)
      .map((part) => intoHeads(part, given.num_heads)) as [eg.Tensor, eg.Tensor, eg.Tensor];
    const before = past === undefined ? [null, null] : eg.unbind(tensor(past), 0);
    const key = joined(before[0] ?? null, newKey);
    const value = joined(before[1] ?? null, newValue);
    const [length, keys] = [query.shape[2] as number, key.shape[2] as number];
    const order = given.unidirectional ? causalMask(length, keys, keys - length, x.device) : null;
    const masks = bothMasks(
      bothMasks(keyMask(mask, x.shape[0] as number, keys), order),
      tensorOrNull(added),
    );
    const result = attention({ query, key, value, mask: masks, scale: given.scale, softcap: 0 });
    return [fromHeads(result), eg.stack([key, value], 0)];
  },
});

// Where the new tokens of each row begin. In a first prompt all rows begin at zero: the padding of shorter ones is at their ends, where no
// earlier position sees it. Lengths in a tensor are not read, so that the op can be captured.
function startOf(lengths: Value, before: number, length: number): number | eg.Tensor {
  if (before === 0 || lengths === undefined) return before;
  if (isNumbers(lengths) && lengths.data.every((last) => last + 1 === before + length))
    return before;
  return tensor(lengths)
    .to("int64")
    .reshape([-1, 1])
    .add(1 - length);
}

// The positions of the new tokens, [batch, length].
function positionsFrom(
  start: number | eg.Tensor,
  length: number,
  batch: number,
  device: eg.Device,
): eg.Tensor {
  const steps = eg.arange(length, { dtype: "int64", device }).reshape([1, length]);
  return steps.add(start).expand([batch, length]);
}

// Puts new keys behind the old ones of each row, which may have different lengths.
function placed(past: eg.Tensor, fresh: eg.Tensor, positions: eg.Tensor): eg.Tensor {
  const [batch = 1, length = 1] = positions.shape;
  const index = positions.reshape([batch, 1, length, 1]).expand(fresh.shape);
  return eg.scatter(eg.cat([past, eg.zerosLike(fresh)], 2), 2, index, fresh);
}

// The keys at or before each query, at most `window` of them if that is positive: [batch, 1, length, keys].
function windowMask(positions: eg.Tensor, keys: number, window: number): eg.Tensor {
  const rows = positions.unsqueeze(1).unsqueeze(3);
  const columns = eg.arange(keys, { dtype: "int64", device: positions.device });
  const seen = columns.le(rows);
  return window > 0 ? eg.logicalAnd(seen, columns.gt(rows.sub(window))) : seen;
}

const groupQuery = op({
  attributes: {
    num_heads: int(1),
    kv_num_heads: int(1),
    scale: maybeFloat,
    do_rotary: flag(false),
    rotary_interleaved: flag(false),
    local_window_size: int(-1),
    softcap: float(0),
    smooth_softmax: int(0),
    kv_cache_bit_width: int(0),
  },
  settings: [5, 6],
  run: ([q, k, v, pastKey, pastValue, lengths, , cos, sin, ...others], given) => {
    refuse(
      "this form of GroupQueryAttention",
      ...others,
      given.smooth_softmax > 0 || given.kv_cache_bit_width > 0 ? null : undefined,
    );
    const { num_heads: heads, kv_num_heads: groups } = given;
    const packed = tensor(q);
    const each = (packed.shape[2] as number) / (k === undefined ? heads + 2 * groups : heads);
    const parts =
      k === undefined
        ? eg.splitWithSizes(packed, [heads * each, groups * each, groups * each], 2)
        : [packed, tensor(k), tensor(v)];
    const [first, second, value] = parts.map((part, i) =>
      intoHeads(part, i === 0 ? heads : groups),
    ) as [eg.Tensor, eg.Tensor, eg.Tensor];
    const past = tensorOrNull(pastKey);
    const [batch = 1, , length = 1] = first.shape;
    const before = past?.shape[2] ?? 0;
    const start = startOf(lengths, before, length);
    const positions = positionsFrom(start, length, batch, first.device);
    let [query, key] = [first, second];
    if (given.do_rotary) {
      const [c, s] = [anglesAt(tensor(cos), positions), anglesAt(tensor(sin), positions)];
      const rotation = {
        isInterleaved: given.rotary_interleaved,
        size: 2 * (c.shape[2] as number),
      };
      query = rotate(first, c, s, rotation);
      key = rotate(second, c, s, rotation);
    }
    const join = (old: eg.Tensor | null, fresh: eg.Tensor) =>
      typeof start === "number" || old === null
        ? joined(old, fresh)
        : placed(old, fresh, positions);
    const keys = join(past, key);
    const values = join(tensorOrNull(pastValue), value);
    const mask = windowMask(positions, keys.shape[2] as number, given.local_window_size);
    const shared = {
      query,
      key: keys,
      value: values,
      mask,
      scale: given.scale || undefined,
      softcap: given.softcap,
    };
    return [fromHeads(attention(shared)), keys, values];
  },
});

const rotaryEmbedding = op({
  attributes: {
    interleaved: flag(false),
    is_packed_batching: flag(false),
    num_heads: int(0),
    rotary_embedding_dim: int(0),
    scale: float(1),
  },
  run: ([input, positions, cos, sin], given) => {
    const x = tensor(input);
    refuse("packed batching", given.is_packed_batching ? null : undefined);
    const table = tensor(cos);
    const width = 2 * (table.shape[1] as number);
    const heads = given.num_heads || (x.shape[2] as number) / width;
    const split = x.ndim === 3 ? intoHeads(x, heads) : x;
    const [batch = 1, , length = 1] = split.shape;
    const at = tensor(positions);
    const steps = eg.arange(length, { dtype: "int64", device: x.device });
    // A single number is the position of the first token.
    const places =
      at.numel === 1 && length > 1
        ? steps.add(at.reshape([])).expand([batch, length])
        : at.reshape([-1, length]);
    const rotation = {
      isInterleaved: given.interleaved,
      size: given.rotary_embedding_dim || width,
    };
    const result = rotate(split, anglesAt(table, places), anglesAt(tensor(sin), places), rotation);
    return x.ndim === 3 ? fromHeads(result) : result;
  },
});

export const kMicrosoftAttention: Ops = {
  Attention: fusedAttention,
  GroupQueryAttention: groupQuery,
  MultiHeadAttention: multiHeadAttention,
  RotaryEmbedding: rotaryEmbedding,
};
