// BERT, and what its variants share with it: bidirectional attention and post-LayerNorm.

import * as eg from "edgegrad";
import { type Activation, activationOf } from "../blocks/activations.js";
import { LayerStack } from "../blocks/layer_stack.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import { Pass } from "../blocks/pass.js";
import { SelfAttention } from "../blocks/self_attention.js";
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
import { AnswerFinder, type HeadOptions, TokenClassifier } from "../tasks/token_heads.js";
import type { Family } from "./family.js";

/** The sizes of BERT and its variants. */
export interface BertSpec {
  readonly vocabulary: number;
  readonly positions: number;
  readonly types: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly layers: number;
  readonly heads: number;
  readonly eps: number;
  readonly activation: Activation;
  /** Dropout probabilities. */
  readonly dropout: {
    readonly attention: number;
    readonly hidden: number;
    readonly classifier: number;
  };
  readonly paddingIdx: number;
}

/** The part of BertSpec that the layers read. */
export type LayerSpec = Pick<
  BertSpec,
  "hidden" | "intermediate" | "eps" | "activation" | "dropout"
>;

/** Returns the positions of tokens that are not padding, which begin at `first`; padding has the one before. */
export function positionsFrom(ids: eg.Tensor, paddingIdx: number, first: number): eg.Tensor {
  const counts = ids.ne(paddingIdx).to("int64");
  return counts
    .cumsum(1)
    .mul(counts)
    .add(first - 1);
}

/** Reads the sizes from config.json. */
export function bertSpec(config: Config, paddingIdx = 0): BertSpec {
  config.only("position_embedding_type", "absolute");
  config.only("is_decoder", false);
  config.only("add_cross_attention", false);
  const dropped = config.share("hidden_dropout_prob", 0.1);
  return {
    vocabulary: config.size("vocab_size"),
    positions: config.size("max_position_embeddings"),
    types: config.size("type_vocab_size", 2),
    hidden: config.size("hidden_size"),
    intermediate: config.size("intermediate_size"),
    layers: config.size("num_hidden_layers"),
    heads: config.size("num_attention_heads"),
    eps: config.number("layer_norm_eps", 1e-12),
    activation: activationOf(config, "hidden_act", "gelu"),
    dropout: {
      attention: config.share("attention_probs_dropout_prob", 0.1),
      hidden: dropped,
      classifier: config.share("classifier_dropout", dropped),
    },
    paddingIdx: config.whole("pad_token_id", paddingIdx),
  };
}

/** The sum of token, position and token type embeddings, normalized. */
class Embeddings extends eg.nn.Module {
  word_embeddings: Embedding;
  position_embeddings: Embedding;
  token_type_embeddings: Embedding;
  LayerNorm: eg.nn.LayerNorm;

  constructor(private readonly spec: BertSpec) {
    super();
    const { vocabulary, positions, types, hidden, eps, paddingIdx } = spec;
    this.word_embeddings = new Embedding(vocabulary, hidden, paddingIdx);
    this.position_embeddings = new Embedding(positions, hidden);
    this.token_type_embeddings = new Embedding(types, hidden);
    this.LayerNorm = new eg.nn.LayerNorm(hidden, { eps });
  }

  override forward(ids: eg.Tensor, positionIds: eg.Tensor, typeIds: eg.Tensor): eg.Tensor {
    const sum = this.word_embeddings
      .call(ids)
      .add(this.token_type_embeddings.call(typeIds))
      .add(this.position_embeddings.call(positionIds));
    return eg.dropout(this.LayerNorm.call(sum), this.spec.dropout.hidden, this.training);
  }
}

/** Adds the result of a sublayer to its input, and normalizes the sum. */
export class Output extends eg.nn.Module {
  dense: Projection;
  LayerNorm: eg.nn.LayerNorm;

  constructor(
    private readonly spec: LayerSpec,
    inFeatures: number,
  ) {
    super();
    this.dense = new Linear(inFeatures, spec.hidden);
    this.LayerNorm = new eg.nn.LayerNorm(spec.hidden, { eps: spec.eps });
  }

  override forward(x: eg.Tensor, input: eg.Tensor): eg.Tensor {
    const dropped = eg.dropout(this.dense.call(x), this.spec.dropout.hidden, this.training);
    return this.LayerNorm.call(dropped.add(input));
  }
}

class Attention extends eg.nn.Module {
  self: SelfAttention;
  output: Output;

  constructor(spec: BertSpec) {
    super();
    const { hidden, heads, dropout } = spec;
    this.self = new SelfAttention({ hidden, heads, hasBias: true, dropout: dropout.attention });
    this.output = new Output(spec, spec.hidden);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    return this.output.call(this.self.call(x, pass), x);
  }
}

/** The first layer of an MLP. */
export class Intermediate extends eg.nn.Module {
  dense: Projection;

  constructor(private readonly spec: LayerSpec) {
    super();
    this.dense = new Linear(spec.hidden, spec.intermediate);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    return this.spec.activation(this.dense.call(x));
  }
}

class Layer extends eg.nn.Module {
  attention: Attention;
  intermediate: Intermediate;
  output: Output;

  constructor(spec: BertSpec) {
    super();
    this.attention = new Attention(spec);
    this.intermediate = new Intermediate(spec);
    this.output = new Output(spec, spec.intermediate);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const attended = this.attention.call(x, pass);
    return this.output.call(this.intermediate.call(attended), attended);
  }
}

/** The vector of a text, from its first token. */
export class Pooler extends eg.nn.Module {
  dense: Projection;

  constructor(spec: LayerSpec) {
    super();
    this.dense = new Linear(spec.hidden, spec.hidden);
  }

  override forward(hidden: eg.Tensor): eg.Tensor {
    return this.dense.call(hidden.select(1, 0)).tanh();
  }
}

/** The layers of BERT; `pooler` is null for heads that do not read it. */
export class BertModel extends PreTrainedModel {
  embeddings: Embeddings;
  encoder: LayerStack;
  pooler: Pooler | null;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(
    readonly spec: BertSpec,
    hasPooler: boolean,
    /** The first position of tokens that are not padding; null: positions begin at 0 and count padding too. */
    private readonly firstPosition: number | null = null,
  ) {
    super();
    this.embeddings = new Embeddings(spec);
    this.encoder = new LayerStack(spec.layers, () => new Layer(spec));
    this.pooler = hasPooler ? new Pooler(spec) : null;
  }

  override forward(ids: eg.Tensor, given?: EncoderOptions): FeaturesOutput {
    const options = encoderOptions(this.constructor.name, ids, given);
    const types = options.tokenTypeIds ?? eg.zerosLike(ids);
    // The table of words may be quantized.
    const like = this.embeddings.LayerNorm.weight as eg.nn.Parameter;
    const pass = new Pass({ ids, like, isCausal: false, ...options });
    checkPositions(this.constructor.name, pass, this.spec.positions - (this.firstPosition ?? 0));
    const places = options.positionIds ?? this.placesOf(ids, pass);
    const embedded = this.embeddings.call(ids, places, types);
    const lastHiddenState = this.encoder.call(embedded, pass, this.gradientCheckpointing);
    const { pooler } = this;
    return { lastHiddenState, ...(pooler && { poolerOutput: pooler.call(lastHiddenState) }) };
  }

  private placesOf(ids: eg.Tensor, pass: Pass): eg.Tensor {
    const { firstPosition, spec } = this;
    if (firstPosition === null) return pass.positionIds;
    return positionsFrom(ids, spec.paddingIdx, firstPosition);
  }
}

/** BERT that classifies by its pooler. */
class BertForSequenceClassification extends Classifier {
  bert: BertModel;
  classifier: Projection;

  constructor(config: Config) {
    super(labelsOf(config));
    const spec = bertSpec(config);
    this.bert = new BertModel(spec, true);
    this.classifier = new Linear(spec.hidden, this.labels.count);
  }

  override forward(ids: eg.Tensor, given?: TextClassifierOptions): ClassifierOutput {
    const { labels, ...options } = classifierOptions(this.constructor.name, ids, given);
    const { poolerOutput } = this.bert.call(ids, options);
    const share = this.bert.spec.dropout.classifier;
    const pooled = eg.dropout(poolerOutput as eg.Tensor, share, this.training);
    return this.output(this.classifier.call(pooled), labels);
  }
}

/** The dense layer and the norm before the logits. */
class PredictionTransform extends eg.nn.Module {
  dense: Projection;
  LayerNorm: eg.nn.LayerNorm;

  constructor(private readonly spec: BertSpec) {
    super();
    this.dense = new Linear(spec.hidden, spec.hidden);
    this.LayerNorm = new eg.nn.LayerNorm(spec.hidden, { eps: spec.eps });
  }

  override forward(hidden: eg.Tensor): eg.Tensor {
    return this.LayerNorm.call(this.spec.activation(this.dense.call(hidden)));
  }
}

/** The logits of the vocabulary; files have its bias under two names. */
class Predictions extends eg.nn.Module {
  transform: PredictionTransform;
  decoder: Linear;
  bias: eg.nn.Parameter;

  constructor(spec: BertSpec) {
    super();
    this.transform = new PredictionTransform(spec);
    this.decoder = new Linear(spec.hidden, spec.vocabulary);
    this.bias = this.decoder.bias as eg.nn.Parameter;
  }

  override forward(hidden: eg.Tensor): eg.Tensor {
    return this.decoder.call(this.transform.call(hidden));
  }
}

/** The pretraining head; of the two, only the one that predicts masked tokens is kept. */
class PretrainingHeads extends eg.nn.Module {
  predictions: Predictions;

  constructor(spec: BertSpec) {
    super();
    this.predictions = new Predictions(spec);
  }

  override forward(hidden: eg.Tensor): eg.Tensor {
    return this.predictions.call(hidden);
  }
}

/** BERT that predicts masked tokens. */
class BertForMaskedLM extends MaskedLanguageModel {
  bert: BertModel;
  cls: PretrainingHeads;

  constructor(config: Config) {
    super();
    const spec = bertSpec(config);
    this.bert = new BertModel(spec, false);
    this.cls = new PretrainingHeads(spec);
    this.tied = { "cls.predictions.bias": "cls.predictions.decoder.bias" };
    if (!config.flag("tie_word_embeddings", true)) return;
    this.cls.predictions.decoder.weight = this.bert.embeddings.word_embeddings.weight;
    this.tieHead("cls.predictions.decoder.weight", "bert.embeddings.word_embeddings.weight");
  }

  protected override get encoder(): BertModel {
    return this.bert;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    return this.cls.call(hidden);
  }
}

/** Returns what the heads for tokens need. */
export function bertHead(
  name: string,
  encoder: BertModel,
  dropout = encoder.spec.dropout.classifier,
): HeadOptions {
  return { name, encoder, hidden: encoder.spec.hidden, dropout };
}

/** BERT, and also the MiniLM sentence models. */
export const bert: Family = {
  prefix: "bert",
  heads: /^(?:bert\.pooler|pooler|classifier|cls|qa_outputs)\./,
  tasks: {
    features: (config) => new BertModel(bertSpec(config), true),
    "masked language modeling": (config) => new BertForMaskedLM(config),
    "sequence classification": (config) => new BertForSequenceClassification(config),
    "token classification": (config) =>
      new TokenClassifier(config, bertHead("bert", new BertModel(bertSpec(config), false))),
    "question answering": (config) =>
      new AnswerFinder(bertHead("bert", new BertModel(bertSpec(config), false), 0)),
  },
};
