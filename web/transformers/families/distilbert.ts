// DistilBERT: half of BERT's layers, without token types and without a pooler.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { type Activation, activationOf } from "../blocks/activations.js";
import { LayerStack } from "../blocks/layer_stack.js";
import { Linear, type Projection } from "../blocks/linear.js";
import { Pass } from "../blocks/pass.js";
import { PlacedWords } from "../blocks/placed_words.js";
import { attendToEachOther } from "../blocks/self_attention.js";
import type { Config } from "../config/config.js";
import { labelsOf } from "../config/labels.js";
import { type FeaturesOutput, PreTrainedModel } from "../model.js";
import { Classifier, type ClassifierOutput } from "../tasks/classifier.js";
import {
  checkPositions,
  classifierOptions,
  type EncoderOptions,
  encoderOptions,
  type TextClassifierOptions,
} from "../tasks/inputs.js";
import { MaskedLanguageModel } from "../tasks/masked.js";
import { AnswerFinder, TokenClassifier } from "../tasks/token_heads.js";
import type { Family } from "./family.js";

const kEps = 1e-12;

interface Spec {
  readonly vocabulary: number;
  readonly positions: number;
  readonly hidden: number;
  readonly inner: number;
  readonly layers: number;
  readonly heads: number;
  readonly activation: Activation;
  readonly paddingIdx: number;
  readonly dropout: {
    readonly attention: number;
    readonly hidden: number;
    readonly classifier: number;
  };
}

function specOf(config: Config): Spec {
  return {
    vocabulary: config.size("vocab_size"),
    positions: config.size("max_position_embeddings", 512),
    hidden: config.size("dim", 768),
    inner: config.size("hidden_dim", 3072),
    layers: config.size("n_layers", 6),
    heads: config.size("n_heads", 12),
    activation: activationOf(config, "activation", "gelu"),
    paddingIdx: config.whole("pad_token_id", 0),
    dropout: {
      attention: config.share("attention_dropout", 0.1),
      hidden: config.share("dropout", 0.1),
      classifier: config.share("seq_classif_dropout", 0.2),
    },
  };
}

class Attention extends eg.nn.Module {
  q_lin: Projection;
  k_lin: Projection;
  v_lin: Projection;
  out_lin: Projection;

  constructor(private readonly spec: Spec) {
    super();
    const { hidden } = spec;
    this.q_lin = new Linear(hidden, hidden);
    this.k_lin = new Linear(hidden, hidden);
    this.v_lin = new Linear(hidden, hidden);
    this.out_lin = new Linear(hidden, hidden);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { heads, dropout } = this.spec;
    const attended = attendToEachOther(x, [this.q_lin, this.k_lin, this.v_lin], {
      pass,
      heads,
      dropout: this.training ? dropout.attention : 0,
    });
    return this.out_lin.call(attended);
  }
}

class FeedForward extends eg.nn.Module {
  lin1: Projection;
  lin2: Projection;

  constructor(private readonly spec: Spec) {
    super();
    this.lin1 = new Linear(spec.hidden, spec.inner);
    this.lin2 = new Linear(spec.inner, spec.hidden);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const { activation, dropout } = this.spec;
    return eg.dropout(this.lin2.call(activation(this.lin1.call(x))), dropout.hidden, this.training);
  }
}

class Block extends eg.nn.Module {
  attention: Attention;
  sa_layer_norm: eg.nn.LayerNorm;
  ffn: FeedForward;
  output_layer_norm: eg.nn.LayerNorm;

  constructor(spec: Spec) {
    super();
    this.attention = new Attention(spec);
    this.sa_layer_norm = new eg.nn.LayerNorm(spec.hidden, { eps: kEps });
    this.ffn = new FeedForward(spec);
    this.output_layer_norm = new eg.nn.LayerNorm(spec.hidden, { eps: kEps });
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const attended = this.sa_layer_norm.call(this.attention.call(x, pass).add(x));
    return this.output_layer_norm.call(this.ffn.call(attended).add(attended));
  }
}

/** The layers of DistilBERT. */
class DistilBertModel extends PreTrainedModel {
  embeddings: PlacedWords;
  transformer: LayerStack;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(readonly spec: Spec) {
    super();
    this.embeddings = new PlacedWords({ ...spec, eps: kEps, dropout: spec.dropout.hidden });
    this.transformer = new LayerStack(spec.layers, () => new Block(spec));
  }

  override forward(ids: eg.Tensor, given?: EncoderOptions): FeaturesOutput {
    const where = this.constructor.name;
    const options = encoderOptions(where, ids, given);
    if (options.tokenTypeIds) {
      fail("InvalidArgument", where, "this family has no token types: omit tokenTypeIds.");
    }
    const like = this.embeddings.word_embeddings.weight;
    const pass = new Pass({ ids, like, isCausal: false, ...options });
    checkPositions(where, pass, this.spec.positions);
    const embedded = this.embeddings.call(ids, pass.positionIds);
    return { lastHiddenState: this.transformer.call(embedded, pass, this.gradientCheckpointing) };
  }
}

/** DistilBERT that classifies by the first token. */
class DistilBertForSequenceClassification extends Classifier {
  distilbert: DistilBertModel;
  pre_classifier: Projection;
  classifier: Projection;

  constructor(config: Config) {
    super(labelsOf(config));
    const spec = specOf(config);
    this.distilbert = new DistilBertModel(spec);
    this.pre_classifier = new Linear(spec.hidden, spec.hidden);
    this.classifier = new Linear(spec.hidden, this.labels.count);
  }

  override forward(ids: eg.Tensor, given?: TextClassifierOptions): ClassifierOutput {
    const { labels, ...options } = classifierOptions(this.constructor.name, ids, given);
    const { lastHiddenState } = this.distilbert.call(ids, options);
    const pooled = this.pre_classifier.call(lastHiddenState.select(1, 0)).relu();
    const share = this.distilbert.spec.dropout.classifier;
    return this.output(this.classifier.call(eg.dropout(pooled, share, this.training)), labels);
  }
}

/** DistilBERT that predicts masked tokens. */
class DistilBertForMaskedLM extends MaskedLanguageModel {
  distilbert: DistilBertModel;
  vocab_transform: Projection;
  vocab_layer_norm: eg.nn.LayerNorm;
  vocab_projector: Linear;

  constructor(config: Config) {
    super();
    const spec = specOf(config);
    const { hidden, vocabulary } = spec;
    this.distilbert = new DistilBertModel(spec);
    this.vocab_transform = new Linear(hidden, hidden);
    this.vocab_layer_norm = new eg.nn.LayerNorm(hidden, { eps: kEps });
    this.vocab_projector = new Linear(hidden, vocabulary);
    if (!config.flag("tie_word_embeddings", true)) return;
    this.vocab_projector.weight = this.distilbert.embeddings.word_embeddings.weight;
    this.tieHead("vocab_projector.weight", "distilbert.embeddings.word_embeddings.weight");
  }

  protected override get encoder(): DistilBertModel {
    return this.distilbert;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    const read = this.distilbert.spec.activation(this.vocab_transform.call(hidden));
    return this.vocab_projector.call(this.vocab_layer_norm.call(read));
  }
}

/** DistilBERT. */
export const distilbert: Family = {
  prefix: "distilbert",
  heads: /^(?:pre_classifier|classifier|vocab_\w+|qa_outputs)\./,
  tasks: {
    features: (config) => new DistilBertModel(specOf(config)),
    "masked language modeling": (config) => new DistilBertForMaskedLM(config),
    "sequence classification": (config) => new DistilBertForSequenceClassification(config),
    "token classification": (config) => {
      const encoder = new DistilBertModel(specOf(config));
      const { hidden, dropout } = encoder.spec;
      return new TokenClassifier(config, {
        name: "distilbert",
        encoder,
        hidden,
        dropout: dropout.hidden,
      });
    },
    "question answering": (config) => {
      const encoder = new DistilBertModel(specOf(config));
      const { hidden } = encoder.spec;
      const dropout = config.share("qa_dropout", 0.1);
      return new AnswerFinder({ name: "distilbert", encoder, hidden, dropout });
    },
  },
};
