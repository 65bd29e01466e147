// Generates text token by token; only the chosen tokens are read from the device.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { PreTrainedModel } from "../model.js";
import { checkOptions } from "../options.js";
import { checkIds } from "../tasks/inputs.js";
import { chosen, processed } from "./choose.js";
import { holdEvalMode } from "./eval_mode.js";
import { type GenerateOptions, kGenerateOptions } from "./options.js";
import { type Settings, settingsOf } from "./settings.js";
import { type Scorer, Steps } from "./steps.js";

const kWhere = "generate";

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
  if (options.stopStrings && !options.tokenizer) {
    fail("InvalidArgument", kWhere, "stopStrings: pass the option tokenizer as well.");
  }
  const settings = settingsOf(model, ids.shape[1] as number, options);
  const { beams, sequences, maxNewTokens: most } = settings;
  if (beams === 1 && sequences > 1 && !settings.doSample) {
    fail("InvalidArgument", kWhere, "numReturnSequences: several texts need doSample or numBeams.");
  }
  const copies = beams === 1 ? sequences : beams;
  const given = [ids, options.attentionMask ?? null].map((tensor) => {
    return tensor && copies > 1
      ? eg.keep(eg.scope(() => tensor.repeatInterleave(copies, 0)))
      : tensor;
  });
  const [repeated, attentionMask = null] = given as [eg.Tensor, eg.Tensor | null];
  const release = holdEvalMode(model);
  let steps: Steps | null = null;
  try {
    steps = await Steps.of({
      ids: repeated,
      scorer,
      most,
      attentionMask,
      cacheLimit: model.cacheLimit,
      cache: options.pastKeyValues ?? null,
    });
    if (beams > 1) {
      const { searchBeams } = await import("./beam_search.js");
      return await searchBeams(steps, settings, options);
    }
    return await new Run(steps, settings, options).toTheEnd();
  } finally {
    steps?.dispose();
    release();
    if (copies > 1) for (const tensor of given) tensor?.dispose();
  }
}

class Run {
  readonly #steps: Steps;
  readonly #settings: Settings;
  readonly #options: GenerateOptions;
  readonly #given: number;
  #isDone: boolean[];

  constructor(steps: Steps, settings: Settings, options: GenerateOptions) {
    this.#steps = steps;
    this.#settings = settings;
    this.#options = options;
    this.#given = steps.rows[0]?.length ?? 0;
    this.#isDone = steps.rows.map(() => false);
  }

  async toTheEnd(): Promise<eg.Tensor> {
    const { streamer, generator = null } = this.#options;
    const { maxNewTokens } = this.#settings;
    const steps = this.#steps;
    streamer?.put(steps.rows.map((row) => [...row]));
    let input: eg.Tensor | null = null;
    try {
      for (let i = 0; i < maxNewTokens; i++) {
        const next: eg.Tensor = eg.noGrad(() =>
          eg.scope(() => {
            const scores = processed(steps.scores(input, i), steps.rows, i, this.#settings);
            return eg.keep(chosen(scores, this.#settings, generator));
          }),
        );
        input?.dispose();
        input = next;
        await this.#accept(next);
        if (this.#isDone.every(Boolean)) break;
      }
    } finally {
      input?.dispose();
    }
    streamer?.end?.();
    return steps.written();
  }

  // Reads the tokens of a step and records which texts have ended.
  async #accept(next: eg.Tensor): Promise<void> {
    const { streamer, signal } = this.#options;
    const tokens = Array.from((await next.data()) as BigInt64Array, Number);
    signal?.throwIfAborted();
    const { rows } = this.#steps;
    const { ends, fill } = this.#settings;
    rows.forEach((row, i) => {
      row.push(this.#isDone[i] ? fill : (tokens[i] as number));
    });
    streamer?.put(rows.map((row) => row.slice(-1)));
    const isStopped = await this.#stopped();
    this.#isDone = this.#isDone.map(
      (isDone, i) => isDone || ends.has(tokens[i] as number) || (isStopped[i] as boolean),
    );
  }

  // Which texts the program ends.
  async #stopped(): Promise<boolean[]> {
    const { stopStrings, tokenizer, stoppingCriteria } = this.#options;
    const { rows } = this.#steps;
    const isEnd = rows.map(() => false);
    const strings = [stopStrings ?? []].flat();
    if (strings.length > 0 && tokenizer) {
      // A token has at least one byte, and a character at most four.
      const most = 4 * Math.max(...strings.map(({ length }) => length)) + 4;
      rows.forEach((row, i) => {
        const tail = tokenizer.decode(row.slice(this.#given).slice(-most));
        if (strings.some((string) => tail.includes(string))) isEnd[i] = true;
      });
    }
    if (stoppingCriteria) {
      const verdict = await stoppingCriteria(rows);
      isEnd.forEach((_, i) => {
        if (typeof verdict === "boolean" ? verdict : verdict[i]) isEnd[i] = true;
      });
    }
    return isEnd;
  }
}
