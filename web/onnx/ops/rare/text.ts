// Ops on strings, which some models use for preprocessing and postprocessing.

import * as eg from "edgegrad";
import { fail } from "../../../errors/errors.js";
import { Host, isTexts } from "../../values/host.js";
import { broadcastShape, sizeOf } from "../../values/host_math.js";
import { currentDevice, host, texts, type Value } from "../../values/value.js";
import {
  flag,
  int,
  maybeFloats,
  maybeInt,
  maybeInts,
  maybeStrings,
  type Ops,
  op,
  string,
} from "../op.js";

const changeCase = (text: string, action: string) =>
  action === "LOWER" ? text.toLowerCase() : action === "UPPER" ? text.toUpperCase() : text;

function normalize(
  input: Value,
  action: string,
  isSensitive: boolean,
  stopwords: readonly string[],
): Host<string> {
  const { data, shape } = texts(input);
  const key = (text: string) => (isSensitive ? text : text.toLowerCase());
  const stopped = new Set(stopwords.map(key));
  const kept = data
    .filter((text) => !stopped.has(key(text)))
    .map((text) => changeCase(text, action));
  // If nothing is left, the result is one empty string.
  const result = kept.length === 0 ? [""] : kept;
  return new Host("string", [...shape.slice(0, -1), result.length], result);
}

const kTfIdf = {
  max_gram_length: int(1),
  max_skip_count: int(0),
  min_gram_length: int(1),
  mode: string("TF"),
  ngram_counts: maybeInts,
  ngram_indexes: maybeInts,
  pool_int64s: maybeInts,
  pool_strings: maybeStrings,
  weights: maybeFloats,
};

type Given = {
  readonly [K in keyof typeof kTfIdf]: (typeof kTfIdf)[K]["missing"];
};

/** Returns the output position of each n-gram of the pool. */
function grams(given: Given): Map<string, number> {
  const pool: readonly (number | string)[] = given.pool_strings ?? given.pool_int64s ?? [];
  const starts = given.ngram_counts ?? [];
  const found = new Map<string, number>();
  let count = 0;
  starts.forEach((start, i) => {
    const [length, end] = [i + 1, starts[i + 1] ?? pool.length];
    for (let at = start; at + length <= end; at += length) {
      found.set(JSON.stringify(pool.slice(at, at + length)), given.ngram_indexes?.[count] ?? count);
      count++;
    }
  });
  return found;
}

function frequencies(
  row: readonly (number | string)[],
  known: ReadonlyMap<string, number>,
  given: Given,
): Float32Array {
  const size = Math.max(-1, ...(given.ngram_indexes ?? [])) + 1;
  const result = new Float32Array(size);
  for (let length = given.min_gram_length; length <= given.max_gram_length; length++) {
    const skips = length === 1 ? 0 : given.max_skip_count;
    for (let skip = 0; skip <= skips; skip++) {
      const step = skip + 1;
      for (let at = 0; at + (length - 1) * step < row.length; at++) {
        const words = Array.from({ length }, (_, i) => row[at + i * step]);
        const position = known.get(JSON.stringify(words));
        if (position !== undefined) result[position] = (result[position] as number) + 1;
      }
    }
  }
  return result.map((count, i) => score(count, given.mode, given.weights?.[i]));
}

function score(count: number, mode: string, weight = 1): number {
  if (mode === "TF") return count;
  return mode === "IDF" ? Number(count > 0) * weight : count * weight;
}

export const kText: Ops = {
  StringNormalizer: op({
    since: 10,
    attributes: {
      case_change_action: string("NONE"),
      is_case_sensitive: flag(false),
      locale: string(""),
      stopwords: maybeStrings,
    },
    run: ([x], given) =>
      normalize(x, given.case_change_action, given.is_case_sensitive, given.stopwords ?? []),
  }),
  StringConcat: op({
    since: 20,
    run: ([a, b]) => {
      const [left, right] = [texts(a), texts(b)];
      const shape = broadcastShape(left.shape, right.shape);
      const same =
        left.data.length === right.data.length || left.data.length === 1 || right.data.length === 1;
      if (!same) fail("ShapeMismatch", "OnnxModule", "strings of these shapes do not broadcast.");
      const at = (texts: Host<string>, i: number) =>
        texts.data[texts.data.length === 1 ? 0 : i] as string;
      return new Host(
        "string",
        shape,
        Array.from({ length: sizeOf(shape) }, (_, i) => at(left, i) + at(right, i)),
      );
    },
  }),
  StringSplit: op({
    since: 20,
    attributes: { delimiter: string(""), maxsplit: maybeInt },
    run: ([x], { delimiter, maxsplit }) => {
      const { data, shape } = texts(x);
      const parts = data.map((text) => splitText(text, delimiter, maxsplit));
      const most = Math.max(0, ...parts.map(({ length }) => length));
      const padded = parts.flatMap((list) => [
        ...list,
        ...new Array<string>(most - list.length).fill(""),
      ]);
      const counts = parts.map(({ length }) => length);
      return [new Host("string", [...shape, most], padded), new Host("int64", shape, counts)];
    },
  }),
  RegexFullMatch: op({
    since: 20,
    attributes: { pattern: string("") },
    run: ([x], { pattern }) => {
      const { data, shape } = texts(x);
      const whole = expression(pattern);
      return new Host(
        "bool",
        shape,
        data.map((text) => Number(whole.test(text))),
      );
    },
  }),
  TfIdfVectorizer: op({
    since: 9,
    attributes: kTfIdf,
    run: ([x], given) => {
      const { data, shape } = isTexts(x) ? x : host(x);
      const known = grams(given);
      const [width = 0] = shape.slice(-1);
      const rows = shape.length === 1 ? 1 : (shape[0] ?? 0);
      const list = Array.from({ length: rows }, (_, i) =>
        Array.from(frequencies(data.slice(i * width, (i + 1) * width), known, given)),
      );
      return eg.tensor(shape.length === 1 ? (list[0] ?? []) : list, {
        dtype: "float32",
        device: currentDevice(),
      });
    },
  }),
};

function expression(pattern: string): RegExp {
  try {
    return new RegExp(`^(?:${pattern})$`, "s");
  } catch (error) {
    return fail("InvalidArgument", "OnnxModule", `the pattern cannot be read: ${error}.`);
  }
}

// Without a delimiter, the string is split at white space.
function splitText(text: string, delimiter: string, most: number | undefined): string[] {
  const all =
    delimiter === "" ? text.split(/\s+/).filter(Boolean) : text === "" ? [] : text.split(delimiter);
  if (most === undefined || all.length <= most + 1) return all;
  if (delimiter !== "") return [...all.slice(0, most), all.slice(most).join(delimiter)];
  const rest = text.trimStart().replace(new RegExp(`^(?:\\S+\\s+){${most}}`), "");
  return [...all.slice(0, most), rest.trimEnd()];
}
