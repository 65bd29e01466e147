// wav2vec 2.0: speech as samples, read by convolutions and a transformer, with a character for each moment.

import * as eg from "edgegrad";
import { type Activation, activationOf } from "../blocks/activations.js";
import { Linear, type Projection, unloaded } from "../blocks/linear.js";
import { Pass } from "../blocks/pass.js";
import { ProjectedAttention } from "../blocks/projected_attention.js";
import { runBlocks } from "../blocks/run_blocks.js";
import type { Config } from "../config/config.js";
import { drawSpans, type SpanSettings, spanSettings } from "../speech/spans.js";
import { CtcModel, type CtcSettings, type Moments } from "../tasks/ctc.js";
import type { Family } from "./family.js";

interface Spec {
  readonly hidden: number;
  readonly inner: number;
  readonly layers: number;
  readonly heads: number;
  readonly eps: number;
  readonly convs: readonly {
    readonly size: number;
    readonly kernel: number;
    readonly stride: number;
  }[];
  readonly hasConvBias: boolean;
  /** Whether the first convolution is normalized over time, or all of them over their features. */
  readonly convNorm: "group" | "layer";
  readonly convActivation: Activation;
  readonly placeKernel: number;
  readonly placeGroups: number;
  readonly activation: Activation;
  /** Whether layers normalize what they read instead of what they return. */
  readonly isNormFirst: boolean;
  /** The spans that training hides; null for none. */
  readonly spans: { readonly time: SpanSettings; readonly feature: SpanSettings } | null;
  readonly hasMaskVector: boolean;
  readonly dropout: {
    /** The chance that training leaves out a layer. */
    readonly layer: number;
    readonly attention: number;
    readonly activation: number;
    readonly hidden: number;
    readonly projection: number;
    readonly final: number;
  };
}

// Of pretraining and of other heads.
const kOthers =
  /^(?:codevector|proj_codevector|num_codevector|num_negatives|contrastive_|diversity_|feat_quantizer|classifier_proj|tdnn_|xvector_|adapter_|num_adapter|output_hidden_size|feat_extract_dropout|hidden_dropout_prob|mask_channel)/;

function specOf(config: Config): Spec {
  for (const key of config.keys) if (kOthers.test(key)) config.raw(key);
  config.only("add_adapter", false);
  config.only("use_weighted_layer_sum", false);
  const count = config.size("num_feat_extract_layers", 7);
  const list = (key: string, fallback: readonly number[]) =>
    config.wholesOrNull(key, count) ?? fallback;
  const sizes = list("conv_dim", new Array(7).fill(512));
  const kernels = list("conv_kernel", [10, 3, 3, 3, 3, 2, 2]);
  const strides = list("conv_stride", [5, 2, 2, 2, 2, 2, 2]);
  const time = spanSettings(config, "time", 0.05, 2);
  const feature = spanSettings(config, "feature", 0, 0);
  return {
    hidden: config.size("hidden_size", 768),
    inner: config.size("intermediate_size", 3072),
    layers: config.size("num_hidden_layers", 12),
    heads: config.size("num_attention_heads", 12),
    eps: config.number("layer_norm_eps", 1e-5),
    convs: sizes.map((size, i) => ({
      size,
      kernel: kernels[i] as number,
      stride: strides[i] as number,
    })),
    hasConvBias: config.flag("conv_bias", false),
    convNorm: config.choice("feat_extract_norm", ["group", "layer"], "group"),
    convActivation: activationOf(config, "feat_extract_activation", "gelu"),
    placeKernel: config.size("num_conv_pos_embeddings", 128),
    placeGroups: config.size("num_conv_pos_embedding_groups", 16),
    activation: activationOf(config, "hidden_act", "gelu"),
    isNormFirst: config.flag("do_stable_layer_norm", false),
    spans: config.flag("apply_spec_augment", true) ? { time, feature } : null,
    hasMaskVector: time.share > 0 || feature.share > 0,
    dropout: {
      layer: config.share("layerdrop", 0.1),
      attention: config.share("attention_dropout", 0.1),
      activation: config.share("activation_dropout", 0.1),
      hidden: config.share("hidden_dropout", 0.1),
      projection: config.share("feat_proj_dropout", 0),
      final: config.share("final_dropout", 0.1),
    },
  };
}

/** A convolution over time with its norm. */
class ConvLayer extends eg.nn.Module {
  conv: eg.nn.Conv1d;
  layer_norm?: eg.nn.LayerNorm | eg.nn.GroupNorm;

  constructor(
    private readonly spec: Spec,
    index: number,
  ) {
    super();
    const { convs, hasConvBias, convNorm } = spec;
    const { size, kernel, stride } = convs[index] as Spec["convs"][number];
    const before = convs[index - 1]?.size ?? 1;
    this.conv = new eg.nn.Conv1d(before, size, kernel, { stride, bias: hasConvBias });
    if (convNorm === "layer") this.layer_norm = new eg.nn.LayerNorm(size);
    else if (index === 0) this.layer_norm = new eg.nn.GroupNorm(size, size);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const read = this.conv.call(x);
    const { layer_norm: norm } = this;
    if (norm === undefined) return this.spec.convActivation(read);
    const isLayer = norm instanceof eg.nn.LayerNorm;
    const normed = isLayer ? norm.call(read.transpose(1, 2)).transpose(1, 2) : norm.call(read);
    return this.spec.convActivation(normed);
  }
}

class FeatureExtractor extends eg.nn.Module {
  conv_layers: eg.nn.ModuleList<ConvLayer>;

  constructor(spec: Spec) {
    super();
    this.conv_layers = new eg.nn.ModuleList(spec.convs.map((_, i) => new ConvLayer(spec, i)));
  }

  /** Returns the features of each moment: [batch, moments, size]. */
  override forward(samples: eg.Tensor): eg.Tensor {
    let x = samples.unsqueeze(1);
    for (const layer of this.conv_layers) x = layer.call(x);
    return x.transpose(1, 2);
  }
}

class FeatureProjection extends eg.nn.Module {
  layer_norm: eg.nn.LayerNorm;
  projection: Projection;

  constructor(private readonly spec: Spec) {
    super();
    const { convs, hidden, eps } = spec;
    const size = convs.at(-1)?.size ?? hidden;
    this.layer_norm = new eg.nn.LayerNorm(size, { eps });
    this.projection = new Linear(size, hidden);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const read = this.projection.call(this.layer_norm.call(x));
    return eg.dropout(read, this.spec.dropout.projection, this.training);
  }
}

/** A convolution whose kernel is stored as its direction and, for each place, its length. */
class WeightNormConv extends eg.nn.Module {
  weight_g: eg.nn.Parameter;
  weight_v: eg.nn.Parameter;
  bias: eg.nn.Parameter;

  constructor(private readonly spec: Spec) {
    super();
    const { hidden, placeKernel, placeGroups } = spec;
    this.weight_g = unloaded(1, 1, placeKernel);
    this.weight_v = unloaded(hidden, hidden / placeGroups, placeKernel);
    this.bias = unloaded(hidden);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const { placeKernel, placeGroups: groups } = this.spec;
    const length = eg.linalg.vectorNorm(this.weight_v, { dim: [0, 1], keepdim: true });
    const weight = this.weight_v.mul(this.weight_g.div(length));
    const padding = Math.floor(placeKernel / 2);
    return eg.nn.functional.conv1d(x, weight, this.bias, { padding, groups });
  }
}

class PositionalConv extends eg.nn.Module {
  conv: WeightNormConv;

  constructor(private readonly spec: Spec) {
    super();
    this.conv = new WeightNormConv(spec);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    // A kernel of an even width gives one moment too many.
    const read = this.conv.call(x.transpose(1, 2)).narrow(2, 0, x.shape[1] as number);
    return this.spec.convActivation(read).transpose(1, 2);
  }
}

class FeedForward extends eg.nn.Module {
  intermediate_dense: Projection;
  output_dense: Projection;

  constructor(private readonly spec: Spec) {
    super();
    this.intermediate_dense = new Linear(spec.hidden, spec.inner);
    this.output_dense = new Linear(spec.inner, spec.hidden);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const { activation, dropout } = this.spec;
    const inner = activation(this.intermediate_dense.call(x));
    const read = this.output_dense.call(eg.dropout(inner, dropout.activation, this.training));
    return eg.dropout(read, dropout.hidden, this.training);
  }
}

class Layer extends eg.nn.Module {
  attention: ProjectedAttention;
  layer_norm: eg.nn.LayerNorm;
  feed_forward: FeedForward;
  final_layer_norm: eg.nn.LayerNorm;

  constructor(
    private readonly spec: Spec,
    index: number,
  ) {
    super();
    const { hidden, heads, eps, dropout } = spec;
    const sizes = { hidden, heads, hasKeyBias: true, dropout: dropout.attention, index };
    this.attention = new ProjectedAttention(sizes);
    this.layer_norm = new eg.nn.LayerNorm(hidden, { eps });
    this.feed_forward = new FeedForward(spec);
    this.final_layer_norm = new eg.nn.LayerNorm(hidden, { eps });
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { isNormFirst, dropout } = this.spec;
    const attend = (read: eg.Tensor) =>
      eg.dropout(this.attention.call(read, pass), dropout.hidden, this.training);
    if (isNormFirst) {
      const attended = x.add(attend(this.layer_norm.call(x)));
      return attended.add(this.feed_forward.call(this.final_layer_norm.call(attended)));
    }
    const attended = this.layer_norm.call(x.add(attend(x)));
    return this.final_layer_norm.call(attended.add(this.feed_forward.call(attended)));
  }
}

class Encoder extends eg.nn.Module {
  pos_conv_embed: PositionalConv;
  layer_norm: eg.nn.LayerNorm;
  layers: eg.nn.ModuleList<Layer>;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(private readonly spec: Spec) {
    super();
    const { hidden, eps, layers } = spec;
    this.pos_conv_embed = new PositionalConv(spec);
    this.layer_norm = new eg.nn.LayerNorm(hidden, { eps });
    this.layers = new eg.nn.ModuleList(
      Array.from({ length: layers }, (_, i) => new Layer(spec, i)),
    );
  }

  override forward(x: eg.Tensor, attentionMask: eg.Tensor | null): eg.Tensor {
    const { isNormFirst, dropout } = this.spec;
    const seen = attentionMask === null ? x : x.mul(attentionMask.to(x.dtype).unsqueeze(2));
    const pass = new Pass({ ids: x, like: x, isCausal: false, attentionMask });
    pass.mask();
    const placed = seen.add(this.pos_conv_embed.call(seen));
    const first = isNormFirst ? placed : this.layer_norm.call(placed);
    const dropped = eg.dropout(first, dropout.hidden, this.training);
    const layers = this.layersToRun();
    const read = runBlocks(layers, this.gradientCheckpointing, dropped, pass);
    return isNormFirst ? this.layer_norm.call(read) : read;
  }

  /** The layers that a call runs: training leaves out some. */
  private *layersToRun(): Iterable<Layer> {
    const { layer: chance } = this.spec.dropout;
    for (const layer of this.layers) {
      const isOut = this.training && eg.scope(() => eg.rand([]).item()) < chance;
      if (!isOut) yield layer;
    }
  }
}

class Wav2Vec2Model extends eg.nn.Module {
  /** Stands for moments that are hidden in pretraining; files have it. */
  masked_spec_embed?: eg.nn.Parameter;
  feature_extractor: FeatureExtractor;
  feature_projection: FeatureProjection;
  encoder: Encoder;

  constructor(readonly spec: Spec) {
    super();
    if (spec.hasMaskVector) this.masked_spec_embed = unloaded(spec.hidden);
    this.feature_extractor = new FeatureExtractor(spec);
    this.feature_projection = new FeatureProjection(spec);
    this.encoder = new Encoder(spec);
  }

  override forward(
    samples: eg.Tensor,
    attentionMask: eg.Tensor | null,
  ): [states: eg.Tensor, moments: Moments] {
    const features = this.feature_extractor.call(samples);
    const [batch, count] = features.shape as [number, number, number];
    const projected = this.feature_projection.call(features);
    if (attentionMask === null) {
      const whole = new Array<number>(batch).fill(count);
      return [this.encoder.call(this.hide(projected, whole), null), whole];
    }
    let moments = attentionMask.ne(0).sum(-1);
    for (const { kernel, stride } of this.spec.convs) {
      moments = moments.sub(kernel).div(stride, { roundingMode: "floor" }).add(1);
    }
    const places = eg.arange(count, { dtype: "int64", device: samples.device });
    const seen = this.hide(projected, moments);
    return [this.encoder.call(seen, places.lt(moments.unsqueeze(1))), moments];
  }

  /** Puts the vector for hidden moments, and zeros for hidden features, into what training reads. */
  private hide(x: eg.Tensor, moments: Moments): eg.Tensor {
    const { spans } = this.spec;
    const { masked_spec_embed: vector } = this;
    if (!this.training || spans === null || vector === undefined) return x;
    const [batch, count, size] = x.shape as [number, number, number];
    const where = this.constructor.name;
    let seen = x;
    if (spans.time.share > 0) {
      const lengths = moments instanceof eg.Tensor ? moments.arraySync() : moments;
      const hidden = drawSpans(where, count, lengths as number[], spans.time).to(x.device);
      seen = eg.where(hidden.unsqueeze(2), vector.to(x.dtype), seen);
    }
    if (spans.feature.share > 0) {
      const sizes = new Array<number>(batch).fill(size);
      const hidden = drawSpans(where, size, sizes, spans.feature).to(x.device);
      seen = seen.maskedFill(hidden.unsqueeze(1), 0);
    }
    return seen;
  }
}

/** wav2vec 2.0 that writes characters. */
class Wav2Vec2ForCTC extends CtcModel {
  wav2vec2: Wav2Vec2Model;
  lm_head: Projection;
  protected override readonly ctc: CtcSettings;

  constructor(config: Config) {
    super();
    const spec = specOf(config);
    this.ctc = {
      blank: config.whole("pad_token_id", 0),
      isMean: config.choice("ctc_loss_reduction", ["sum", "mean"], "sum") === "mean",
      zeroInfinity: config.flag("ctc_zero_infinity", false),
    };
    this.wav2vec2 = new Wav2Vec2Model(spec);
    this.lm_head = new Linear(spec.hidden, config.size("vocab_size", 32));
  }

  protected override scores(
    samples: eg.Tensor,
    attentionMask: eg.Tensor | null,
  ): [scores: eg.Tensor, moments: Moments] {
    const [states, moments] = this.wav2vec2.call(samples.to(this.dtype), attentionMask);
    const dropped = eg.dropout(states, this.wav2vec2.spec.dropout.final, this.training);
    return [this.lm_head.call(dropped), moments];
  }
}

/** wav2vec 2.0. */
export const wav2vec2: Family = {
  prefix: "wav2vec2",
  heads: /^(?:lm_head\.|wav2vec2\.masked_spec_embed$)/,
  // Of pretraining.
  unused: /^(?:quantizer|project_hid|project_q)\./,
  tasks: { "speech recognition": (config) => new Wav2Vec2ForCTC(config) },
};
