// Models that classify a text or an image.

import type * as eg from "edgegrad";
import type { Labels } from "../config/labels.js";
import { type ModelOutput, PreTrainedModel } from "../model.js";
import { withClassifierLoss } from "./losses.js";

/** What a classifier returns. */
export interface ClassifierOutput extends ModelOutput {
  /** The score of each class: [batch, classes]. */
  readonly logits: eg.Tensor;
}

/** A model with a classification head. */
export abstract class Classifier extends PreTrainedModel {
  /** The classes and the kind of loss. */
  readonly labels: Labels;

  constructor(labels: Labels) {
    super();
    this.labels = labels;
  }

  protected output(logits: eg.Tensor, labels: eg.Tensor | null | undefined): ClassifierOutput {
    return labels ? withClassifierLoss(logits, labels, this.labels) : { logits };
  }
}
