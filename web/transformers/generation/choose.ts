// Chooses the next token by the scores.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import type { Settings } from "./settings.js";

type Rows = readonly (readonly number[])[];

/**
 * Returns the scores, [batch, vocabulary], as the settings change them. `rows` has the tokens of each text, and `index` is the number of tokens that have
 * been generated.
 */
export function processed(
  scores: eg.Tensor,
  rows: Rows,
  index: number,
  settings: Settings,
): eg.Tensor {
  const { repetitionPenalty, noRepeatNgramSize: size, suppressed, badWords, ends } = settings;
  let left = repetitionPenalty === 1 ? scores : penalize(scores, rows, repetitionPenalty);
  const words = scores.shape[1] as number;
  const banned: number[] = [];
  rows.forEach((row, i) => {
    const ban = (token: number) => {
      if (token < words) banned.push(i * words + token);
    };
    if (size > 0) repeats(row, size).forEach(ban);
    for (const list of badWords) if (endsWith(row, list.slice(0, -1))) ban(list.at(-1) as number);
    if (index < settings.minNewTokens) ends.forEach(ban);
    suppressed.always.forEach(ban);
    if (index === 0) suppressed.atFirst.forEach(ban);
  });
  if (banned.length > 0) {
    const places = eg.tensor(banned, { dtype: "int64", device: scores.device });
    left = left.reshape([-1]).indexFill(0, places, -Infinity).reshape(scores.shape);
  }
  for (const process of settings.processors) {
    left = process(left, rows);
    if (!(left instanceof eg.Tensor) || String(left.shape) !== String(scores.shape)) {
      const got = left instanceof eg.Tensor ? `[${left.shape.join(", ")}]` : describe(left);
      const wanted = `scores of the shape [${scores.shape.join(", ")}]`;
      fail("ShapeMismatch", "generate", `logitsProcessors: expected ${wanted}, got ${got}.`);
    }
  }
  return left;
}

/** Returns the next token of each text, [batch, 1], for processed scores. */
export function chosen(
  scores: eg.Tensor,
  settings: Settings,
  generator: eg.Generator | null,
): eg.Tensor {
  if (!settings.doSample) return scores.argmax(-1, true);
  const shares = eg.softmax(keepLikely(scores, settings), -1);
  return eg.multinomial(shares, 1, false, { generator });
}

function penalize(scores: eg.Tensor, rows: Rows, penalty: number): eg.Tensor {
  const { device } = scores;
  const tokens = eg.tensor(
    rows.map((row) => [...row]),
    { dtype: "int64", device },
  );
  const own = scores.gather(1, tokens);
  return scores.scatter(1, tokens, eg.where(own.lt(0), own.mul(penalty), own.div(penalty)));
}

const endsWith = (row: readonly number[], tail: readonly number[]) =>
  row.length >= tail.length &&
  tail.every((token, i) => token === row[row.length - tail.length + i]);

// The tokens that would complete a sequence of `size` tokens that the text already has.
function repeats(row: readonly number[], size: number): number[] {
  const tail = row.slice(row.length - size + 1);
  return row.filter((_, i) => {
    return i >= size - 1 && tail.every((token, j) => token === row[i - size + 1 + j]);
  });
}

// In this order, because topP and minP refer to the probabilities among the tokens that are left.
function keepLikely(scores: eg.Tensor, { temperature, topK, topP, minP }: Settings): eg.Tensor {
  let left = temperature === 1 ? scores : scores.div(temperature);
  const words = scores.shape[1] as number;
  if (topK !== null && topK < words) {
    const [best] = left.topk(topK, -1);
    left = left.maskedFill(left.lt(best.narrow(1, topK - 1, 1)), -Infinity);
  }
  if (topP < 1) {
    const [sorted, places] = left.sort(-1, false);
    const isRare = eg
      .softmax(sorted, -1)
      .cumsum(-1)
      .le(1 - topP);
    // The most likely token is always kept.
    isRare.narrow(1, words - 1, 1).fill_(false);
    left = left.maskedFill(isRare.scatter(1, places, isRare), -Infinity);
  }
  if (minP === 0) return left;
  const shares = eg.softmax(left, -1);
  return left.maskedFill(shares.lt(shares.amax(-1, true).mul(minP)), -Infinity);
}
