// DeBERTa v2 and v3: BERT whose attention also compares tokens with distances, and distances with tokens.

import * as eg from "edgegrad";
import { type Activation, activationOf } from "../blocks/activations.js";
import { joinHeads, splitHeads } from "../blocks/attention.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import { Pass } from "../blocks/pass.js";
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
import { AnswerFinder, TokenClassifier } from "../tasks/token_heads.js";
import { Intermediate, type LayerSpec, Output } from "./bert.js";
import type { Family } from "./family.js";

interface Spec extends LayerSpec {
  readonly vocabulary: number;
  readonly positions: number;
  readonly types: number;
  readonly layers: number;
  readonly heads: number;
  readonly paddingIdx: number;
  /** How many buckets the distances in one direction have; without buckets, how many distances. */
  readonly span: number;
  /** The number of buckets; null: each distance has a vector of its own. */
  readonly buckets: number | null;
  readonly farthest: number;
  /** What is compared in addition to tokens with tokens: tokens with distances, and distances with tokens. */
  readonly hasTokenToPlace: boolean;
  readonly hasPlaceToToken: boolean;
  /** Whether distances are projected like tokens. */
  readonly isShared: boolean;
  readonly hasPositions: boolean;
  readonly hasPlaceNorm: boolean;
}

function specOf(config: Config): Spec {
  config.only("relative_attention", true);
  config.only("conv_kernel_size", 0);
  config.raw("legacy");
  const hidden = config.size("hidden_size");
  config.only("embedding_size", hidden);
  const kinds = config.raw("pos_att_type");
  const list = Array.isArray(kinds) ? kinds : String(kinds ?? "").split("|");
  const other = list.find((kind) => !["p2c", "c2p"].includes(String(kind)));
  if (other !== undefined) config.refuse("pos_att_type", kinds, [["p2c", "c2p"]]);
  const positions = config.size("max_position_embeddings", 512);
  const given = config.whole("max_relative_positions", -1);
  const farthest = given < 1 ? positions : given;
  const buckets = config.whole("position_buckets", -1);
  const norm = config.text("norm_rel_ebd", "none");
  if (!["none", "layer_norm"].includes(norm)) {
    config.refuse("norm_rel_ebd", norm, ["none", "layer_norm"]);
  }
  const dropped = config.share("hidden_dropout_prob", 0.1);
  return {
    vocabulary: config.size("vocab_size"),
    positions,
    types: config.whole("type_vocab_size", 0),
    hidden,
    intermediate: config.size("intermediate_size"),
    layers: config.size("num_hidden_layers"),
    heads: config.size("num_attention_heads"),
    paddingIdx: config.whole("pad_token_id", 0),
    eps: config.number("layer_norm_eps", 1e-7),
    activation: activationOf(config, "hidden_act", "gelu"),
    span: buckets > 0 ? buckets : farthest,
    buckets: buckets > 0 ? buckets : null,
    farthest,
    hasTokenToPlace: list.includes("c2p"),
    hasPlaceToToken: list.includes("p2c"),
    isShared: config.flag("share_att_key", false),
    hasPositions: config.flag("position_biased_input", true),
    hasPlaceNorm: norm === "layer_norm",
    dropout: {
      attention: config.share("attention_probs_dropout_prob", 0.1),
      hidden: dropped,
      classifier: config.share("cls_dropout", dropped),
    },
  };
}

// Short distances have their own buckets, and longer ones share them by their logarithm.
function bucketOf(distance: number, { buckets, farthest }: Spec): number {
  const middle = buckets === null ? 0 : Math.floor(buckets / 2);
  const away = Math.abs(distance);
  if (buckets === null || away <= middle) return distance;
  const share = Math.log(away / middle) / Math.log((farthest - 1) / middle);
  return Math.sign(distance) * (Math.ceil(Math.fround(share * (middle - 1))) + middle);
}

/** The distances of one call: the row of the table for each pair of tokens, [tokens, tokens], and the table. */
interface Places {
  readonly rows: eg.Tensor;
  readonly table: eg.Tensor;
}

class SelfAttention extends eg.nn.Module {
  query_proj: Projection;
  key_proj: Projection;
  value_proj: Projection;
  pos_key_proj?: Projection;
  pos_query_proj?: Projection;

  constructor(private readonly spec: Spec) {
    super();
    const { hidden, isShared, hasTokenToPlace, hasPlaceToToken } = spec;
    this.query_proj = new Linear(hidden, hidden);
    this.key_proj = new Linear(hidden, hidden);
    this.value_proj = new Linear(hidden, hidden);
    if (isShared) return;
    if (hasTokenToPlace) this.pos_key_proj = new Linear(hidden, hidden);
    if (hasPlaceToToken) this.pos_query_proj = new Linear(hidden, hidden);
  }

  override forward(x: eg.Tensor, pass: Pass, { rows, table }: Places): eg.Tensor {
    const { heads, hidden, hasTokenToPlace, hasPlaceToToken, dropout } = this.spec;
    const read = (layer: Projection, from: eg.Tensor) => splitHeads(layer.call(from), heads);
    const [q, k, v] = [this.query_proj, this.key_proj, this.value_proj].map((layer) =>
      read(layer, x),
    ) as [eg.Tensor, eg.Tensor, eg.Tensor];
    const kinds = 1 + Number(hasTokenToPlace) + Number(hasPlaceToToken);
    const scale = ((hidden / heads) * kinds) ** -0.5;
    const index = rows.expand([...(q.shape.slice(0, 2) as [number, number]), ...rows.shape]);
    let scores = eg.matmul(q, k.transpose(-2, -1));
    if (hasTokenToPlace) {
      const places = read(this.pos_key_proj ?? this.key_proj, table);
      scores = scores.add(eg.matmul(q, places.transpose(-2, -1)).gather(-1, index));
    }
    if (hasPlaceToToken) {
      const places = read(this.pos_query_proj ?? this.query_proj, table);
      // Row j of the products has the distances of token j: those of each query are a column.
      const products = eg.matmul(k, places.transpose(-2, -1));
      scores = scores.add(products.gather(-1, index.transpose(-2, -1)).transpose(-2, -1));
    }
    const { attnMask } = pass.mask();
    const scaled = scores.mul(scale);
    const weights = eg.softmax(attnMask === null ? scaled : scaled.add(attnMask), -1);
    return joinHeads(eg.matmul(eg.dropout(weights, dropout.attention, this.training), v));
  }
}

class Attention extends eg.nn.Module {
  self: SelfAttention;
  output: Output;

  constructor(spec: Spec) {
    super();
    this.self = new SelfAttention(spec);
    this.output = new Output(spec, spec.hidden);
  }

  override forward(x: eg.Tensor, pass: Pass, places: Places): eg.Tensor {
    return this.output.call(this.self.call(x, pass, places), x);
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

  override forward(x: eg.Tensor, pass: Pass, places: Places): eg.Tensor {
    const attended = this.attention.call(x, pass, places);
    return this.output.call(this.intermediate.call(attended), attended);
  }
}

class Encoder extends eg.nn.Module {
  layer: eg.nn.ModuleList<Layer>;
  rel_embeddings: Embedding;
  LayerNorm?: eg.nn.LayerNorm;

  constructor(private readonly spec: Spec) {
    super();
    const { layers, span, hidden, eps, hasPlaceNorm } = spec;
    this.layer = new eg.nn.ModuleList(Array.from({ length: layers }, () => new Layer(spec)));
    this.rel_embeddings = new Embedding(2 * span, hidden);
    if (hasPlaceNorm) this.LayerNorm = new eg.nn.LayerNorm(hidden, { eps });
  }

  override forward(x: eg.Tensor, pass: Pass, isCheckpointed: boolean): eg.Tensor {
    pass.mask();
    return runBlocks(this.layer, isCheckpointed, x, pass, this.placesOf(pass.keys));
  }

  private placesOf(tokens: number): Places {
    const { span } = this.spec;
    const table = this.rel_embeddings.weight;
    const numbers = Array.from({ length: tokens }, (_, query) =>
      Array.from({ length: tokens }, (_, key) => {
        const place = bucketOf(query - key, this.spec) + span;
        return Math.min(Math.max(place, 0), 2 * span - 1);
      }),
    );
    const rows = eg.tensor(numbers, { dtype: "int64", device: table.device });
    return { rows, table: (this.LayerNorm?.call(table) ?? table).unsqueeze(0) };
  }
}

class Embeddings extends eg.nn.Module {
  word_embeddings: Embedding;
  position_embeddings?: Embedding;
  token_type_embeddings?: Embedding;
  LayerNorm: eg.nn.LayerNorm;

  constructor(private readonly spec: Spec) {
    super();
    const { vocabulary, positions, types, hidden, eps, paddingIdx, hasPositions } = spec;
    this.word_embeddings = new Embedding(vocabulary, hidden, paddingIdx);
    if (hasPositions) this.position_embeddings = new Embedding(positions, hidden);
    if (types > 0) this.token_type_embeddings = new Embedding(types, hidden);
    this.LayerNorm = new eg.nn.LayerNorm(hidden, { eps });
  }

  override forward(
    ids: eg.Tensor,
    pass: Pass,
    { attentionMask, tokenTypeIds }: EncoderOptions,
  ): eg.Tensor {
    const { position_embeddings, token_type_embeddings } = this;
    let sum = this.word_embeddings.call(ids);
    if (position_embeddings) sum = sum.add(position_embeddings.call(pass.positionIds));
    // Most models of this family have none, and ignore the types that tokenizers return.
    if (token_type_embeddings) {
      sum = sum.add(token_type_embeddings.call(tokenTypeIds ?? eg.zerosLike(ids)));
    }
    const read = this.LayerNorm.call(sum);
    const seen = attentionMask ? read.mul(attentionMask.ne(0).to(read.dtype).unsqueeze(2)) : read;
    return eg.dropout(seen, this.spec.dropout.hidden, this.training);
  }
}

/** The layers of DeBERTa. */
class DebertaModel extends PreTrainedModel {
  embeddings: Embeddings;
  encoder: Encoder;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(readonly spec: Spec) {
    super();
    this.embeddings = new Embeddings(spec);
    this.encoder = new Encoder(spec);
  }

  override forward(ids: eg.Tensor, given?: EncoderOptions): FeaturesOutput {
    const where = this.constructor.name;
    const options = encoderOptions(where, ids, given);
    const { hasPositions, positions } = this.spec;
    const like = this.embeddings.word_embeddings.weight;
    const pass = new Pass({ ids, like, isCausal: false, ...options });
    if (hasPositions) checkPositions(where, pass, positions);
    const embedded = this.embeddings.call(ids, pass, options);
    return { lastHiddenState: this.encoder.call(embedded, pass, this.gradientCheckpointing) };
  }
}

/** The vector of a text, from its first token. */
class Pooler extends eg.nn.Module {
  dense: Projection;
  private readonly activation: Activation;
  private readonly share: number;

  constructor(config: Config, { hidden }: Spec) {
    super();
    config.only("pooler_hidden_size", hidden);
    this.activation = activationOf(config, "pooler_hidden_act", "gelu");
    this.share = config.share("pooler_dropout", 0);
    this.dense = new Linear(hidden, hidden);
  }

  override forward(hidden: eg.Tensor): eg.Tensor {
    const dropped = eg.dropout(hidden.select(1, 0), this.share, this.training);
    return this.activation(this.dense.call(dropped));
  }
}

/** DeBERTa that classifies by the first token. */
class DebertaForSequenceClassification extends Classifier {
  deberta: DebertaModel;
  pooler: Pooler;
  classifier: Projection;

  constructor(config: Config) {
    super(labelsOf(config));
    const spec = specOf(config);
    this.deberta = new DebertaModel(spec);
    this.pooler = new Pooler(config, spec);
    this.classifier = new Linear(spec.hidden, this.labels.count);
  }

  override forward(ids: eg.Tensor, given?: TextClassifierOptions): ClassifierOutput {
    const { labels, ...options } = classifierOptions(this.constructor.name, ids, given);
    const { lastHiddenState } = this.deberta.call(ids, options);
    const share = this.deberta.spec.dropout.classifier;
    const pooled = eg.dropout(this.pooler.call(lastHiddenState), share, this.training);
    return this.output(this.classifier.call(pooled), labels);
  }
}

// What only heads read.
function withoutPooler(config: Config): Config {
  for (const key of ["hidden_size", "hidden_act", "dropout"]) config.raw(`pooler_${key}`);
  return config;
}

function headOf(config: Config) {
  const encoder = new DebertaModel(specOf(withoutPooler(config)));
  const { hidden, dropout } = encoder.spec;
  return { name: "deberta", encoder, hidden, dropout: dropout.hidden };
}

/** DeBERTa v2 and v3. */
export const debertaV2: Family = {
  prefix: "deberta",
  heads: /^(?:pooler|classifier|qa_outputs)\./,
  // Heads of pretraining.
  unused: /^(?:cls|lm_predictions|mask_predictions)\./,
  tasks: {
    features: (config) => new DebertaModel(specOf(withoutPooler(config))),
    "sequence classification": (config) => new DebertaForSequenceClassification(config),
    "token classification": (config) => new TokenClassifier(config, headOf(config)),
    "question answering": (config) => new AnswerFinder({ ...headOf(config), dropout: 0 }),
  },
};
