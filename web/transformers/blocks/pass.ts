// What the layers of a model share in one call: positions, masks and the cache.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { KeyValueCache } from "./cache.js";

/** How attention hides keys: by a mask that is added to the scores, or as the kernel does it for tokens in order. */
export interface Hiding {
  readonly attnMask: eg.Tensor | null;
  readonly isCausal: boolean;
}

/** What a pass is about. */
export interface PassOptions {
  /** The numbers of the tokens: [batch, tokens]. */
  readonly ids: eg.Tensor;
  /** What the layers read: its dtype is that of masks. */
  readonly like: eg.Tensor;
  readonly isCausal: boolean;
  /** Which keys may be seen: [batch, cached + tokens], not 0 where they may. */
  readonly attentionMask?: eg.Tensor | null | undefined;
  readonly cache?: KeyValueCache | null | undefined;
  /** The place of each token: [batch, tokens]; default: one after the other. */
  readonly positionIds?: eg.Tensor | null | undefined;
  /** One more than the largest place, if positionIds are given. */
  readonly positions?: number | null | undefined;
}

/** One call of a model. */
export class Pass {
  /** The number of tokens in the cache before this pass. */
  readonly past: number;
  readonly #options: PassOptions;
  readonly #hidings = new Map<number | null, Hiding>();
  readonly #shared = new Map<object, unknown>();
  #positionIds: eg.Tensor | null = null;

  constructor(options: PassOptions) {
    this.#options = options;
    this.past = options.cache?.length ?? 0;
    const { attentionMask: mask, ids } = options;
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

  /** The dtype of what the layers pass on. */
  get dtype(): eg.DType {
    return this.#options.like.dtype;
  }

  /** The number of keys that attention may see. */
  get keys(): number {
    return this.past + (this.#options.ids.shape[1] as number);
  }

  /** One more than the largest place of a token. */
  get positions(): number {
    return this.#options.positions ?? this.keys;
  }

  /** The place of each token, [batch or 1, tokens]. */
  get positionIds(): eg.Tensor {
    const { positionIds, ids } = this.#options;
    if (positionIds) return positionIds;
    const { device } = ids;
    this.#positionIds ??= eg.arange(this.past, this.keys, { dtype: "int64", device }).unsqueeze(0);
    return this.#positionIds;
  }

  /** Returns what `make` returns for a key; it is made once per pass. */
  shared<T>(key: object, make: () => T): T {
    if (!this.#shared.has(key)) this.#shared.set(key, make());
    return this.#shared.get(key) as T;
  }

  /** Returns how keys are hidden from queries; of a window, only that many last keys are seen. */
  hiding(window: number | null = null): Hiding {
    const known = this.#hidings.get(window);
    if (known !== undefined) return known;
    const made = this.#makeHiding(window);
    this.#hidings.set(window, made);
    return made;
  }

  #makeHiding(window: number | null): Hiding {
    const { attentionMask = null, isCausal, like } = this.#options;
    const { device, dtype } = like;
    const tokens = this.keys - this.past;
    const isWindowed = isCausal && window !== null && this.keys > window;
    const isOrdered = isCausal && tokens > 1;
    if (attentionMask === null && !isWindowed) {
      if (!isOrdered) return { attnMask: null, isCausal: false };
      if (this.past === 0) return { attnMask: null, isCausal: true };
    }
    return eg.noGrad(() => {
      const own = attentionMask?.ne(0).reshape([-1, 1, 1, this.keys]) ?? null;
      let seen = own;
      if (isOrdered || isWindowed) {
        const query = eg.arange(this.past, this.keys, { device }).unsqueeze(1);
        const key = eg.arange(this.keys, { device });
        let order = key.le(query);
        if (isWindowed) order = order.logicalAnd(key.gt(query.sub(window)));
        seen = own === null ? order : own.logicalAnd(order);
      }
      const nothing = eg.zeros([], { device, dtype });
      const hidden = eg.full([], -Infinity, { device, dtype });
      return { attnMask: eg.where(seen as eg.Tensor, nothing, hidden), isCausal: false };
    });
  }
}
