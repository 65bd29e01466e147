// Batches of examples of different lengths.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { checkOptions, kCount, kObject, kShare, kWhole, oneOf } from "../options.js";
import type { Example } from "./examples.js";

/** How tokens are masked, for a model that predicts them from those before and after. */
export interface MaskingOptions {
  /** The token that replaces masked ones. */
  readonly maskTokenId: number;
  /** The number of tokens of the vocabulary, from which random replacements are drawn. */
  readonly vocabSize: number;
  /** The fraction of tokens to predict; default 0.15. */
  readonly probability?: number | undefined;
  /** Tokens that are not text and are never predicted; neither is padding. */
  readonly specialTokenIds?: readonly number[] | undefined;
}

/** Options of `DataCollatorForLanguageModeling`. */
export interface CollatorOptions {
  /** The padding token. */
  readonly padTokenId: number;
  /** The side of the padding; default "right". */
  readonly paddingSide?: "left" | "right" | undefined;
  /** Pads lengths to multiples of it, so that fewer different lengths occur; default 1. */
  readonly padToMultipleOf?: number | undefined;
  /** The maximum number of tokens of a text, after which it is cut; default: unlimited. */
  readonly maxLength?: number | undefined;
  /** Mask tokens, for models such as BERT: of the chosen ones, 80 % are masked, 10 % replaced by others and 10 % kept. Default: none. */
  readonly masking?: MaskingOptions | undefined;
}

/** A batch for training: [batch, tokens] each. */
export interface LanguageBatch {
  /** The tokens, int64 of shape [examples, longest]. */
  readonly inputIds: eg.Tensor;
  /** 1 where there is a token and 0 where there is padding, of the same shape. */
  readonly attentionMask: eg.Tensor;
  /** The tokens to predict, of the same shape; -100 where there is nothing to predict. */
  readonly labels: eg.Tensor;
  /** The positions, of the same shape, if the examples have them. */
  readonly positionIds?: eg.Tensor;
  /** The text that each token belongs to, of the same shape, if the examples say it; 0 for padding. */
  readonly sequenceIds?: eg.Tensor;
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
      Array.isArray(value) && value.every((item) => Number.isSafeInteger(item)),
  },
};

const kWhere = "DataCollatorForLanguageModeling";

/** Collates examples: `new eg.data.DataLoader(examples, { batchSize, collateFn: collator.collate })`. Padding is not learned. */
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

  /** Returns the batch of the examples. */
  readonly collate = (examples: readonly Example[]): LanguageBatch => {
    const { padTokenId, paddingSide, padToMultipleOf = 1, masking } = this.#options;
    const { maxLength = Number.POSITIVE_INFINITY } = this.#options;
    const rows = examples.map(({ inputIds, labels = inputIds }) => {
      if (labels.length !== inputIds.length) {
        const message = `${labels.length} labels for ${inputIds.length} tokens.`;
        fail("ShapeMismatch", kWhere, message);
      }
      const cut = { ids: inputIds.slice(0, maxLength), labels: labels.slice(0, maxLength) };
      return masking === undefined ? cut : maskTokens(cut, masking);
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
    const ofAll = (name: "positionIds" | "sequenceIds") => {
      const lists = examples.flatMap((example) => example[name]?.slice(0, maxLength) ?? []);
      if (lists.length === 0) return {};
      return {
        [name]: tensorOf(
          examples.map((example, i) => {
            const list = example[name]?.slice(0, maxLength);
            const missing = () =>
              rows[i]?.ids.map((_, j) => (name === "positionIds" ? j : 1)) ?? [];
            return filled(list ?? missing(), 0);
          }),
        ),
      };
    };
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
      ...ofAll("positionIds"),
      ...ofAll("sequenceIds"),
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
    const message = `maskTokenId (${maskTokenId}) is not one of the ${vocabSize} tokens.`;
    fail("IndexOutOfRange", where, message);
  }
}

interface Tokens {
  readonly ids: readonly number[];
  readonly labels: readonly number[];
}

// Random numbers come from the engine's generator, so that resumed training draws the same ones.
function maskTokens({ ids, labels }: Tokens, masking: MaskingOptions): Tokens {
  const { maskTokenId, vocabSize, probability = 0.15, specialTokenIds = [] } = masking;
  const [isDrawn, which, other] = drawNumbers(ids.length) as [number[], number[], number[]];
  const isHidden = (i: number) =>
    (isDrawn[i] as number) < probability &&
    labels[i] !== -100 &&
    !specialTokenIds.includes(ids[i] as number);
  const masked = (id: number, i: number) => {
    if (!isHidden(i) || (which[i] as number) >= 0.9) return id;
    return (which[i] as number) < 0.8 ? maskTokenId : Math.floor((other[i] as number) * vocabSize);
  };
  return {
    ids: ids.map(masked),
    labels: labels.map((label, i) => (isHidden(i) ? label : -100)),
  };
}

const drawNumbers = (count: number) =>
  eg.scope(() => eg.rand([3, count]).arraySync()) as number[][];
