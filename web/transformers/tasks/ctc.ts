// Models that write a character, or nothing, for each moment of speech.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { type ModelOutput, PreTrainedModel } from "../model.js";
import { checkOptions } from "../options.js";
import { kTensor } from "./inputs.js";
import { withLoss } from "./losses.js";

/** Options of models that write characters for moments. */
export interface CtcOptions {
  /** 0 for padding samples, and not 0 for all others: [batch, samples]. */
  readonly attentionMask?: eg.Tensor | null | undefined;
  /** The characters of each recording, in order: [batch, characters]; -100 where there is none. */
  readonly labels?: eg.Tensor | null | undefined;
}

/** What models that write characters for moments return. */
export interface CtcOutput extends ModelOutput {
  /** The scores of each character at each moment: [batch, moments, characters]. */
  readonly logits: eg.Tensor;
}

const kOptions = { attentionMask: kTensor, labels: kTensor };

/** How many moments of each recording are not padding. */
export type Moments = eg.Tensor | readonly number[];

/** The settings of the loss. */
export interface CtcSettings {
  /** The token for nothing. */
  readonly blank: number;
  readonly isMean: boolean;
  /** Whether recordings that are too short for their characters count as 0. */
  readonly zeroInfinity: boolean;
}

/** A model that writes a character, or nothing, for each moment of speech. */
export abstract class CtcModel extends PreTrainedModel {
  protected abstract readonly ctc: CtcSettings;

  /** Returns the scores of each moment, and how many moments of each recording are not padding: [batch]. */
  protected abstract scores(
    samples: eg.Tensor,
    attentionMask: eg.Tensor | null,
  ): [scores: eg.Tensor, moments: Moments];

  /** Computes the scores of each moment, and the loss if labels are given. */
  override forward(samples: eg.Tensor, given: CtcOptions = {}): CtcOutput {
    const where = this.constructor.name;
    checkOptions(where, given, kOptions);
    if (!(samples instanceof eg.Tensor) || samples.ndim !== 2 || !/float/.test(samples.dtype)) {
      fail("ShapeMismatch", where, "expected samples [batch, samples] as numbers.");
    }
    const { attentionMask = null, labels } = given;
    const [logits, moments] = this.scores(samples, attentionMask);
    if (!labels) return { logits };
    const { blank, isMean, zeroInfinity } = this.ctc;
    const isGiven = labels.ne(-100);
    const loss = eg.ctcLoss(
      eg.logSoftmax(logits.float(), -1).transpose(0, 1),
      labels.maskedFill(isGiven.logicalNot(), 0).to("int64"),
      moments,
      isGiven.sum(-1),
      { blank, reduction: isMean ? "mean" : "sum", zeroInfinity },
    );
    return withLoss({ logits }, loss, () => eg.tensor(labels.shape[0] as number));
  }
}
