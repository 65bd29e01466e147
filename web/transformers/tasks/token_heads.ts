// Heads of encoders that read each token: classes of tokens, and where answers begin and end.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { Linear, type Projection } from "../blocks/linear.js";
import type { Config } from "../config/config.js";
import { labelsOf } from "../config/labels.js";
import { type ModelOutput, PreTrainedModel } from "../model.js";
import { Classifier, type ClassifierOutput } from "./classifier.js";
import {
  type AnswerOptions,
  answerOptions,
  classifierOptions,
  type TextClassifierOptions,
} from "./inputs.js";
import { withLoss } from "./losses.js";
import type { EncoderModel } from "./masked.js";

/** The encoder of a head. */
export interface HeadOptions {
  /** The name of the encoder in files. */
  readonly name: string;
  readonly encoder: EncoderModel;
  readonly hidden: number;
  /** The probability of dropout before the head. */
  readonly dropout: number;
  /** A layer before the head, which files call "head". */
  readonly before?: Projection;
}

/** An encoder that gives each token a class. */
export class TokenClassifier extends Classifier {
  head?: Projection;
  classifier: Projection;

  private readonly encoderName: string;
  private readonly dropout: number;

  constructor(config: Config, { name, encoder, hidden, dropout, before }: HeadOptions) {
    super(labelsOf(config));
    Object.assign(this, { [name]: encoder });
    if (before !== undefined) this.head = before;
    this.encoderName = name;
    this.dropout = dropout;
    this.classifier = new Linear(hidden, this.labels.count);
  }

  override forward(ids: eg.Tensor, given?: TextClassifierOptions): ClassifierOutput {
    const { labels, ...options } = classifierOptions(this.constructor.name, ids, given);
    const { lastHiddenState } = encoderIn(this, this.encoderName).call(ids, options);
    const states = this.head?.call(lastHiddenState) ?? lastHiddenState;
    const read = eg.dropout(states, this.dropout, this.training);
    return this.output(this.classifier.call(read), labels);
  }
}

/** What a model that finds answers returns. */
export interface AnswerOutput extends ModelOutput {
  /** The score of each token as the first one of the answer: [batch, tokens]. */
  readonly startLogits: eg.Tensor;
  /** The score of each token as the last one of the answer: [batch, tokens]. */
  readonly endLogits: eg.Tensor;
}

/** An encoder that finds the answer to a question in a text. */
export class AnswerFinder extends PreTrainedModel {
  qa_outputs: Projection;
  private readonly encoderName: string;
  private readonly dropout: number;

  constructor({ name, encoder, hidden, dropout }: HeadOptions) {
    super();
    Object.assign(this, { [name]: encoder });
    this.encoderName = name;
    this.dropout = dropout;
    this.qa_outputs = new Linear(hidden, 2);
  }

  /** Computes the scores of each token, and the loss if both positions are given. */
  override forward(ids: eg.Tensor, given?: AnswerOptions): AnswerOutput {
    const where = this.constructor.name;
    const { startPositions, endPositions, ...options } = answerOptions(where, ids, given);
    const { lastHiddenState } = encoderIn(this, this.encoderName).call(ids, options);
    const read = eg.dropout(lastHiddenState, this.dropout, this.training);
    const scores = this.qa_outputs.call(read);
    const output = { startLogits: scores.select(2, 0), endLogits: scores.select(2, 1) };
    if (!startPositions || !endPositions) return output;
    const loss = lossAt(output.startLogits, startPositions)
      .add(lossAt(output.endLogits, endPositions))
      .div(2);
    return withLoss(output, loss, () => eg.tensor(ids.shape[0] as number));
  }
}

// Positions beyond the text, where an answer was cut off, do not count.
function lossAt(scores: eg.Tensor, positions: eg.Tensor): eg.Tensor {
  const [batch, tokens] = scores.shape as [number, number];
  if (positions.numel !== batch) {
    const message = `positions: expected one for each of the ${batch} texts, got ${positions.numel}.`;
    fail("ShapeMismatch", "forward", message);
  }
  const places = positions.reshape([-1]).to("int64").clamp(0, tokens);
  return eg.crossEntropy(scores.float(), places, null, { ignoreIndex: tokens });
}

const encoderIn = (model: eg.nn.Module, name: string) => Reflect.get(model, name) as EncoderModel;
