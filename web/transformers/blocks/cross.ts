// Keys and values of what an encoder has read, which a decoder attends to at every step.

import * as eg from "edgegrad";

/** The keys and values of each layer of a decoder: computed once for many steps. */
export class CrossCache {
  readonly #layers: [keys: eg.Tensor, values: eg.Tensor][] = [];

  /** Returns those of a layer; `make` computes them for the first step. */
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

/** What a decoder attends to. */
export interface CrossSource {
  /** The last hidden states of the encoder. */
  readonly hidden: eg.Tensor;
  /** Is added to the scores of its tokens, or null. */
  readonly mask: eg.Tensor | null;
  /** Keeps keys and values for further steps, or null. */
  readonly cache: CrossCache | null;
}

/** Returns the keys and values of a layer for what an encoder has read. */
export function crossOf(
  { hidden, cache }: CrossSource,
  index: number,
  project: (hidden: eg.Tensor) => [keys: eg.Tensor, values: eg.Tensor],
): [keys: eg.Tensor, values: eg.Tensor] {
  return cache === null ? project(hidden) : cache.of(index, () => project(hidden));
}

/** Returns what hides the tokens for which `attentionMask` is 0, or null. */
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
