// Buffers in files that follow from the architecture. They are recognized and not read, and computed when a model is saved.

import * as eg from "edgegrad";
import type { Omitted } from "./names.js";

interface Constant {
  readonly pattern: RegExp;
  make(omitted: Omitted): eg.Tensor;
}

/** A causal mask: true on and below the diagonal. */
const lowerTriangle = ({ shape, dtype }: Omitted) =>
  eg
    .ones([...shape])
    .tril()
    .to(dtype);

const kConstants: readonly Constant[] = [
  { pattern: /\b(?:attn|attention)\.bias$/, make: lowerTriangle },
  {
    pattern: /\b(?:attn|attention)\.masked_bias$/,
    make: ({ shape, dtype }) => eg.full([...shape], -1e9, { dtype: "float32" }).to(dtype),
  },
  {
    pattern: /\bposition_ids$/,
    make: ({ shape, dtype }) =>
      eg
        .arange(shape.at(-1) ?? 1)
        .expand([...shape])
        .to(dtype),
  },
];

/** Whether a tensor of a file need not be read, because it can be computed. */
export function isConstant(key: string): boolean {
  return isFrequencies(key) || kConstants.some(({ pattern }) => pattern.test(key));
}

/** Whether a tensor holds the frequencies of rotary embeddings, which config.json determines. */
export function isFrequencies(key: string): boolean {
  return /\brotary_emb\.inv_freq$/.test(key);
}

/** Computes a tensor that was not read. */
export function constantOf(key: string, omitted: Omitted): eg.Tensor {
  const { make } = kConstants.find(({ pattern }) => pattern.test(key)) as Constant;
  return make(omitted);
}
