// MPNet: BERT without token types, with a bias of attention for the distances of tokens that all layers share.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { activationOf } from "../blocks/activations.js";
import { attend, joinHeads, splitHeads } from "../blocks/attention.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import { Pass } from "../blocks/pass.js";
import { PlacedWords } from "../blocks/placed_words.js";
import { runBlocks } from "../blocks/run_blocks.js";
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
import { Intermediate, type LayerSpec, Output, Pooler, positionsFrom } from "./bert.js";
import type { Family } from "./family.js";
import { ClassificationHead, LMHead } from "./roberta.js";
import { distanceBuckets } from "./t5_distances.js";

/** The padding token, after which positions begin. */
const kPadding = 1;

interface Spec extends LayerSpec {
  readonly vocabulary: number;
  readonly positions: number;
  readonly layers: number;
  readonly heads: number;
  readonly buckets: number;
}

function specOf(config: Config): Spec {
  config.only("pad_token_id", kPadding);
  const dropped = config.share("hidden_dropout_prob", 0.1);
  return {
    vocabulary: config.size("vocab_size", 30527),
    positions: config.size("max_position_embeddings", 512),
    hidden: config.size("hidden_size", 768),
    intermediate: config.size("intermediate_size", 3072),
    layers: config.size("num_hidden_layers", 12),
    heads: config.size("num_attention_heads", 12),
    eps: config.number("layer_norm_eps", 1e-12),
    activation: activationOf(config, "hidden_act", "gelu"),
    buckets: config.size("relative_attention_num_buckets", 32),
    dropout: {
      attention: config.share("attention_probs_dropout_prob", 0.1),
      hidden: dropped,
      classifier: dropped,
    },
  };
}

class SelfAttention extends eg.nn.Module {
  q: Projection;
  k: Projection;
  v: Projection;
  o: Projection;

  constructor(private readonly spec: Spec) {
    super();
    const { hidden } = spec;
    this.q = new Linear(hidden, hidden);
    this.k = new Linear(hidden, hidden);
    this.v = new Linear(hidden, hidden);
    this.o = new Linear(hidden, hidden);
  }

  override forward(x: eg.Tensor, pass: Pass, bias: eg.Tensor): eg.Tensor {
    const { heads, hidden, dropout } = this.spec;
    const [q, k, v] = [this.q, this.k, this.v].map((layer) => splitHeads(layer.call(x), heads)) as [
      eg.Tensor,
      eg.Tensor,
      eg.Tensor,
    ];
    const scale = (hidden / heads) ** -0.5;
    const share = this.training ? dropout.attention : 0;
    const read = attend(q, k, v, { pass, layer: null, scale, bias, dropout: share });
    return this.o.call(joinHeads(read));
  }
}

class Attention extends eg.nn.Module {
  attn: SelfAttention;
  LayerNorm: eg.nn.LayerNorm;

  constructor(private readonly spec: Spec) {
    super();
    this.attn = new SelfAttention(spec);
    this.LayerNorm = new eg.nn.LayerNorm(spec.hidden, { eps: spec.eps });
  }

  override forward(x: eg.Tensor, pass: Pass, bias: eg.Tensor): eg.Tensor {
    const read = this.attn.call(x, pass, bias);
    const dropped = eg.dropout(read, this.spec.dropout.hidden, this.training);
    return this.LayerNorm.call(dropped.add(x));
  }
}

class Layer extends eg.nn.Module {
  attention: Attention;
  intermediate: Intermediate;
  output: Output;

  constructor(spec: Spec) {
    super();
    this.attention = new Attention(spec);
    this.intermediate = new Intermediate(spec);
    this.output = new Output(spec, spec.intermediate);
  }

  override forward(x: eg.Tensor, pass: Pass, bias: eg.Tensor): eg.Tensor {
    const attended = this.attention.call(x, pass, bias);
    return this.output.call(this.intermediate.call(attended), attended);
  }
}

class Encoder extends eg.nn.Module {
  layer: eg.nn.ModuleList<Layer>;
  relative_attention_bias: Embedding;

  constructor(private readonly spec: Spec) {
    super();
    this.layer = new eg.nn.ModuleList(Array.from({ length: spec.layers }, () => new Layer(spec)));
    this.relative_attention_bias = new Embedding(spec.buckets, spec.heads);
  }

  override forward(x: eg.Tensor, pass: Pass, isCheckpointed: boolean): eg.Tensor {
    pass.mask();
    return runBlocks(this.layer, isCheckpointed, x, pass, this.bias(pass));
  }

  // [1, heads, tokens, tokens]
  private bias({ keys }: Pass): eg.Tensor {
    const options = { isCausal: false, buckets: this.spec.buckets, farthest: 128 };
    const { device } = this.relative_attention_bias.weight;
    const ids = eg.tensor(distanceBuckets(0, keys, options), { dtype: "int64", device });
    return this.relative_attention_bias.call(ids).permute([2, 0, 1]).unsqueeze(0);
  }
}

/** The layers of MPNet. */
class MPNetModel extends PreTrainedModel {
  embeddings: PlacedWords;
  encoder: Encoder;
  pooler: Pooler | null;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(
    readonly spec: Spec,
    hasPooler: boolean,
  ) {
    super();
    this.embeddings = new PlacedWords({
      ...spec,
      paddingIdx: kPadding,
      dropout: spec.dropout.hidden,
    });
    this.encoder = new Encoder(spec);
    this.pooler = hasPooler ? new Pooler(spec) : null;
  }

  override forward(ids: eg.Tensor, given?: EncoderOptions): FeaturesOutput {
    const where = this.constructor.name;
    const options = encoderOptions(where, ids, given);
    if (options.tokenTypeIds) {
      fail("InvalidArgument", where, "this family has no token types: omit tokenTypeIds.");
    }
    const like = this.embeddings.word_embeddings.weight;
    const pass = new Pass({ ids, like, isCausal: false, ...options });
    checkPositions(where, pass, this.spec.positions - kPadding - 1);
    const places = options.positionIds ?? positionsFrom(ids, kPadding, kPadding + 1);
    const embedded = this.embeddings.call(ids, places);
    const lastHiddenState = this.encoder.call(embedded, pass, this.gradientCheckpointing);
    const { pooler } = this;
    return { lastHiddenState, ...(pooler && { poolerOutput: pooler.call(lastHiddenState) }) };
  }
}

/** MPNet that classifies by the first token. */
class MPNetForSequenceClassification extends Classifier {
  mpnet: MPNetModel;
  classifier: Projection;

  constructor(config: Config) {
    super(labelsOf(config));
    this.mpnet = new MPNetModel(specOf(config), false);
    const { hidden, dropout } = this.mpnet.spec;
    this.classifier = new ClassificationHead(hidden, this.labels.count, dropout.classifier);
  }

  override forward(ids: eg.Tensor, given?: TextClassifierOptions): ClassifierOutput {
    const { labels, ...options } = classifierOptions(this.constructor.name, ids, given);
    const { lastHiddenState } = this.mpnet.call(ids, options);
    return this.output(this.classifier.call(lastHiddenState), labels);
  }
}

/** MPNet that predicts masked tokens. */
class MPNetForMaskedLM extends MaskedLanguageModel {
  mpnet: MPNetModel;
  lm_head: LMHead;

  constructor(config: Config) {
    super();
    this.mpnet = new MPNetModel(specOf(config), false);
    this.lm_head = new LMHead(this.mpnet.spec);
    this.tied = { "lm_head.bias": "lm_head.decoder.bias" };
    if (!config.flag("tie_word_embeddings", true)) return;
    this.lm_head.decoder.weight = this.mpnet.embeddings.word_embeddings.weight;
    this.tieHead("lm_head.decoder.weight", "mpnet.embeddings.word_embeddings.weight");
  }

  protected override get encoder(): MPNetModel {
    return this.mpnet;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    return this.lm_head.call(hidden);
  }
}

function headOf(config: Config) {
  const encoder = new MPNetModel(specOf(config), false);
  const { hidden, dropout } = encoder.spec;
  return { name: "mpnet", encoder, hidden, dropout: dropout.hidden };
}

/** MPNet. */
export const mpnet: Family = {
  prefix: "mpnet",
  heads: /^(?:pooler|classifier|lm_head|qa_outputs)\./,
  tasks: {
    features: (config) => new MPNetModel(specOf(config), true),
    "masked language modeling": (config) => new MPNetForMaskedLM(config),
    "sequence classification": (config) => new MPNetForSequenceClassification(config),
    "token classification": (config) => new TokenClassifier(config, headOf(config)),
    "question answering": (config) => new AnswerFinder({ ...headOf(config), dropout: 0 }),
  },
};
