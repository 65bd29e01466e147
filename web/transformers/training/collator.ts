// Batches of examples of different lengths.

import * as eg from "edgegrad";
import { fail } from "../errors.js";
import { checkOptions, kCount, kWhole, oneOf } from "../options.js";
import type { Example } from "./examples.js";

/** Options of `DataCollatorForLanguageModeling`. */
export interface CollatorOptions {
  /** The token that fills up texts. */
  readonly padTokenId: number;
  /** The side on which texts are filled up; default "right". */
  readonly paddingSide?: "left" | "right" | undefined;
  /** Lengths are multiples of it, so that fewer different ones occur; default 1. */
  readonly padToMultipleOf?: number | undefined;
  /** The most tokens of a text: what is longer is cut at its end; default: any number. */
  readonly maxLength?: number | undefined;
}

/** What models are trained on: [batch, tokens] each. */
export interface LanguageBatch {
  /** The tokens, int64 of shape [examples, longest]. */
  readonly inputIds: eg.Tensor;
  /** 1 where there is a token and 0 where there is padding, of the same shape. */
  readonly attentionMask: eg.Tensor;
  /** The tokens to predict, of the same shape; -100 where none is. */
  readonly labels: eg.Tensor;
}

const kOptions = {
  padTokenId: kWhole,
  paddingSide: oneOf("left", "right"),
  padToMultipleOf: kCount,
  maxLength: kCount,
};

/** Makes batches of examples: `new eg.data.DataLoader(examples, { batchSize, collateFn: collator.collate })`. Padding is not learned. */
export class DataCollatorForLanguageModeling {
  readonly #options: CollatorOptions;

  constructor(options: CollatorOptions) {
    checkOptions("DataCollatorForLanguageModeling", options, kOptions);
    if (options.padTokenId === undefined) {
      fail("InvalidArgument", "DataCollatorForLanguageModeling", "padTokenId is missing.");
    }
    this.#options = options;
  }

  /** Returns the batch of some examples. */
  readonly collate = (examples: readonly Example[]): LanguageBatch => {
    const { padTokenId, paddingSide, padToMultipleOf = 1 } = this.#options;
    const { maxLength = Number.POSITIVE_INFINITY } = this.#options;
    const rows = examples.map(({ inputIds, labels = inputIds }) => {
      if (labels.length !== inputIds.length) {
        const message = `${labels.length} labels for ${inputIds.length} tokens.`;
        fail("ShapeMismatch", "DataCollatorForLanguageModeling", message);
      }
      return { ids: inputIds.slice(0, maxLength), labels: labels.slice(0, maxLength) };
    });
    const longest = Math.max(0, ...rows.map(({ ids }) => ids.length));
    const length = Math.ceil(longest / padToMultipleOf) * padToMultipleOf;
    if (length === 0) {
      fail("InvalidArgument", "DataCollatorForLanguageModeling", "the examples have no tokens.");
    }
    const filled = (list: readonly number[], value: number) => {
      const rest = new Array<number>(length - list.length).fill(value);
      return paddingSide === "left" ? [...rest, ...list] : [...list, ...rest];
    };
    const tensorOf = (list: number[][]) => eg.tensor(list, { dtype: "int64" });
    return {
      inputIds: tensorOf(rows.map(({ ids }) => filled(ids, padTokenId))),
      attentionMask: tensorOf(
        rows.map(({ ids }) =>
          filled(
            ids.map(() => 1),
            0,
          ),
        ),
      ),
      labels: tensorOf(rows.map(({ labels }) => filled(labels, -100))),
    };
  };
}
