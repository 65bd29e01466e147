// Generates text token by token; only the chosen tokens are read from the device.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { KeyValueCache } from "../blocks/cache.js";
import type { PreTrainedModel } from "../model.js";
import { checkOptions, kWhole } from "../options.js";
import { checkIds } from "../tasks/inputs.js";
import { type Chooser, chooserOf, type Suppressed } from "./choose.js";
import { type GenerateOptions, kGenerateOptions, kTokens } from "./options.js";

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

/** Continues the texts of `ids`, by the scores of a model. */
export async function generateFrom(
  model: PreTrainedModel,
  ids: eg.Tensor,
  options: GenerateOptions,
  scorer: Scorer,
): Promise<eg.Tensor> {
  checkIds(kWhere, ids);
  checkOptions(kWhere, options, kGenerateOptions);
  options.signal?.throwIfAborted();
  const run = new Run(model, ids, options, scorer);
  const wasTraining = model.modules().filter(({ training }) => training);
  model.eval();
  try {
    return await run.toTheEnd();
  } finally {
    run.dispose();
    for (const module of wasTraining) module.training = true;
  }
}

// The padding of a batch, read once.
interface Padding {
  /** [batch, 1]: the position of the first generated token of each text. */
  readonly next: eg.Tensor;
  readonly mask: eg.Tensor;
  readonly positions: eg.Tensor;
  readonly longest: number;
}

class Run {
  readonly #cache: KeyValueCache;
  readonly #choose: Chooser;
  readonly #ends: ReadonlySet<number>;
  readonly #fill: number;
  readonly #most: number;
  readonly #rows: number[][] = [];
  #isDone: boolean[];
  #padding: Padding | null = null;

  constructor(
    private readonly model: PreTrainedModel,
    private readonly ids: eg.Tensor,
    private readonly options: GenerateOptions,
    private readonly scorer: Scorer,
  ) {
    const [batch, tokens] = ids.shape as [number, number];
    this.#most = options.maxNewTokens ?? 20;
    this.#cache = new KeyValueCache(tokens + this.#most);
    this.#choose = chooserOf(options, suppressedBy(model, options));
    this.#ends = endsOf(model, options);
    this.#fill = fillOf(model, options, this.#ends);
    this.#isDone = new Array(batch).fill(false);
  }

  async toTheEnd(): Promise<eg.Tensor> {
    const { streamer, attentionMask } = this.options;
    for (const row of (await this.ids.array()) as (number | bigint)[][]) {
      this.#rows.push(row.map(Number));
    }
    if (attentionMask) this.#padding = await this.#paddingOf(attentionMask);
    streamer?.put(this.#rows.map((row) => [...row]));
    let input = this.ids;
    for (let i = 0; i < this.#most; i++) {
      const chosen = eg.keep(this.#step(input, i));
      if (input !== this.ids) input.dispose();
      input = chosen;
      await this.#accept(input);
      if (this.#isDone.every(Boolean)) break;
    }
    if (input !== this.ids) input.dispose();
    streamer?.end?.();
    return this.#written();
  }

  dispose(): void {
    this.#cache.dispose();
    for (const one of Object.values(this.#padding ?? {})) {
      if (one instanceof eg.Tensor) one.dispose();
    }
  }

  // Reads the tokens of a step and records which texts have ended.
  async #accept(chosen: eg.Tensor): Promise<void> {
    const tokens = Array.from((await chosen.data()) as BigInt64Array, Number);
    this.options.signal?.throwIfAborted();
    this.#rows.forEach((row, i) => {
      row.push(this.#isDone[i] ? this.#fill : (tokens[i] as number));
    });
    this.options.streamer?.put(this.#rows.map((row) => row.slice(-1)));
    this.#isDone = this.#isDone.map((isDone, i) => isDone || this.#ends.has(tokens[i] as number));
  }

  #step(input: eg.Tensor, index: number): eg.Tensor {
    return eg.noGrad(() =>
      eg.scope(() => {
        const isReadAnew = this.#outgrowsCache(index);
        if (isReadAnew) this.#cache.crop(0);
        const scores = this.scorer(isReadAnew ? this.#written() : input, {
          pastKeyValues: this.#cache,
          ...this.#paddingAt(index, index === 0 || isReadAnew),
        });
        const seen = this.options.repetitionPenalty === undefined ? null : this.#rows;
        return this.#choose(scores.select(1, 0).float(), seen, index === 0);
      }),
    );
  }

  #outgrowsCache(index: number): boolean {
    const { cacheLimit } = this.model;
    const longest = this.#padding?.longest ?? (this.ids.shape[1] as number);
    return index > 0 && cacheLimit !== null && longest + index === cacheLimit + 1;
  }

  #written(): eg.Tensor {
    return eg.tensor(this.#rows, { dtype: "int64", device: this.ids.device });
  }

  // The mask also covers the tokens to come; each step uses a view of its beginning.
  async #paddingOf(given: eg.Tensor): Promise<Padding> {
    const [batch, tokens] = this.ids.shape as [number, number];
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
      return row.map((one) => (one === 0 ? 1 : place++));
    });
    const lengths = rows.map((row) => row.filter((one) => one !== 0).length);
    const whole = { dtype: "int64", device: this.ids.device } as const;
    const kept = rows.map((row) => [...row, ...new Array(this.#most).fill(1)]);
    return {
      mask: eg.keep(eg.tensor(kept, whole)),
      positions: eg.keep(eg.tensor(positions, whole)),
      next: eg.keep(
        eg.tensor(
          lengths.map((one) => [one]),
          whole,
        ),
      ),
      longest: Math.max(...lengths),
    };
  }

  #paddingAt(index: number, isWhole: boolean) {
    if (this.#padding === null) return {};
    const { mask, positions, next, longest } = this.#padding;
    const tokens = (this.ids.shape[1] as number) + index;
    return {
      attentionMask: mask.narrow(1, 0, tokens),
      positionIds: isWhole
        ? eg.cat(
            [positions, next.add(eg.arange(index, { dtype: "int64", device: next.device }))],
            1,
          )
        : next.add(index - 1),
      positions: longest + index,
    };
  }
}

function endsOf(model: PreTrainedModel, { eosTokenId }: GenerateOptions): Set<number> {
  const said = model.generationConfig.eos_token_id ?? model.config.eos_token_id ?? null;
  const given = eosTokenId === undefined ? said : eosTokenId;
  if (given === null) return new Set();
  if (!kTokens.accepts(given)) {
    fail(
      "InvalidArgument",
      kWhere,
      `eos_token_id of the model is ${describe(given)}: pass eosTokenId.`,
    );
  }
  return new Set([given].flat() as number[]);
}

function fillOf(
  model: PreTrainedModel,
  { padTokenId }: GenerateOptions,
  ends: ReadonlySet<number>,
): number {
  const said = model.generationConfig.pad_token_id ?? model.config.pad_token_id;
  const [end = 0] = ends;
  return padTokenId ?? (kWhole.accepts(said) ? (said as number) : end);
}

// The tokens that the model's files suppress, everywhere and as the first one.
function suppressedBy(
  { generationConfig }: PreTrainedModel,
  { suppressTokens }: GenerateOptions,
): Suppressed {
  const { suppress_tokens: always, begin_suppress_tokens: atFirst } = generationConfig;
  const listed = (value: unknown) =>
    Array.isArray(value) ? value.filter((one): one is number => kWhole.accepts(one)) : [];
  if (suppressTokens !== undefined) return { always: suppressTokens ?? [], atFirst: [] };
  return { always: listed(always), atFirst: listed(atFirst) };
}
