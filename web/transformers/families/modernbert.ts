// ModernBERT: an encoder with rotary positions, gated MLPs, and layers whose tokens see only those near them.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { type Activation, activationOf } from "../blocks/activations.js";
import { attend, joinHeads, splitHeads } from "../blocks/attention.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import { Pass } from "../blocks/pass.js";
import {
  isByLayerType,
  type RotarySpec,
  rotaryOf,
  rotarySpec,
  scalingOf,
} from "../blocks/rotary.js";
import { runBlocks } from "../blocks/run_blocks.js";
import type { Config } from "../config/config.js";
import { labelsOf } from "../config/labels.js";
import { type FeaturesOutput, PreTrainedModel } from "../model.js";
import { Classifier, type ClassifierOutput } from "../tasks/classifier.js";
import {
  classifierOptions,
  type EncoderOptions,
  encoderOptions,
  type TextClassifierOptions,
} from "../tasks/inputs.js";
import { MaskedLanguageModel } from "../tasks/masked.js";
import { TokenClassifier } from "../tasks/token_heads.js";
import type { Family } from "./family.js";
import { type Windows, windowsOf } from "./windows.js";

interface Spec {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly layers: number;
  readonly heads: number;
  readonly paddingIdx: number;
  readonly activation: Activation;
  readonly hasBias: { readonly attention: boolean; readonly mlp: boolean; readonly norm: boolean };
  readonly eps: number;
  /** The number of tokens on each side that a token sees in a layer; null for all. */
  readonly windows: Windows;
  readonly rotary: { readonly global: RotarySpec; readonly local: RotarySpec };
  readonly dropout: {
    readonly attention: number;
    readonly embedding: number;
    readonly mlp: number;
  };
}

function specOf(config: Config): Spec {
  // How the work is done, not what is computed.
  for (const key of [
    "reference_compile",
    "repad_logits_with_grad",
    "deterministic_flash_attn",
    "sparse_prediction",
    "sparse_pred_ignore_index",
    "initializer_cutoff_factor",
    "layer_norm_eps",
  ]) {
    config.raw(key);
  }
  const hidden = config.size("hidden_size", 768);
  const heads = config.size("num_attention_heads", 12);
  const layers = config.size("num_hidden_layers", 22);
  const every = config.size("global_attn_every_n_layers", 3);
  const half = Math.floor(config.size("local_attention", 128) / 2);
  const rotary = (type: string, key: string, fallback: number) => {
    const scaling = isByLayerType(config) ? scalingOf(config, type) : null;
    return rotarySpec({
      size: hidden / heads,
      base: config.number(key, scaling?.number("rope_theta", fallback) ?? fallback),
      scaling,
      trained: config.size("max_position_embeddings", 8192),
    });
  };
  return {
    vocabulary: config.size("vocab_size", 50368),
    hidden,
    intermediate: config.size("intermediate_size", 1152),
    layers,
    heads,
    paddingIdx: config.whole("pad_token_id", 50283),
    activation: activationOf(config, "hidden_activation", "gelu"),
    hasBias: {
      attention: config.flag("attention_bias", false),
      mlp: config.flag("mlp_bias", false),
      norm: config.flag("norm_bias", false),
    },
    eps: config.number("norm_eps", 1e-5),
    windows: windowsOf(config, layers, half, (i) => i % every !== 0),
    rotary: {
      global: rotary("full_attention", "global_rope_theta", 160000),
      local: rotary("sliding_attention", "local_rope_theta", 10000),
    },
    dropout: {
      attention: config.share("attention_dropout", 0),
      embedding: config.share("embedding_dropout", 0),
      mlp: config.share("mlp_dropout", 0),
    },
  };
}

const normOf = ({ hidden, eps, hasBias }: Spec) =>
  new eg.nn.LayerNorm(hidden, { eps, bias: hasBias.norm });

class Embeddings extends eg.nn.Module {
  tok_embeddings: Embedding;
  norm: eg.nn.LayerNorm;

  constructor(private readonly spec: Spec) {
    super();
    this.tok_embeddings = new Embedding(spec.vocabulary, spec.hidden, spec.paddingIdx);
    this.norm = normOf(spec);
  }

  override forward(ids: eg.Tensor): eg.Tensor {
    const read = this.norm.call(this.tok_embeddings.call(ids));
    return eg.dropout(read, this.spec.dropout.embedding, this.training);
  }
}

class Attention extends eg.nn.Module {
  Wqkv: Projection;
  Wo: Projection;

  constructor(
    private readonly spec: Spec,
    private readonly index: number,
  ) {
    super();
    const { hidden, hasBias } = spec;
    this.Wqkv = new Linear(hidden, 3 * hidden, hasBias.attention);
    this.Wo = new Linear(hidden, hidden, hasBias.attention);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { heads, hidden, windows, rotary, dropout } = this.spec;
    const window = windows[this.index] ?? null;
    const turn = rotaryOf(window === null ? rotary.global : rotary.local, pass);
    const [q, k, v] = this.Wqkv.call(x)
      .chunk(3, -1)
      .map((part) => splitHeads(part, heads)) as [eg.Tensor, eg.Tensor, eg.Tensor];
    const attended = attend(turn(q), turn(k), v, {
      pass,
      layer: null,
      scale: (hidden / heads) ** -0.5,
      window,
      dropout: this.training ? dropout.attention : 0,
    });
    return eg.dropout(this.Wo.call(joinHeads(attended)), dropout.attention, this.training);
  }
}

class MLP extends eg.nn.Module {
  Wi: Projection;
  Wo: Projection;

  constructor(private readonly spec: Spec) {
    super();
    const { hidden, intermediate, hasBias } = spec;
    this.Wi = new Linear(hidden, 2 * intermediate, hasBias.mlp);
    this.Wo = new Linear(intermediate, hidden, hasBias.mlp);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const { activation, dropout } = this.spec;
    const [inner, gate] = this.Wi.call(x).chunk(2, -1) as [eg.Tensor, eg.Tensor];
    return this.Wo.call(eg.dropout(activation(inner).mul(gate), dropout.mlp, this.training));
  }
}

class Layer extends eg.nn.Module {
  attn_norm?: eg.nn.LayerNorm;
  attn: Attention;
  mlp_norm: eg.nn.LayerNorm;
  mlp: MLP;

  constructor(spec: Spec, index: number) {
    super();
    // The embeddings are normalized already.
    if (index > 0) this.attn_norm = normOf(spec);
    this.attn = new Attention(spec, index);
    this.mlp_norm = normOf(spec);
    this.mlp = new MLP(spec);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const attended = x.add(this.attn.call(this.attn_norm?.call(x) ?? x, pass));
    return attended.add(this.mlp.call(this.mlp_norm.call(attended)));
  }
}

/** The layers of ModernBERT. */
class ModernBertModel extends PreTrainedModel {
  embeddings: Embeddings;
  layers: eg.nn.ModuleList<Layer>;
  final_norm: eg.nn.LayerNorm;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(readonly spec: Spec) {
    super();
    this.embeddings = new Embeddings(spec);
    this.layers = new eg.nn.ModuleList(
      Array.from({ length: spec.layers }, (_, i) => new Layer(spec, i)),
    );
    this.final_norm = normOf(spec);
  }

  override forward(ids: eg.Tensor, given?: EncoderOptions): FeaturesOutput {
    const where = this.constructor.name;
    const options = encoderOptions(where, ids, given);
    if (options.tokenTypeIds) {
      fail("InvalidArgument", where, "this family has no token types: omit tokenTypeIds.");
    }
    const { windows, rotary } = this.spec;
    const embedded = this.embeddings.call(ids);
    const pass = new Pass({ ids, like: embedded, isCausal: false, ...options });
    for (const window of windows) pass.mask(window);
    for (const spec of Object.values(rotary)) rotaryOf(spec, pass);
    const hidden = runBlocks(this.layers, this.gradientCheckpointing, embedded, pass);
    return { lastHiddenState: this.final_norm.call(hidden) };
  }
}

/** The layer before the scores of heads. */
class PredictionHead extends eg.nn.Module {
  dense: Projection;
  norm: eg.nn.LayerNorm;
  private readonly activation: Activation;

  constructor(config: Config, spec: Spec) {
    super();
    this.activation = activationOf(config, "classifier_activation", "gelu");
    this.dense = new Linear(spec.hidden, spec.hidden, config.flag("classifier_bias", false));
    this.norm = normOf(spec);
  }

  override forward(hidden: eg.Tensor): eg.Tensor {
    return this.norm.call(this.activation(this.dense.call(hidden)));
  }
}

/** ModernBERT that predicts masked tokens. */
class ModernBertForMaskedLM extends MaskedLanguageModel {
  model: ModernBertModel;
  head: PredictionHead;
  decoder: Linear;

  constructor(config: Config) {
    super();
    const spec = specOf(config);
    this.model = new ModernBertModel(spec);
    this.head = new PredictionHead(config, spec);
    const hasBias = config.flag("decoder_bias", true);
    this.decoder = new Linear(spec.hidden, spec.vocabulary, hasBias);
    if (!config.flag("tie_word_embeddings", true)) return;
    this.decoder.weight = this.model.embeddings.tok_embeddings.weight;
    this.tieHead("decoder.weight", "model.embeddings.tok_embeddings.weight");
  }

  protected override get encoder(): ModernBertModel {
    return this.model;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    return this.decoder.call(this.head.call(hidden));
  }
}

/** ModernBERT that classifies by the first token, or by the mean of all tokens. */
class ModernBertForSequenceClassification extends Classifier {
  model: ModernBertModel;
  head: PredictionHead;
  classifier: Projection;
  private readonly dropout: number;
  private readonly pooling: "cls" | "mean";

  constructor(config: Config) {
    super(labelsOf(config));
    const spec = specOf(config);
    this.model = new ModernBertModel(spec);
    this.head = new PredictionHead(config, spec);
    this.classifier = new Linear(spec.hidden, this.labels.count);
    this.dropout = config.share("classifier_dropout", 0);
    this.pooling = config.choice("classifier_pooling", ["cls", "mean"], "cls");
  }

  override forward(ids: eg.Tensor, given?: TextClassifierOptions): ClassifierOutput {
    const { labels, ...options } = classifierOptions(this.constructor.name, ids, given);
    const { lastHiddenState } = this.model.call(ids, options);
    const read = this.head.call(this.pooled(lastHiddenState, options.attentionMask ?? null));
    const dropped = eg.dropout(read, this.dropout, this.training);
    return this.output(this.classifier.call(dropped), labels);
  }

  private pooled(hidden: eg.Tensor, attentionMask: eg.Tensor | null): eg.Tensor {
    if (this.pooling === "cls") return hidden.select(1, 0);
    if (attentionMask === null) return hidden.mean(1);
    const mask = attentionMask.ne(0).to(hidden.dtype).unsqueeze(-1);
    return hidden.mul(mask).sum(1).div(mask.sum(1));
  }
}

function headOf(config: Config) {
  const encoder = new ModernBertModel(specOf(config));
  config.raw("classifier_pooling");
  const before = new PredictionHead(config, encoder.spec);
  const dropout = config.share("classifier_dropout", 0);
  return { name: "model", encoder, hidden: encoder.spec.hidden, dropout, before };
}

// What only heads read.
function withoutHead(config: Config): Config {
  for (const key of ["activation", "bias", "dropout", "pooling"]) config.raw(`classifier_${key}`);
  config.raw("decoder_bias");
  return config;
}

/** ModernBERT. */
export const modernbert: Family = {
  prefix: "model",
  heads: /^(?:head|classifier|decoder)\./,
  tasks: {
    features: (config) => new ModernBertModel(specOf(withoutHead(config))),
    "masked language modeling": (config) => new ModernBertForMaskedLM(withoutHead(config)),
    "sequence classification": (config) =>
      new ModernBertForSequenceClassification(withoutHead(config)),
    "token classification": (config) => new TokenClassifier(withoutHead(config), headOf(config)),
  },
};
