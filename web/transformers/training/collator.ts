// Batches of examples of different lengths.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { checkOptions, kCount, kObject, kShare, kWhole, oneOf } from "../options.js";
import type { Example } from "./examples.js";

/** How tokens are hidden that a model is to predict from those before and after. */
export interface MaskingOptions {
  /** The token in place of hidden ones. */
  readonly maskTokenId: number;
  /** The number of tokens, from which others are drawn. */
  readonly vocabSize: number;
  /** The share of tokens that are learned; default 0.15. */
  readonly probability?: number | undefined;
  /** Tokens that are no text, and never learned; padding is none either. */
  readonly specialTokenIds?: readonly number[] | undefined;
}

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
  /** Hide tokens, for models such as BERT: of those drawn 80 % are masked, 10 % replaced by others, 10 % left as they are. Default: none. */
  readonly masking?: MaskingOptions | undefined;
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
  masking: kObject,
};

const kMasking = {
  maskTokenId: kWhole,
  vocabSize: kCount,
  probability: kShare,
  specialTokenIds: {
    expected: "a list of tokens",
    accepts: (value: unknown) =>
      Array.isArray(value) && value.every((one) => Number.isSafeInteger(one)),
  },
};

const kWhere = "DataCollatorForLanguageModeling";

/** Makes batches of examples: `new eg.data.DataLoader(examples, { batchSize, collateFn: collator.collate })`. Padding is not learned. */
export class DataCollatorForLanguageModeling {
  readonly #options: CollatorOptions;

  constructor(options: CollatorOptions) {
    checkOptions(kWhere, options, kOptions);
    if (options.padTokenId === undefined) {
      fail("InvalidArgument", kWhere, "padTokenId is missing.");
    }
    if (options.masking !== undefined) checkMasking(options.masking);
    this.#options = options;
  }

  /** Returns the batch of some examples. */
  readonly collate = (examples: readonly Example[]): LanguageBatch => {
    const { padTokenId, paddingSide, padToMultipleOf = 1, masking } = this.#options;
    const { maxLength = Number.POSITIVE_INFINITY } = this.#options;
    const rows = examples.map(({ inputIds, labels = inputIds }) => {
      if (labels.length !== inputIds.length) {
        const message = `${labels.length} labels for ${inputIds.length} tokens.`;
        fail("ShapeMismatch", kWhere, message);
      }
      const cut = { ids: inputIds.slice(0, maxLength), labels: labels.slice(0, maxLength) };
      return masking === undefined ? cut : masked(cut, masking);
    });
    const longest = Math.max(0, ...rows.map(({ ids }) => ids.length));
    const length = Math.ceil(longest / padToMultipleOf) * padToMultipleOf;
    if (length === 0) {
      fail("InvalidArgument", kWhere, "the examples have no tokens.");
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

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

function checkMasking(masking: MaskingOptions): void {
  const where = `${kWhere}: masking`;
  checkOptions(where, masking, kMasking);
  const { maskTokenId, vocabSize } = masking;
  if (maskTokenId === undefined || vocabSize === undefined) {
    fail("InvalidArgument", where, "maskTokenId and vocabSize are needed.");
  }
  if (maskTokenId >= vocabSize) {
    const message = `maskTokenId (${maskTokenId}) is none of the ${vocabSize} tokens.`;
    fail("IndexOutOfRange", where, message);
  }
}

interface Tokens {
  readonly ids: readonly number[];
  readonly labels: readonly number[];
}

// Numbers come from the engine's generator, so that a resumed training draws the same.
function masked({ ids, labels }: Tokens, masking: MaskingOptions): Tokens {
  const { maskTokenId, vocabSize, probability = 0.15, specialTokenIds = [] } = masking;
  const [isDrawn, which, other] = drawn(ids.length) as [number[], number[], number[]];
  const isHidden = (i: number) =>
    (isDrawn[i] as number) < probability &&
    labels[i] !== -100 &&
    !specialTokenIds.includes(ids[i] as number);
  const shown = (id: number, i: number) => {
    if (!isHidden(i) || (which[i] as number) >= 0.9) return id;
    return (which[i] as number) < 0.8 ? maskTokenId : Math.floor((other[i] as number) * vocabSize);
  };
  return {
    ids: ids.map(shown),
    labels: labels.map((label, i) => (isHidden(i) ? label : -100)),
  };
}

const drawn = (count: number) => eg.scope(() => eg.rand([3, count]).arraySync()) as number[][];
