// Models that put a text or an image into classes.

import type * as eg from "edgegrad";
import type { Labels } from "../config/labels.js";
import { type ModelOutput, PreTrainedModel } from "../model.js";
import { classifierLoss } from "./losses.js";

/** What a classifier returns. */
export interface ClassifierOutput extends ModelOutput {
  /** The score of each class: [batch, classes]. */
  readonly logits: eg.Tensor;
}

/** A model with a head that tells classes apart. */
export abstract class Classifier extends PreTrainedModel {
  /** What the head is asked for. */
  readonly labels: Labels;

  constructor(labels: Labels) {
    super();
    this.labels = labels;
  }

  protected output(logits: eg.Tensor, labels: eg.Tensor | null | undefined): ClassifierOutput {
    return { logits, ...(labels && { loss: classifierLoss(logits, labels, this.labels) }) };
  }
}
