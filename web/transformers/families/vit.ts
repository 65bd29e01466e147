// ViT: a transformer on the sequence of an image's patches.

import * as eg from "edgegrad";
import { type Activation, activationOf } from "../blocks/activations.js";
import { Dense, ImageAttention } from "../blocks/image_attention.js";
import { LayerStack } from "../blocks/layer_stack.js";
import { Linear, type Projection, unloaded } from "../blocks/linear.js";
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
  readonly intermediate: number;
  readonly layers: number;
  readonly heads: number;
  readonly eps: number;
  readonly hasBias: boolean;
  readonly activation: Activation;
  readonly poolerSize: number;
  readonly poolerActivation: Activation;
  readonly dropout: { readonly attention: number; readonly hidden: number };
}

function specOf(config: Config): Spec {
  // Only image reconstruction uses it.
  config.raw("encoder_stride");
  const hidden = config.size("hidden_size", 768);
  return {
    image: config.size("image_size", 224),
    patch: config.size("patch_size", 16),
    channels: config.size("num_channels", 3),
    hidden,
    intermediate: config.size("intermediate_size", 3072),
    layers: config.size("num_hidden_layers", 12),
    heads: config.size("num_attention_heads", 12),
    eps: config.number("layer_norm_eps", 1e-12),
    hasBias: config.flag("qkv_bias", true),
    activation: activationOf(config, "hidden_act", "gelu"),
    poolerSize: config.size("pooler_output_size", hidden),
    poolerActivation: activationOf(config, "pooler_act", "tanh"),
    dropout: {
      attention: config.share("attention_probs_dropout_prob", 0),
      hidden: config.share("hidden_dropout_prob", 0),
    },
  };
}

class PatchEmbeddings extends eg.nn.Module {
  projection: PatchConv;

  constructor({ channels, hidden, patch, image }: Spec) {
    super();
    this.projection = new PatchConv({ channels, hidden, patch, image, bias: true });
  }

  override forward(pixels: eg.Tensor): eg.Tensor {
    return this.projection.call(pixels).flatten(2).transpose(1, 2);
  }
}

class Embeddings extends eg.nn.Module {
  cls_token: eg.nn.Parameter;
  position_embeddings: eg.nn.Parameter;
  patch_embeddings: PatchEmbeddings;

  constructor(private readonly spec: Spec) {
    super();
    const { image, patch, hidden } = spec;
    this.cls_token = unloaded(1, 1, hidden);
    this.position_embeddings = unloaded(1, Math.floor(image / patch) ** 2 + 1, hidden);
    this.patch_embeddings = new PatchEmbeddings(spec);
  }

  override forward(pixels: eg.Tensor): eg.Tensor {
    const patches = this.patch_embeddings.call(pixels);
    const [batch, , hidden] = patches.shape as [number, number, number];
    const first = this.cls_token.expand([batch, 1, hidden]);
    const placed = eg.cat([first, patches], 1).add(this.position_embeddings);
    return eg.dropout(placed, this.spec.dropout.hidden, this.training);
  }
}

class Layer extends eg.nn.Module {
  attention: ImageAttention;
  intermediate: Dense;
  output: Dense;
  layernorm_before: eg.nn.LayerNorm;
  layernorm_after: eg.nn.LayerNorm;

  constructor(private readonly spec: Spec) {
    super();
    const { hidden, intermediate, eps } = spec;
    this.attention = new ImageAttention(spec);
    this.intermediate = new Dense(hidden, intermediate);
    this.output = new Dense(intermediate, hidden);
    this.layernorm_before = new eg.nn.LayerNorm(hidden, { eps });
    this.layernorm_after = new eg.nn.LayerNorm(hidden, { eps });
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { activation, dropout } = this.spec;
    const dropped = (part: eg.Tensor) => eg.dropout(part, dropout.hidden, this.training);
    const attended = x.add(dropped(this.attention.call(this.layernorm_before.call(x), pass)));
    const inner = activation(this.intermediate.call(this.layernorm_after.call(attended)));
    return attended.add(dropped(this.output.call(inner)));
  }
}

/** The layers of ViT. */
class ViTModel extends PreTrainedModel {
  embeddings: Embeddings;
  encoder: LayerStack;
  layernorm: eg.nn.LayerNorm;
  pooler: Dense | null;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(
    private readonly spec: Spec,
    hasPooler: boolean,
  ) {
    super();
    this.embeddings = new Embeddings(spec);
    this.encoder = new LayerStack(spec.layers, () => new Layer(spec));
    this.layernorm = new eg.nn.LayerNorm(spec.hidden, { eps: spec.eps });
    this.pooler = hasPooler ? new Dense(spec.hidden, spec.poolerSize) : null;
  }

  override forward(pixels: eg.Tensor, ...rest: []): FeaturesOutput {
    checkPixels(this.constructor.name, pixels);
    checkNothing(this.constructor.name, rest);
    const embedded = this.embeddings.call(pixels);
    const pass = new Pass({ ids: embedded, like: embedded, isCausal: false });
    const hidden = this.encoder.call(embedded, pass, this.gradientCheckpointing);
    const lastHiddenState = this.layernorm.call(hidden);
    if (this.pooler === null) return { lastHiddenState };
    const pooled = this.pooler.call(lastHiddenState.select(1, 0));
    return { lastHiddenState, poolerOutput: this.spec.poolerActivation(pooled) };
  }
}

/** ViT that classifies by the first token. */
class ViTForImageClassification extends Classifier {
  vit: ViTModel;
  classifier: Projection;

  constructor(config: Config) {
    super(labelsOf(config));
    const spec = specOf(config);
    this.vit = new ViTModel(spec, false);
    this.classifier = new Linear(spec.hidden, this.labels.count);
  }

  override forward(pixels: eg.Tensor, given?: ImageOptions): ClassifierOutput {
    const { labels } = imageOptions(this.constructor.name, pixels, given);
    const { lastHiddenState } = this.vit.call(pixels);
    return this.output(this.classifier.call(lastHiddenState.select(1, 0)), labels);
  }
}

/** ViT. */
export const vit: Family = {
  prefix: "vit",
  heads: /^(?:pooler|classifier)\./,
  tasks: {
    features: (config) => new ViTModel(specOf(config), true),
    "image classification": (config) => new ViTForImageClassification(config),
  },
};
