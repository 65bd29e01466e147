// The tokens with which Whisper's texts begin, and the rules of its times.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import type { ConfigValues } from "../config/config.js";
import type { LogitsProcessor } from "../generation/options.js";
import type { SpeechGenerateOptions } from "../tasks/speech.js";

const kWhere = "generate";

type Numbers = Readonly<Record<string, number>>;

/** Returns the tokens after the first one; null in the place of the language if it has to be recognized. */
export function tokensAfterStart(
  values: ConfigValues,
  { language, task, returnTimestamps = false }: SpeechGenerateOptions,
): (number | null)[] {
  const { lang_to_id: languages, task_to_id: tasks, no_timestamps_token_id: without } = values;
  const isMultilingual = values.is_multilingual ?? languages !== undefined;
  if (returnTimestamps && without === undefined) {
    failWithout("returnTimestamps", "no_timestamps_token_id");
  }
  if (!isMultilingual || languages === undefined) {
    if (language) failWithout("language", "lang_to_id");
    if (task) failWithout("task", "task_to_id");
    const forced = isMultilingual || without === undefined ? forcedTokens(values) : [without];
    return (forced as number[]).filter((token) => !returnTimestamps || token !== without);
  }
  const task_ = idOf("task", (tasks ?? {}) as Numbers, task ?? "transcribe");
  const first = language ? idOf("language", languages as Numbers, language) : null;
  return [first, task_, ...(returnTimestamps || without === undefined ? [] : [without as number])];
}

// Older files list the tokens with their places.
function forcedTokens({ forced_decoder_ids: pairs }: ConfigValues): number[] {
  if (!Array.isArray(pairs)) return [];
  const sorted = [...(pairs as [number, number | null][])].sort(([a], [b]) => a - b);
  return sorted.flatMap(([, token]) => (token === null ? [] : [token]));
}

function failWithout(option: string, key: string): never {
  return fail("InvalidArgument", kWhere, `${option}: generation_config.json has no ${key}.`);
}

function idOf(option: string, ids: Numbers, name: string): number {
  const found = ids[name] ?? ids[`<|${name}|>`];
  if (found !== undefined) return found;
  const names = Object.keys(ids).map((key) => key.replace(/^<\|(.*)\|>$/, "$1"));
  return fail(
    "InvalidArgument",
    kWhere,
    `${option}: expected one of ${names.join(", ")}, got ${describe(name)}.`,
  );
}

/** Returns the languages that a model knows, as tokens. */
export const languageTokens = (values: ConfigValues): number[] =>
  Object.values((values.lang_to_id ?? {}) as Numbers);

/** The settings of times. */
export interface TimeSettings {
  /** The number of tokens before the text. */
  readonly begin: number;
  /** The token of the time 0; those of later times follow it. */
  readonly zero: number;
  /** The token that ends texts. */
  readonly end: number;
  /** The largest first time, in tokens after zero. */
  readonly latestFirst: number | null;
}

/** Returns the function that lets times come in pairs, in order, and wherever they are more likely than any other token. */
export function timeRules(settings: TimeSettings): LogitsProcessor {
  const { zero } = settings;
  return (scores, rows) => {
    const [, words] = scores.shape as [number, number];
    const { device } = scores;
    const hidden = eg.tensor(
      rows.map((row) => hiddenTokens(row, words, settings)),
      { dtype: "bool", device },
    );
    const left = scores.maskedFill(hidden, -Infinity);
    const logs = eg.logSoftmax(left, -1);
    const times = logs.narrow(1, zero, words - zero).logsumexp(-1, true);
    const isTime = times.gt(logs.narrow(1, 0, zero).amax(-1, true));
    const isText = eg.arange(words, { device }).lt(zero);
    return left.maskedFill(isTime.logicalAnd(isText), -Infinity);
  };
}

function hiddenTokens(
  row: readonly number[],
  words: number,
  { begin, zero, end, latestFirst }: TimeSettings,
): boolean[] {
  const hidden = new Array<boolean>(words).fill(false);
  const text = row.slice(begin);
  const isTime = (token: number | undefined) => token !== undefined && token >= zero;
  // The token for "no times" comes before them.
  hidden[zero - 1] = true;
  const isOpen = isTime(text.at(-1)) && text.length > 1 && !isTime(text.at(-2));
  if (isOpen) hidden.fill(true, 0, end);
  else if (isTime(text.at(-1))) hidden.fill(true, zero);
  const last = text.filter(isTime).at(-1);
  if (last !== undefined) hidden.fill(true, zero, isOpen ? last : last + 1);
  if (text.length === 0) {
    hidden.fill(true, 0, zero);
    if (latestFirst !== null) hidden.fill(true, zero + latestFirst + 1);
  }
  return hidden;
}
