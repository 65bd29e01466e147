// DINOv2: ViT whose layers scale, by learned factors, what they add. Images may have any size.

import * as eg from "edgegrad";
import { type Activation, activationOf } from "../blocks/activations.js";
import { ImageAttention } from "../blocks/image_attention.js";
import { LayerStack } from "../blocks/layer_stack.js";
import { Linear, type Projection, unloaded } from "../blocks/linear.js";
import { MLP } from "../blocks/mlp.js";
import { Pass } from "../blocks/pass.js";
import { PatchConv } from "../blocks/patches.js";
import type { Config } from "../config/config.js";
import { labelsOf } from "../config/labels.js";
import { type FeaturesOutput, PreTrainedModel } from "../model.js";
import { Classifier, type ClassifierOutput } from "../tasks/classifier.js";
import { checkNothing, checkPixels, type ImageOptions, imageOptions } from "../tasks/inputs.js";
import type { Family } from "./family.js";

interface Spec {
  readonly image: number;
  readonly patch: number;
  readonly channels: number;
  readonly hidden: number;
  readonly inner: number;
  readonly layers: number;
  readonly heads: number;
  readonly eps: number;
  readonly hasBias: boolean;
  readonly hasMaskToken: boolean;
  readonly isGated: boolean;
  readonly activation: Activation;
  readonly dropout: { readonly attention: number; readonly hidden: number };
}

function specOf(config: Config): Spec {
  // Of models that are parts of others.
  for (const key of ["out_features", "out_indices", "stage_names", "reshape_hidden_states"]) {
    config.raw(key);
  }
  config.only("apply_layernorm", true);
  config.only("drop_path_rate", 0);
  config.raw("layerscale_value");
  const hidden = config.size("hidden_size", 768);
  const inner = Math.floor(hidden * config.number("mlp_ratio", 4));
  const isGated = config.flag("use_swiglu_ffn", false);
  return {
    image: config.size("image_size", 224),
    patch: config.size("patch_size", 14),
    channels: config.size("num_channels", 3),
    hidden,
    // Two thirds, in multiples of eight.
    inner: isGated ? Math.floor((Math.floor((inner * 2) / 3) + 7) / 8) * 8 : inner,
    layers: config.size("num_hidden_layers", 12),
    heads: config.size("num_attention_heads", 12),
    eps: config.number("layer_norm_eps", 1e-6),
    hasBias: config.flag("qkv_bias", true),
    hasMaskToken: config.flag("use_mask_token", true),
    isGated,
    activation: activationOf(config, "hidden_act", "gelu"),
    dropout: {
      attention: config.share("attention_probs_dropout_prob", 0),
      hidden: config.share("hidden_dropout_prob", 0),
    },
  };
}

class PatchEmbeddings extends eg.nn.Module {
  projection: PatchConv;

  constructor({ channels, hidden, patch }: Spec) {
    super();
    this.projection = new PatchConv({ channels, hidden, patch, image: null, bias: true });
  }

  /** Returns the patches: [batch, size, rows, columns]. */
  override forward(pixels: eg.Tensor): eg.Tensor {
    return this.projection.call(pixels);
  }
}

class Embeddings extends eg.nn.Module {
  cls_token: eg.nn.Parameter;
  /** Stands for hidden patches in pretraining; files have it. */
  mask_token?: eg.nn.Parameter;
  position_embeddings: eg.nn.Parameter;
  patch_embeddings: PatchEmbeddings;
  private readonly side: number;

  constructor(private readonly spec: Spec) {
    super();
    const { image, patch, hidden } = spec;
    this.side = Math.floor(image / patch);
    this.cls_token = unloaded(1, 1, hidden);
    if (spec.hasMaskToken) this.mask_token = unloaded(1, hidden);
    this.position_embeddings = unloaded(1, this.side ** 2 + 1, hidden);
    this.patch_embeddings = new PatchEmbeddings(spec);
  }

  override forward(pixels: eg.Tensor): eg.Tensor {
    const patches = this.patch_embeddings.call(pixels);
    const [batch, hidden, rows, columns] = patches.shape as [number, number, number, number];
    const first = this.cls_token.expand([batch, 1, hidden]);
    const all = eg.cat([first, patches.flatten(2).transpose(1, 2)], 1);
    const placed = all.add(this.placesOf(rows, columns));
    return eg.dropout(placed, this.spec.dropout.hidden, this.training);
  }

  // Images of other sizes have positions between those that were learned.
  private placesOf(rows: number, columns: number): eg.Tensor {
    const { side } = this;
    const { hidden } = this.spec;
    const table = this.position_embeddings;
    if (rows === side && columns === side) return table;
    const grid = table
      .narrow(1, 1, side ** 2)
      .float()
      .reshape([1, side, side, hidden])
      .permute([0, 3, 1, 2]);
    const between = eg.interpolate(grid, { size: [rows, columns], mode: "bicubic" });
    const places = between.flatten(2).transpose(1, 2).to(table.dtype);
    return eg.cat([table.narrow(1, 0, 1), places], 1);
  }
}

/** Multiplies each feature by a learned number. */
class LayerScale extends eg.nn.Module {
  lambda1: eg.nn.Parameter;

  constructor(hidden: number) {
    super();
    this.lambda1 = unloaded(hidden);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    return x.mul(this.lambda1);
  }
}

class GatedMLP extends eg.nn.Module {
  weights_in: Projection;
  weights_out: Projection;

  constructor({ hidden, inner }: Spec) {
    super();
    this.weights_in = new Linear(hidden, 2 * inner);
    this.weights_out = new Linear(inner, hidden);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const [gate, up] = this.weights_in.call(x).chunk(2, -1) as [eg.Tensor, eg.Tensor];
    return this.weights_out.call(eg.silu(gate).mul(up));
  }
}

class Layer extends eg.nn.Module {
  norm1: eg.nn.LayerNorm;
  attention: ImageAttention;
  layer_scale1: LayerScale;
  norm2: eg.nn.LayerNorm;
  mlp: MLP | GatedMLP;
  layer_scale2: LayerScale;

  constructor(spec: Spec) {
    super();
    const { hidden, eps, isGated } = spec;
    this.norm1 = new eg.nn.LayerNorm(hidden, { eps });
    this.attention = new ImageAttention(spec);
    this.layer_scale1 = new LayerScale(hidden);
    this.norm2 = new eg.nn.LayerNorm(hidden, { eps });
    this.mlp = isGated ? new GatedMLP(spec) : new MLP(hidden, spec.inner, spec.activation);
    this.layer_scale2 = new LayerScale(hidden);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const read = this.attention.call(this.norm1.call(x), pass);
    const attended = x.add(this.layer_scale1.call(read));
    return attended.add(this.layer_scale2.call(this.mlp.call(this.norm2.call(attended))));
  }
}

/** The layers of DINOv2. */
class Dinov2Model extends PreTrainedModel {
  embeddings: Embeddings;
  encoder: LayerStack;
  layernorm: eg.nn.LayerNorm;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(readonly spec: Spec) {
    super();
    this.embeddings = new Embeddings(spec);
    this.encoder = new LayerStack(spec.layers, () => new Layer(spec));
    this.layernorm = new eg.nn.LayerNorm(spec.hidden, { eps: spec.eps });
  }

  override forward(pixels: eg.Tensor, ...rest: []): FeaturesOutput {
    checkPixels(this.constructor.name, pixels);
    checkNothing(this.constructor.name, rest);
    const embedded = this.embeddings.call(pixels);
    const pass = new Pass({ ids: embedded, like: embedded, isCausal: false });
    const hidden = this.encoder.call(embedded, pass, this.gradientCheckpointing);
    const lastHiddenState = this.layernorm.call(hidden);
    return { lastHiddenState, poolerOutput: lastHiddenState.select(1, 0) };
  }
}

/** DINOv2 that classifies by the first token and the mean of the others. */
class Dinov2ForImageClassification extends Classifier {
  dinov2: Dinov2Model;
  classifier: Projection;

  constructor(config: Config) {
    super(labelsOf(config));
    const spec = specOf(config);
    this.dinov2 = new Dinov2Model(spec);
    this.classifier = new Linear(2 * spec.hidden, this.labels.count);
  }

  override forward(pixels: eg.Tensor, given?: ImageOptions): ClassifierOutput {
    const { labels } = imageOptions(this.constructor.name, pixels, given);
    const { lastHiddenState } = this.dinov2.call(pixels);
    const patches = (lastHiddenState.shape[1] as number) - 1;
    const mean = lastHiddenState.narrow(1, 1, patches).mean(1);
    const read = eg.cat([lastHiddenState.select(1, 0), mean], 1);
    return this.output(this.classifier.call(read), labels);
  }
}

/** DINOv2. */
export const dinov2: Family = {
  prefix: "dinov2",
  heads: /^classifier\./,
  tasks: {
    features: (config) => new Dinov2Model(specOf(config)),
    "image classification": (config) => new Dinov2ForImageClassification(config),
  },
};
