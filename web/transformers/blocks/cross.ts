// The keys and values of the encoder's output, which a decoder attends to in every step.

import * as eg from "edgegrad";

/** The cross-attention keys and values of each decoder layer, computed once for many steps. */
export class CrossCache {
  readonly #layers: [keys: eg.Tensor, values: eg.Tensor][] = [];

  /** Returns the keys and values of a layer; `make` computes them in the first step. */
  of(index: number, make: () => [keys: eg.Tensor, values: eg.Tensor]): [eg.Tensor, eg.Tensor] {
    const known = this.#layers[index];
    if (known !== undefined) return known;
    const [keys, values] = make();
    const made: [eg.Tensor, eg.Tensor] = [eg.keep(keys), eg.keep(values)];
    this.#layers[index] = made;
    return made;
  }

  /** Frees the memory. */
  dispose(): void {
    for (const [keys, values] of this.#layers.splice(0)) {
      keys.dispose();
      values.dispose();
    }
  }
}

/** The encoder's output, as a decoder attends to it. */
export interface CrossSource {
  /** The last hidden states of the encoder. */
  readonly hidden: eg.Tensor;
  /** The mask that is added to the scores of its tokens, or null. */
  readonly mask: eg.Tensor | null;
  /** The cache of keys and values for further steps, or null. */
  readonly cache: CrossCache | null;
}

/** Returns the cross-attention keys and values of a layer. */
export function crossOf(
  { hidden, cache }: CrossSource,
  index: number,
  project: (hidden: eg.Tensor) => [keys: eg.Tensor, values: eg.Tensor],
): [keys: eg.Tensor, values: eg.Tensor] {
  return cache === null ? project(hidden) : cache.of(index, () => project(hidden));
}

/** Returns a mask of the tokens for which `attentionMask` is 0, or null. */
export function crossMask(
  attentionMask: eg.Tensor | null | undefined,
  dtype: eg.DType,
): eg.Tensor | null {
  if (!attentionMask) return null;
  const [batch, tokens] = attentionMask.shape as [number, number];
  const { device } = attentionMask;
  const seen = attentionMask.ne(0).reshape([batch, 1, 1, tokens]);
  const hidden = eg.full([], -Infinity, { device, dtype });
  return eg.where(seen, eg.zeros([], { device, dtype }), hidden);
}
