// Batches of texts: cut to a length and padded.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import type { ConfigValues } from "../config/config.js";
import { checkOptions, kCount, kFlag, oneOf, orNull } from "../options.js";

const kWhere = "batch";

/** A text, or a pair of texts. */
export type TextOrPair = string | readonly [first: string, second: string];

type Side = "left" | "right";

/** Options of a batch of texts. */
export interface BatchOptions {
  /** Add the tokens with which the model begins and ends texts; default true. */
  readonly addSpecialTokens?: boolean | undefined;
  /** The maximum number of tokens of a text, after which it is cut; null: unlimited; default: what tokenizer.json says, or unlimited. */
  readonly maxLength?: number | null | undefined;
  /** Which text of a pair is cut: the longer one until both have the same length, the first or the second; default: what tokenizer.json says, or the longer one. */
  readonly truncation?: "longestFirst" | "onlyFirst" | "onlySecond" | undefined;
  /** The side from which tokens are cut; default: what the tokenizer's files say. */
  readonly truncationSide?: Side | undefined;
  /** Pad to the longest text, or to `maxLength`; default: what tokenizer.json says, or to the longest. */
  readonly padding?: "longest" | "maxLength" | undefined;
  /** The side of the padding; default: what the tokenizer's files say. For generation it has to be "left". */
  readonly paddingSide?: Side | undefined;
  /** Pads lengths to multiples of it; default: what tokenizer.json says, or 1. */
  readonly padToMultipleOf?: number | undefined;
  /** Return `tokenTypeIds`; default: whether the tokenizer's files name them, or whether they are not all 0. */
  readonly returnTokenTypeIds?: boolean | undefined;
}

const kSide = oneOf("left", "right");
const kOptions = {
  addSpecialTokens: kFlag,
  maxLength: orNull(kCount),
  truncation: oneOf("longestFirst", "onlyFirst", "onlySecond"),
  truncationSide: kSide,
  padding: oneOf("longest", "maxLength"),
  paddingSide: kSide,
  padToMultipleOf: kCount,
  returnTokenTypeIds: kFlag,
};

/** A batch of texts: [texts, longest] each. */
export interface TextBatch {
  /** The tokens, int64. */
  readonly inputIds: eg.Tensor;
  /** 1 where there is a token and 0 where there is padding, int64. */
  readonly attentionMask: eg.Tensor;
  /** The text of a pair (0 or 1) that each token belongs to, int64. */
  readonly tokenTypeIds?: eg.Tensor;
}

/** The sections of tokenizer.json about batches. */
export interface Sections {
  readonly truncation?: {
    readonly max_length: number;
    readonly strategy?: string;
    readonly direction?: string;
  } | null;
  readonly padding?: {
    readonly strategy?: "BatchLongest" | { readonly Fixed: number };
    readonly direction?: string;
    readonly pad_to_multiple_of?: number | null;
    readonly pad_id?: number;
    readonly pad_type_id?: number;
  } | null;
}

interface Encoded {
  readonly ids: readonly number[];
  readonly types: readonly number[];
}

/** What a tokenizer gives to its batches. */
interface Source {
  encode(text: string, pair: string | null, isWhole: boolean): Encoded;
  readonly config: ConfigValues;
  readonly sections: Sections;
  readonly padTokenId: number;
}

/** Returns a batch of texts. */
export function batchOf(
  texts: readonly TextOrPair[],
  options: BatchOptions,
  source: Source,
): TextBatch {
  checkOptions(kWhere, options, kOptions);
  const { config, padTokenId } = source;
  const { truncation, padding } = source.sections;
  const limit = options.maxLength === undefined ? truncation?.max_length : options.maxLength;
  const cutting = {
    limit: limit ?? null,
    strategy: options.truncation ?? strategyOf(truncation?.strategy),
    side: sideOf(options.truncationSide, config.truncation_side, truncation?.direction),
    isWhole: options.addSpecialTokens ?? true,
  };
  const rows = texts.map((text) => cut(text, cutting, source));
  const longest = Math.max(0, ...rows.map(({ ids }) => ids.length));
  if (longest === 0) fail("InvalidArgument", kWhere, "expected at least one text with tokens.");
  const multiple = options.padToMultipleOf ?? padding?.pad_to_multiple_of ?? 1;
  const fixed = fixedLength(options, limit ?? null, padding ?? null);
  const length = Math.ceil(Math.max(longest, fixed) / multiple) * multiple;
  const side = sideOf(options.paddingSide, config.padding_side, padding?.direction);
  const tensorOf = (lists: readonly (readonly number[])[], value: number) =>
    eg.tensor(
      lists.map((list) => {
        const rest = new Array<number>(length - list.length).fill(value);
        return side === "left" ? [...rest, ...list] : [...list, ...rest];
      }),
      { dtype: "int64" },
    );
  const inputIds = tensorOf(
    rows.map(({ ids }) => ids),
    padTokenId,
  );
  const attentionMask = tensorOf(
    rows.map(({ ids }) => ids.map(() => 1)),
    0,
  );
  const types = rows.map((row) => row.types);
  const names = config.model_input_names;
  const isNamed = Array.isArray(names)
    ? names.includes("token_type_ids")
    : types.some((row) => row.some((type) => type !== 0));
  if (!(options.returnTokenTypeIds ?? isNamed)) return { inputIds, attentionMask };
  return { inputIds, attentionMask, tokenTypeIds: tensorOf(types, padding?.pad_type_id ?? 0) };
}

function sideOf(...given: readonly unknown[]): Side {
  const found = given.find((text) => typeof text === "string" && text !== "");
  return String(found ?? "right").toLowerCase() === "left" ? "left" : "right";
}

const kStrategies: Readonly<Record<string, BatchOptions["truncation"]>> = {
  OnlyFirst: "onlyFirst",
  OnlySecond: "onlySecond",
};

const strategyOf = (name = "") => kStrategies[name] ?? "longestFirst";

function fixedLength(
  { padding, maxLength }: BatchOptions,
  limit: number | null,
  section: (Sections["padding"] & object) | null,
): number {
  if (padding === "longest") return 0;
  if (padding === "maxLength") {
    return limit ?? fail("InvalidArgument", kWhere, 'padding: "maxLength" needs maxLength.');
  }
  const { strategy } = section ?? {};
  // A length of the program's own counts more than that of the file.
  return typeof strategy === "object" && maxLength === undefined ? strategy.Fixed : 0;
}

interface Cutting {
  readonly limit: number | null;
  readonly strategy: BatchOptions["truncation"];
  readonly side: Side;
  readonly isWhole: boolean;
}

// The tokens of a text, cut to the limit; the tokens that the tokenizer adds remain.
function cut(
  given: TextOrPair,
  { limit, strategy, side, isWhole }: Cutting,
  source: Source,
): Encoded {
  const [first, second = null] = typeof given === "string" ? [given] : given;
  const whole = source.encode(first, second, isWhole);
  if (limit === null || whole.ids.length <= limit) return whole;
  const own = [source.encode(first, null, false).ids];
  if (second !== null) own.push(source.encode(second, null, false).ids);
  let from = 0;
  const places = own.map((ids) => {
    const start = whole.ids.findIndex(
      (_, i) => i >= from && ids.every((id, j) => id === whole.ids[i + j]),
    );
    if (start < 0) {
      const message = `maxLength: the tokens of ${describe(given)} depend on those around them.`;
      fail("InvalidArgument", kWhere, message);
    }
    from = start + ids.length;
    return start;
  });
  const lengths = own.map((ids) => ids.length);
  const added = whole.ids.length - lengths.reduce((sum, length) => sum + length);
  const kept = lengthsWithin(lengths, limit - added, strategy);
  if (kept.some((length) => length < 0)) {
    const message = `maxLength: ${limit} tokens are too few for ${describe(given)}.`;
    fail("InvalidArgument", kWhere, message);
  }
  const isKept = (_: number, i: number) =>
    places.every((start, k) => {
      const at = i - start;
      const [all, some] = [lengths[k] as number, kept[k] as number];
      if (at < 0 || at >= all) return true;
      return side === "left" ? at >= all - some : at < some;
    });
  return { ids: whole.ids.filter(isKept), types: whole.types.filter(isKept) };
}

// How many tokens of each text are kept so that all together are `most`.
function lengthsWithin(
  lengths: readonly number[],
  most: number,
  strategy: BatchOptions["truncation"],
): number[] {
  const [first, second] = lengths as [number, number | undefined];
  if (second === undefined) return [most];
  if (strategy === "onlyFirst") return [most - second, second];
  if (strategy === "onlySecond") return [first, most - first];
  const shorter = Math.min(first, second);
  if (2 * shorter > most) {
    const half = Math.floor(most / 2);
    return first > second ? [most - half, half] : [half, most - half];
  }
  return first > second ? [most - shorter, shorter] : [shorter, most - shorter];
}
