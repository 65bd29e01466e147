// CLIP: a text tower and an image tower, whose vectors are close for texts and images that match.

import * as eg from "edgegrad";
import { type Activation, activationOf } from "../blocks/activations.js";
import { Embedding, Linear, type Projection, unloaded } from "../blocks/linear.js";
import { MLP } from "../blocks/mlp.js";
import { Pass } from "../blocks/pass.js";
import { PatchConv } from "../blocks/patches.js";
import { ProjectedAttention } from "../blocks/projected_attention.js";
import { runBlocks } from "../blocks/run_blocks.js";
import type { Config } from "../config/config.js";
import { PreTrainedModel } from "../model.js";
import { checkOptions, kFlag } from "../options.js";
import { checkIds, checkPixels, checkPositions, kTensor } from "../tasks/inputs.js";
import type { Family } from "./family.js";

/** The sizes of a tower. */
export interface TowerSpec {
  readonly hidden: number;
  readonly intermediate: number;
  readonly layers: number;
  readonly heads: number;
  readonly eps: number;
  readonly activation: Activation;
  readonly dropout: number;
}

/** What config.json says of a tower if it leaves out a key. */
interface TowerDefaults {
  /** The sizes of hidden states and of the MLP, and the number of heads. */
  readonly sizes: readonly [hidden: number, intermediate: number, heads: number];
  readonly eps?: number;
  readonly activation?: string;
}

/** Reads the sizes of a tower. */
export function towerSpec(
  config: Config,
  { sizes, eps = 1e-5, activation = "quick_gelu" }: TowerDefaults,
): TowerSpec {
  // In older files each tower has its own, but that of the model is used.
  config.raw("projection_dim");
  config.only("dropout", 0);
  const [hidden, intermediate, heads] = sizes;
  return {
    hidden: config.size("hidden_size", hidden),
    intermediate: config.size("intermediate_size", intermediate),
    layers: config.size("num_hidden_layers", 12),
    heads: config.size("num_attention_heads", heads),
    eps: config.number("layer_norm_eps", eps),
    activation: activationOf(config, "hidden_act", activation),
    dropout: config.share("attention_dropout", 0),
  };
}

class Layer extends eg.nn.Module {
  self_attn: ProjectedAttention;
  layer_norm1: eg.nn.LayerNorm;
  mlp: MLP;
  layer_norm2: eg.nn.LayerNorm;

  constructor(spec: TowerSpec, index: number) {
    super();
    const { hidden, heads, dropout, eps } = spec;
    this.self_attn = new ProjectedAttention({ hidden, heads, hasKeyBias: true, dropout, index });
    this.layer_norm1 = new eg.nn.LayerNorm(hidden, { eps });
    this.mlp = new MLP(hidden, spec.intermediate, spec.activation);
    this.layer_norm2 = new eg.nn.LayerNorm(hidden, { eps });
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const attended = x.add(this.self_attn.call(this.layer_norm1.call(x), pass));
    return attended.add(this.mlp.call(this.layer_norm2.call(attended)));
  }
}

/** The layers of a tower. */
export class Encoder extends eg.nn.Module {
  layers: eg.nn.ModuleList<Layer>;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(spec: TowerSpec) {
    super();
    this.layers = new eg.nn.ModuleList(
      Array.from({ length: spec.layers }, (_, i) => new Layer(spec, i)),
    );
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    pass.mask();
    return runBlocks(this.layers, this.gradientCheckpointing, x, pass);
  }
}

/** The sum of token and position embeddings. */
export class TextEmbeddings extends eg.nn.Module {
  token_embedding: Embedding;
  position_embedding: Embedding;

  constructor(words: number, positions: number, hidden: number) {
    super();
    this.token_embedding = new Embedding(words, hidden);
    this.position_embedding = new Embedding(positions, hidden);
  }

  override forward(ids: eg.Tensor, positionIds: eg.Tensor): eg.Tensor {
    return this.token_embedding.call(ids).add(this.position_embedding.call(positionIds));
  }
}

class TextTower extends eg.nn.Module {
  embeddings: TextEmbeddings;
  encoder: Encoder;
  final_layer_norm: eg.nn.LayerNorm;
  private readonly positions: number;
  private readonly end: number;

  constructor(config: Config) {
    super();
    const spec = towerSpec(config, { sizes: [512, 2048, 8] });
    this.positions = config.size("max_position_embeddings", 77);
    this.end = config.whole("eos_token_id", 49407);
    const words = config.size("vocab_size", 49408);
    this.embeddings = new TextEmbeddings(words, this.positions, spec.hidden);
    this.encoder = new Encoder(spec);
    this.final_layer_norm = new eg.nn.LayerNorm(spec.hidden, { eps: spec.eps });
  }

  /** Returns the hidden state of the token that ends each text. */
  override forward(ids: eg.Tensor, attentionMask: eg.Tensor | null): eg.Tensor {
    const like = this.embeddings.token_embedding.weight;
    const pass = new Pass({ ids, like, isCausal: true, attentionMask });
    checkPositions("ClipModel", pass, this.positions);
    const embedded = this.embeddings.call(ids, pass.positionIds);
    const hidden = this.final_layer_norm.call(this.encoder.call(embedded, pass));
    // The first files said 2 by mistake; in them the token with the largest ID ends a text.
    const isEnd = this.end === 2 ? ids : ids.eq(this.end).to("int64");
    const [batch, , size] = hidden.shape as [number, number, number];
    const places = isEnd.argmax(-1).reshape([batch, 1, 1]).expand([batch, 1, size]);
    return hidden.gather(1, places).reshape([batch, size]);
  }
}

class VisionEmbeddings extends eg.nn.Module {
  class_embedding: eg.nn.Parameter;
  patch_embedding: PatchConv;
  position_embedding: Embedding;

  constructor(config: Config, hidden: number) {
    super();
    const image = config.size("image_size", 224);
    const patch = config.size("patch_size", 32);
    const channels = config.size("num_channels", 3);
    this.class_embedding = unloaded(hidden);
    this.patch_embedding = new PatchConv({ channels, hidden, patch, image, bias: false });
    this.position_embedding = new Embedding(Math.floor(image / patch) ** 2 + 1, hidden);
  }

  override forward(pixels: eg.Tensor): eg.Tensor {
    const patches = this.patch_embedding.call(pixels).flatten(2).transpose(1, 2);
    const [batch, , hidden] = patches.shape as [number, number, number];
    const first = this.class_embedding.expand([batch, 1, hidden]);
    return eg.cat([first, patches], 1).add(this.position_embedding.weight);
  }
}

class VisionTower extends eg.nn.Module {
  embeddings: VisionEmbeddings;
  pre_layrnorm: eg.nn.LayerNorm;
  encoder: Encoder;
  post_layernorm: eg.nn.LayerNorm;

  constructor(config: Config) {
    super();
    const spec = towerSpec(config, { sizes: [768, 3072, 12] });
    const { hidden, eps } = spec;
    this.embeddings = new VisionEmbeddings(config, hidden);
    this.pre_layrnorm = new eg.nn.LayerNorm(hidden, { eps });
    this.encoder = new Encoder(spec);
    this.post_layernorm = new eg.nn.LayerNorm(hidden, { eps });
  }

  /** Returns the hidden state of the first token of each image. */
  override forward(pixels: eg.Tensor): eg.Tensor {
    const embedded = this.pre_layrnorm.call(this.embeddings.call(pixels));
    const pass = new Pass({ ids: embedded, like: embedded, isCausal: false });
    return this.post_layernorm.call(this.encoder.call(embedded, pass).select(1, 0));
  }
}

/** Options of `ClipModel`. */
export interface ClipOptions {
  /** The images: [batch, channels, height, width]. */
  readonly pixelValues: eg.Tensor;
  /** 0 for padding tokens, and not 0 for all others. */
  readonly attentionMask?: eg.Tensor | null | undefined;
  /** Compute the contrastive loss, where text i belongs to image i; default false. */
  readonly returnLoss?: boolean | undefined;
}

/** What `ClipModel` returns. */
export interface ClipOutput {
  /** The scaled similarities of texts to images: [texts, images]. */
  readonly logitsPerText: eg.Tensor;
  /** The same, transposed: [images, texts]. */
  readonly logitsPerImage: eg.Tensor;
  /** The unit vectors of the texts. */
  readonly textEmbeds: eg.Tensor;
  /** The unit vectors of the images. */
  readonly imageEmbeds: eg.Tensor;
  /** The contrastive loss, if `returnLoss` is true. */
  readonly loss?: eg.Tensor;
}

/** The rules for the options of models that compare texts with images. */
export const kClipOptions = { pixelValues: kTensor, attentionMask: kTensor, returnLoss: kFlag };

/** Returns vectors of length 1. */
export const unit = (x: eg.Tensor) => x.div(eg.linalg.vectorNorm(x, { dim: -1, keepdim: true }));

/** Both towers of CLIP. */
export class ClipModel extends PreTrainedModel {
  text_model: TextTower;
  vision_model: VisionTower;
  visual_projection: Projection;
  text_projection: Projection;
  logit_scale: eg.nn.Parameter;

  constructor(config: Config) {
    super();
    const [text, vision] = [config.part("text_config"), config.part("vision_config")];
    const size = config.size("projection_dim", 512);
    config.raw("text_config_dict");
    config.raw("vision_config_dict");
    this.text_model = new TextTower(text);
    this.vision_model = new VisionTower(vision);
    this.visual_projection = new Linear(vision.size("hidden_size", 768), size, false);
    this.text_projection = new Linear(text.size("hidden_size", 512), size, false);
    this.logit_scale = unloaded();
  }

  /** Compares texts with images. */
  override forward(ids: eg.Tensor, given: ClipOptions): ClipOutput {
    checkOptions(this.constructor.name, given, kClipOptions);
    const { pixelValues, attentionMask = null, returnLoss = false } = given;
    const textEmbeds = unit(this.getTextFeatures(ids, attentionMask));
    const imageEmbeds = unit(this.getImageFeatures(pixelValues));
    const logitsPerText = eg.matmul(textEmbeds, imageEmbeds.t()).mul(this.logit_scale.exp());
    const logitsPerImage = logitsPerText.t();
    return {
      logitsPerText,
      logitsPerImage,
      textEmbeds,
      imageEmbeds,
      ...(returnLoss && { loss: pairLoss(logitsPerText).add(pairLoss(logitsPerImage)).div(2) }),
    };
  }

  /** Returns the vectors of texts: [batch, size]. */
  getTextFeatures(ids: eg.Tensor, attentionMask: eg.Tensor | null = null): eg.Tensor {
    checkIds("getTextFeatures", ids);
    return this.text_projection.call(this.text_model.call(ids, attentionMask));
  }

  /** Returns the vectors of images: [batch, size]. */
  getImageFeatures(pixels: eg.Tensor): eg.Tensor {
    checkPixels("getImageFeatures", pixels);
    return this.visual_projection.call(this.vision_model.call(pixels));
  }
}

function pairLoss(logits: eg.Tensor): eg.Tensor {
  const own = eg.arange(logits.shape[0] as number, { dtype: "int64", device: logits.device });
  return eg.crossEntropy(logits, own);
}

/** CLIP. */
export const clip: Family = {
  prefix: "clip",
  heads: /^$/,
  tasks: { features: (config) => new ClipModel(config) },
};
