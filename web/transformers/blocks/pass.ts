// The state that the layers of a model share in one call: positions, masks and the cache.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { KeyValueCache } from "./cache.js";

/** The mask of attention: a tensor that is added to the scores, or the causal mask of the kernel. */
export interface AttentionMask {
  readonly attnMask: eg.Tensor | null;
  readonly isCausal: boolean;
}

/** The inputs of a pass. */
export interface PassOptions {
  /** The token IDs: [batch, tokens]. */
  readonly ids: eg.Tensor;
  /** A tensor with the dtype and device of masks. */
  readonly like: eg.Tensor;
  readonly isCausal: boolean;
  /** The keys to attend to: [batch, cached + tokens], 0 where they are masked. */
  readonly attentionMask?: eg.Tensor | null | undefined;
  readonly cache?: KeyValueCache | null | undefined;
  /** The text that each token belongs to: [batch, tokens]; tokens attend only to their own text. */
  readonly sequenceIds?: eg.Tensor | null | undefined;
  /** The block that each token belongs to: [batch, tokens]; those of a block attend to each other, also ahead. Tokens of -1 are in none. */
  readonly blockIds?: eg.Tensor | null | undefined;
  /** The position of each token: [batch, tokens]; default: consecutive positions. */
  readonly positionIds?: eg.Tensor | null | undefined;
  /** One more than the largest position, if positionIds are given. */
  readonly positions?: number | null | undefined;
}

/** One call of a model. */
export class Pass {
  /** The number of tokens in the cache before this pass. */
  readonly past: number;
  readonly #options: PassOptions;
  readonly #masks = new Map<number | null, AttentionMask>();
  readonly #shared = new Map<object, unknown>();
  #positionIds: eg.Tensor | null = null;

  constructor(options: PassOptions) {
    this.#options = options;
    this.past = options.cache?.length ?? 0;
    const { attentionMask: mask, ids, sequenceIds } = options;
    if (
      sequenceIds &&
      (this.past > 0 || String(sequenceIds.shape) !== String(ids.shape.slice(0, 2)))
    ) {
      const wanted = `[${ids.shape.slice(0, 2).join(", ")}]`;
      const got = `[${sequenceIds.shape.join(", ")}]`;
      const message = `expected the shape ${wanted} and no tokens in a cache, got ${got}.`;
      fail("ShapeMismatch", "sequenceIds", message);
    }
    const [batch] = ids.shape;
    if (mask && String(mask.shape) !== String([batch, this.keys])) {
      const advice =
        this.past > 0 ? ` It covers the ${this.past} tokens of the cache as well.` : "";
      fail(
        "ShapeMismatch",
        "attentionMask",
        `expected the shape [${batch}, ${this.keys}], got [${mask.shape.join(", ")}].${advice}`,
      );
    }
  }

  /** The cache, or null. */
  get cache(): KeyValueCache | null {
    return this.#options.cache ?? null;
  }

  /** The dtype of the hidden states. */
  get dtype(): eg.DType {
    return this.#options.like.dtype;
  }

  /** The number of keys, including those of the cache. */
  get keys(): number {
    return this.past + (this.#options.ids.shape[1] as number);
  }

  /** One more than the largest position of a token. */
  get positions(): number {
    return this.#options.positions ?? this.keys;
  }

  /** The position of each token, [batch or 1, tokens]. */
  get positionIds(): eg.Tensor {
    const { positionIds, ids } = this.#options;
    if (positionIds) return positionIds;
    const { device } = ids;
    this.#positionIds ??= eg.arange(this.past, this.keys, { dtype: "int64", device }).unsqueeze(0);
    return this.#positionIds;
  }

  /** Returns the result of `make` for a key, which is computed once per pass. */
  shared<T>(key: object, make: () => T): T {
    if (!this.#shared.has(key)) this.#shared.set(key, make());
    return this.#shared.get(key) as T;
  }

  /** Returns the mask of keys; with a window, each query attends only to that many last keys, or if it is not causal to that many on each side. */
  mask(window: number | null = null): AttentionMask {
    const known = this.#masks.get(window);
    if (known !== undefined) return known;
    const made = this.#makeMask(window);
    this.#masks.set(window, made);
    return made;
  }

  #makeMask(window: number | null): AttentionMask {
    const { attentionMask = null, isCausal, like, sequenceIds, blockIds } = this.#options;
    const { device, dtype } = like;
    const tokens = this.keys - this.past;
    const isWindowed = window !== null && this.keys > window;
    const isOrdered = isCausal && tokens > 1;
    if (attentionMask === null && !isWindowed && !sequenceIds && !blockIds) {
      if (!isOrdered) return { attnMask: null, isCausal: false };
      if (this.past === 0) return { attnMask: null, isCausal: true };
    }
    return eg.noGrad(() => {
      const own = attentionMask?.ne(0).reshape([-1, 1, 1, this.keys]) ?? null;
      let seen = own;
      if (isOrdered || isWindowed) {
        const query = eg.arange(this.past, this.keys, { device }).unsqueeze(1);
        const key = eg.arange(this.keys, { device });
        let order = isCausal ? key.le(query) : key.le(query.add(window as number));
        if (isWindowed) {
          const first = query.sub(window);
          order = order.logicalAnd(isCausal ? key.gt(first) : key.ge(first));
        }
        if (blockIds) order = order.logicalOr(this.#sameBlock(blockIds));
        seen = own === null ? order : own.logicalAnd(order);
      }
      if (sequenceIds) {
        const own = sequenceIds.unsqueeze(2).eq(sequenceIds.unsqueeze(1)).unsqueeze(1);
        seen = seen === null ? own : own.logicalAnd(seen);
      }
      const nothing = eg.zeros([], { device, dtype });
      const hidden = eg.full([], -Infinity, { device, dtype });
      return { attnMask: eg.where(seen as eg.Tensor, nothing, hidden), isCausal: false };
    });
  }

  // Whether each key is in the same block as each query, [batch, 1, tokens, keys]; keys of the cache are in no block.
  #sameBlock(blockIds: eg.Tensor): eg.Tensor {
    const [query, key] = [blockIds.unsqueeze(2), blockIds.unsqueeze(1)];
    const own = query.eq(key).logicalAnd(query.ge(0)).unsqueeze(1);
    if (this.past === 0) return own;
    const [batch, tokens] = blockIds.shape as [number, number];
    const { device } = own;
    return eg.cat([eg.zeros([batch, 1, tokens, this.past], { dtype: "bool", device }), own], -1);
  }
}
