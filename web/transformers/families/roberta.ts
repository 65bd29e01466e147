// RoBERTa: BERT whose positions begin after the padding index, with other heads.

import * as eg from "edgegrad";
import { Linear, type Projection } from "../blocks/linear.js";
import type { Config } from "../config/config.js";
import { labelsOf } from "../config/labels.js";
import { Classifier, type ClassifierOutput } from "../tasks/classifier.js";
import { classifierOptions, type TextClassifierOptions } from "../tasks/inputs.js";
import { MaskedLanguageModel } from "../tasks/masked.js";
import { AnswerFinder, TokenClassifier } from "../tasks/token_heads.js";
import { BertModel, type BertSpec, bertHead, bertSpec } from "./bert.js";
import type { Family } from "./family.js";

function robertaModel(config: Config, hasPooler: boolean): BertModel {
  const spec = bertSpec(config, 1);
  return new BertModel(spec, hasPooler, spec.paddingIdx + 1);
}

/** A two-layer classification head on the first token. */
export class ClassificationHead extends eg.nn.Module {
  dense: Projection;
  out_proj: Projection;

  constructor(
    hidden: number,
    labels: number,
    private readonly dropout: number,
  ) {
    super();
    this.dense = new Linear(hidden, hidden);
    this.out_proj = new Linear(hidden, labels);
  }

  override forward(hidden: eg.Tensor): eg.Tensor {
    const dropped = (x: eg.Tensor) => eg.dropout(x, this.dropout, this.training);
    const first = this.dense.call(dropped(hidden.select(1, 0))).tanh();
    return this.out_proj.call(dropped(first));
  }
}

/** RoBERTa that classifies by the first token. */
class RobertaForSequenceClassification extends Classifier {
  roberta: BertModel;
  classifier: Projection;

  constructor(config: Config) {
    super(labelsOf(config));
    this.roberta = robertaModel(config, false);
    const { hidden, dropout } = this.roberta.spec;
    this.classifier = new ClassificationHead(hidden, this.labels.count, dropout.classifier);
  }

  override forward(ids: eg.Tensor, given?: TextClassifierOptions): ClassifierOutput {
    const { labels, ...options } = classifierOptions(this.constructor.name, ids, given);
    const { lastHiddenState } = this.roberta.call(ids, options);
    return this.output(this.classifier.call(lastHiddenState), labels);
  }
}

/** The logits of the vocabulary; files have its bias under two names. */
export class LMHead extends eg.nn.Module {
  dense: Projection;
  layer_norm: eg.nn.LayerNorm;
  decoder: Linear;
  bias: eg.nn.Parameter;

  constructor({ hidden, vocabulary, eps }: Pick<BertSpec, "hidden" | "vocabulary" | "eps">) {
    super();
    this.dense = new Linear(hidden, hidden);
    this.layer_norm = new eg.nn.LayerNorm(hidden, { eps });
    this.decoder = new Linear(hidden, vocabulary);
    this.bias = this.decoder.bias as eg.nn.Parameter;
  }

  override forward(hidden: eg.Tensor): eg.Tensor {
    return this.decoder.call(this.layer_norm.call(eg.gelu(this.dense.call(hidden))));
  }
}

/** RoBERTa that predicts masked tokens. */
class RobertaForMaskedLM extends MaskedLanguageModel {
  roberta: BertModel;
  lm_head: LMHead;

  constructor(config: Config) {
    super();
    this.roberta = robertaModel(config, false);
    this.lm_head = new LMHead(this.roberta.spec);
    this.tied = { "lm_head.bias": "lm_head.decoder.bias" };
    if (!config.flag("tie_word_embeddings", true)) return;
    this.lm_head.decoder.weight = this.roberta.embeddings.word_embeddings.weight;
    this.tieHead("lm_head.decoder.weight", "roberta.embeddings.word_embeddings.weight");
  }

  protected override get encoder(): BertModel {
    return this.roberta;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    return this.lm_head.call(hidden);
  }
}

/** RoBERTa, including XLM-RoBERTa. */
export const roberta: Family = {
  prefix: "roberta",
  heads: /^(?:pooler|classifier|lm_head|qa_outputs)\./,
  tasks: {
    features: (config) => robertaModel(config, true),
    "masked language modeling": (config) => new RobertaForMaskedLM(config),
    "sequence classification": (config) => new RobertaForSequenceClassification(config),
    "token classification": (config) =>
      new TokenClassifier(config, bertHead("roberta", robertaModel(config, false))),
    "question answering": (config) =>
      new AnswerFinder(bertHead("roberta", robertaModel(config, false), 0)),
  },
};
