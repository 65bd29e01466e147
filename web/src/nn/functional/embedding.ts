import { type Arguments, readArguments } from "../../arguments/read.js";
import { integer, type Options } from "../../arguments/rule.js";
import { dividedByFrequency, limitNorms } from "../../composites/embedding_rows.js";
import { embedding as lookUp } from "../../generated/ops.js";
import { calledAs } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";
import { kLookupOptions, kSparse, type LookupRules } from "../linear/lookup_options.js";

const kOptions = {
  /** The row that gets no gradient. */
  paddingIdx: integer.orNull(),
  ...kLookupOptions,
  ...kSparse,
};

const kArguments = { input: tensorRule, weight: tensorRule, ...kOptions };

/** Options of `nn.functional.embedding`. */
export type EmbeddingCall = Options<typeof kOptions & LookupRules>;

/**
 * The rows of `weight` at the indices `input`, as eg.embedding() returns them. With `maxNorm`, first scales those rows down in
 * place so that their norm of order `normType` is at most `maxNorm`; `scaleGradByFreq` divides the gradient of a row by the
 * number of times that `input` contains it.
 */
export function embedding(
  ...given: [
    input: Tensor,
    weight: Tensor,
    ...rest: Arguments<
      [
        paddingIdx: number | null,
        maxNorm: number | null,
        normType: number,
        scaleGradByFreq: boolean,
        sparse: boolean,
      ],
      EmbeddingCall
    >,
  ]
): Tensor {
  const { input, weight, paddingIdx, ...own } = readArguments("embedding", kArguments, given);
  const { maxNorm, normType, scaleGradByFreq, sparse } = own;
  if (maxNorm === null && !scaleGradByFreq) return lookUp(input, weight, paddingIdx, sparse);
  return calledAs("embedding", () =>
    scope(() => {
      if (maxNorm !== null) limitNorms(weight, input, maxNorm, normType);
      const rows = lookUp(input, weight, paddingIdx, sparse);
      return scaleGradByFreq ? dividedByFrequency(rows, input, weight.shape[0] ?? 0) : rows;
    }),
  );
}
