// The steps of a generation: calls of the model with a cache, for texts whose tokens are known here.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { KeyValueCache } from "../blocks/cache.js";

const kWhere = "generate";

/** What a generation step passes to a model in addition to the tokens. */
export interface StepOptions {
  readonly pastKeyValues: KeyValueCache;
  readonly attentionMask?: eg.Tensor;
  readonly positionIds?: eg.Tensor;
  readonly positions?: number;
}

/** Computes the scores of the next token: [batch, 1, vocabulary]. */
export type Scorer = (ids: eg.Tensor, options: StepOptions) => eg.Tensor;

/** What the steps of a generation need. */
export interface StepsOptions {
  /** The tokens to continue, [batch, tokens]. */
  readonly ids: eg.Tensor;
  readonly scorer: Scorer;
  /** The most tokens to generate. */
  readonly most: number;
  /** Texts of more tokens than this cannot use keys that were cached below it. */
  readonly cacheLimit: number | null;
  readonly attentionMask: eg.Tensor | null;
  /** The cache of the program, which is kept; null: a cache of these steps. */
  readonly cache: KeyValueCache | null;
}

// The padding of a batch, read once.
interface Padding {
  /** [batch, 1]: the position of the first generated token of each text. */
  readonly next: eg.Tensor;
  readonly mask: eg.Tensor;
  readonly positions: eg.Tensor;
  readonly longest: number;
}

/** The steps of a generation. */
export class Steps {
  readonly cache: KeyValueCache;
  /** The tokens of each text. */
  rows: number[][] = [];
  readonly #options: StepsOptions;
  readonly #tokens: number;
  #padding: Padding | null = null;

  private constructor(options: StepsOptions) {
    this.#options = options;
    this.#tokens = options.ids.shape[1] as number;
    this.cache = options.cache ?? new KeyValueCache(this.#tokens + options.most);
    if (this.cache.length >= this.#tokens) {
      const message = `pastKeyValues has ${this.cache.length} tokens, and the text ${this.#tokens}.`;
      const advice = "The text begins with those of the cache; crop() forgets some.";
      fail("InvalidArgument", kWhere, `${message} ${advice}`);
    }
  }

  /** Reads the given tokens. */
  static async of(options: StepsOptions): Promise<Steps> {
    const steps = new Steps(options);
    steps.rows = ((await options.ids.array()) as (number | bigint)[][]).map((row) =>
      row.map(Number),
    );
    const { attentionMask } = options;
    if (attentionMask !== null) steps.#padding = await steps.#paddingOf(attentionMask);
    return steps;
  }

  dispose(): void {
    if (this.#options.cache === null) this.cache.dispose();
    for (const tensor of Object.values(this.#padding ?? {})) {
      if (tensor instanceof eg.Tensor) tensor.dispose();
    }
  }

  /** Computes the scores of the next tokens, [batch, vocabulary]; `input` has the tokens that the last step has chosen, [batch, 1]. */
  scores(input: eg.Tensor | null, index: number): eg.Tensor {
    const isReadAnew = this.#outgrowsCache(index);
    if (isReadAnew) this.cache.crop(0);
    const past = this.cache.length;
    const ids = input === null || isReadAnew ? this.written(past) : input;
    const scores = this.#options.scorer(ids, {
      pastKeyValues: this.cache,
      ...this.#paddingAt(index, past, ids.shape[1] as number),
    });
    return scores.select(1, 0).float();
  }

  /** Returns the tokens of all texts from a place on. */
  written(from = 0): eg.Tensor {
    const rows = this.rows.map((row) => row.slice(from));
    return eg.tensor(rows, { dtype: "int64", device: this.#options.ids.device });
  }

  #outgrowsCache(index: number): boolean {
    const { cacheLimit } = this.#options;
    const longest = this.#padding?.longest ?? this.#tokens;
    return index > 0 && cacheLimit !== null && longest + index === cacheLimit + 1;
  }

  // The mask also covers the tokens to come; each step uses a view of its beginning.
  async #paddingOf(given: eg.Tensor): Promise<Padding> {
    const { ids, most } = this.#options;
    const [batch, tokens] = ids.shape as [number, number];
    if (String(given.shape) !== String([batch, tokens])) {
      fail(
        "ShapeMismatch",
        kWhere,
        `attentionMask: expected [${batch}, ${tokens}], got [${given.shape.join(", ")}].`,
      );
    }
    const rows = ((await given.array()) as (number | boolean | bigint)[][]).map((row) =>
      row.map(Number),
    );
    if (rows.some((row) => row.at(-1) === 0)) {
      fail(
        "InvalidArgument",
        kWhere,
        "attentionMask: pad on the left, because a text is continued at its end.",
      );
    }
    const positions = rows.map((row) => {
      let place = 0;
      return row.map((mask) => (mask === 0 ? 1 : place++));
    });
    const lengths = rows.map((row) => row.filter((mask) => mask !== 0).length);
    const whole = { dtype: "int64", device: ids.device } as const;
    const kept = rows.map((row) => [...row, ...new Array(most).fill(1)]);
    return {
      mask: eg.keep(eg.tensor(kept, whole)),
      positions: eg.keep(eg.tensor(positions, whole)),
      next: eg.keep(
        eg.tensor(
          lengths.map((length) => [length]),
          whole,
        ),
      ),
      longest: Math.max(...lengths),
    };
  }

  // `past` tokens are in the cache, and `count` are passed to the model.
  #paddingAt(index: number, past: number, count: number) {
    if (this.#padding === null) return {};
    const { mask, positions, next, longest } = this.#padding;
    const all = eg.cat(
      [positions, next.add(eg.arange(index, { dtype: "int64", device: next.device }))],
      1,
    );
    return {
      attentionMask: mask.narrow(1, 0, this.#tokens + index),
      positionIds: all.narrow(1, past, count),
      positions: longest + index,
    };
  }
}
