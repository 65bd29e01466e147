// Chooses the next token by the scores.

import * as eg from "edgegrad";
import type { GenerateOptions } from "./options.js";

/**
 * Returns the next token of each text, [batch, 1], for scores [batch, vocabulary]. `seen` has the tokens of each text, for the repetition penalty;
 * `isFirst` is true for the first generated token.
 */
export type Chooser = (
  scores: eg.Tensor,
  seen: readonly (readonly number[])[] | null,
  isFirst: boolean,
) => eg.Tensor;

/** Tokens that are never chosen, and those that are not chosen as the first one. */
export interface Suppressed {
  readonly always: readonly number[];
  readonly atFirst: readonly number[];
}

/** Returns the function that chooses tokens according to the options. */
export function chooserOf(options: GenerateOptions, { always, atFirst }: Suppressed): Chooser {
  const { doSample = false, repetitionPenalty = 1 } = options;
  return (scores, seen, isFirst) => {
    const fair = seen === null ? scores : penalize(scores, seen, repetitionPenalty);
    const left = without(fair, isFirst ? [...always, ...atFirst] : always);
    if (!doSample) return left.argmax(-1, true);
    const { generator = null } = options;
    return eg.multinomial(eg.softmax(keepLikely(left, options), -1), 1, false, { generator });
  };
}

function without(scores: eg.Tensor, tokens: readonly number[]): eg.Tensor {
  if (tokens.length === 0) return scores;
  const places = eg.tensor([...tokens], { dtype: "int64", device: scores.device });
  return scores.indexFill(1, places, -Infinity);
}

function penalize(
  scores: eg.Tensor,
  seen: readonly (readonly number[])[],
  penalty: number,
): eg.Tensor {
  const { device } = scores;
  const tokens = eg.tensor(
    seen.map((row) => [...row]),
    { dtype: "int64", device },
  );
  const own = scores.gather(1, tokens);
  return scores.scatter(1, tokens, eg.where(own.lt(0), own.mul(penalty), own.div(penalty)));
}

// In this order, because topP refers to the probabilities among the tokens that topK has left.
function keepLikely(
  scores: eg.Tensor,
  { temperature = 1, topK, topP = 1 }: GenerateOptions,
): eg.Tensor {
  let left = temperature === 1 ? scores : scores.div(temperature);
  const words = scores.shape[1] as number;
  if (topK && topK < words) {
    const [best] = left.topk(topK, -1);
    left = left.maskedFill(left.lt(best.narrow(1, topK - 1, 1)), -Infinity);
  }
  if (topP === 1) return left;
  const [sorted, places] = left.sort(-1, false);
  const isRare = eg
    .softmax(sorted, -1)
    .cumsum(-1)
    .le(1 - topP);
  // The most likely token is always kept.
  isRare.narrow(1, words - 1, 1).fill_(false);
  return left.maskedFill(isRare.scatter(1, places, isRare), -Infinity);
}
