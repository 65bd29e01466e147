// Language models and classifiers on top of DecoderModel.

import type * as eg from "edgegrad";
import { Linear } from "../blocks/linear.js";
import type { Config } from "../config/config.js";
import { labelsOf } from "../config/labels.js";
import { CausalLanguageModel } from "../tasks/causal.js";
import { Classifier, type ClassifierOutput } from "../tasks/classifier.js";
import { classifierOptions, type TextClassifierOptions } from "../tasks/inputs.js";
import { DecoderModel, type DecoderSpec } from "./decoder.js";
import type { Family } from "./family.js";
import { lastTokens } from "./last_tokens.js";

/** A language model with the head `lm_head`. */
class DecoderForCausalLM extends CausalLanguageModel {
  model: DecoderModel;
  lm_head: Linear;

  constructor(
    spec: DecoderSpec,
    isTied: boolean,
    private readonly softcap: number | null,
  ) {
    super();
    this.model = new DecoderModel(spec);
    this.cacheLimit = spec.rotary.find((rotary) => rotary !== null)?.limit ?? null;
    this.lm_head = new Linear(spec.hidden, spec.vocabulary, false);
    if (isTied) {
      this.lm_head.weight = this.model.embed_tokens.weight;
      this.tieHead("lm_head.weight", "model.embed_tokens.weight");
    }
  }

  protected override get decoder(): DecoderModel {
    return this.model;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    const { scoreDivisor } = this.model.spec;
    const whole = this.lm_head.call(hidden);
    const scores = scoreDivisor === 1 ? whole : whole.div(scoreDivisor);
    const { softcap } = this;
    return softcap === null ? scores : scores.div(softcap).tanh().mul(softcap);
  }
}

/** A classifier with the head `score`, which reads the last token. */
class DecoderForSequenceClassification extends Classifier {
  model: DecoderModel;
  score: Linear;

  constructor(config: Config, spec: DecoderSpec) {
    super(labelsOf(config));
    this.model = new DecoderModel(spec);
    this.score = new Linear(spec.hidden, this.labels.count, false);
  }

  override forward(ids: eg.Tensor, given?: TextClassifierOptions): ClassifierOutput {
    const { labels, ...options } = classifierOptions(this.constructor.name, ids, given);
    const { lastHiddenState } = this.model.call(ids, options);
    const last = lastTokens(lastHiddenState, ids, this.model.spec.paddingToken);
    return this.output(this.score.call(last), labels);
  }
}

/** Returns the family of a spec; `isTied` is the default of tie_word_embeddings. */
export function decoderFamily(specOf: (config: Config) => DecoderSpec, isTied: boolean): Family {
  return {
    prefix: "model",
    heads: /^(?:lm_head|score)\./,
    tasks: {
      features: (config) => {
        config.raw("final_logit_softcapping");
        return new DecoderModel(specOf(config));
      },
      "causal language modeling": (config) =>
        new DecoderForCausalLM(
          specOf(config),
          config.flag("tie_word_embeddings", isTied),
          config.numberOrNull("final_logit_softcapping"),
        ),
      "sequence classification": (config) => {
        config.raw("final_logit_softcapping");
        return new DecoderForSequenceClassification(config, specOf(config));
      },
    },
  };
}
