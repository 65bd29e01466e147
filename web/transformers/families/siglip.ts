// SigLIP: CLIP's towers without a class token, where each pair of a text and an image is judged by itself.

import * as eg from "edgegrad";
import { Embedding, Linear, type Projection, unloaded } from "../blocks/linear.js";
import { MLP } from "../blocks/mlp.js";
import { Pass } from "../blocks/pass.js";
import { PatchConv } from "../blocks/patches.js";
import type { Config } from "../config/config.js";
import { PreTrainedModel } from "../model.js";
import { checkOptions } from "../options.js";
import { checkIds, checkPixels, checkPositions } from "../tasks/inputs.js";
import {
  type ClipOptions,
  type ClipOutput,
  Encoder,
  kClipOptions,
  TextEmbeddings,
  type TowerSpec,
  towerSpec,
  unit,
} from "./clip.js";
import type { Family } from "./family.js";

const kDefaults = { sizes: [768, 3072, 12], eps: 1e-6, activation: "gelu_pytorch_tanh" } as const;

class TextTower extends eg.nn.Module {
  embeddings: TextEmbeddings;
  encoder: Encoder;
  final_layer_norm: eg.nn.LayerNorm;
  head: Projection;
  private readonly positions: number;

  constructor(config: Config) {
    super();
    const spec = towerSpec(config, kDefaults);
    const { hidden, eps } = spec;
    this.positions = config.size("max_position_embeddings", 64);
    const words = config.size("vocab_size", 32000);
    this.embeddings = new TextEmbeddings(words, this.positions, hidden);
    this.encoder = new Encoder(spec);
    this.final_layer_norm = new eg.nn.LayerNorm(hidden, { eps });
    this.head = new Linear(hidden, config.size("projection_size", hidden));
  }

  /** Returns the vector of each text, from its last token, which is often padding. */
  override forward(ids: eg.Tensor, attentionMask: eg.Tensor | null): eg.Tensor {
    const like = this.embeddings.token_embedding.weight;
    const pass = new Pass({ ids, like, isCausal: false, attentionMask });
    checkPositions("SiglipModel", pass, this.positions);
    const embedded = this.embeddings.call(ids, pass.positionIds);
    const hidden = this.final_layer_norm.call(this.encoder.call(embedded, pass));
    return this.head.call(hidden.select(1, -1));
  }
}

class VisionEmbeddings extends eg.nn.Module {
  patch_embedding: PatchConv;
  position_embedding: Embedding;

  constructor(config: Config, hidden: number) {
    super();
    const image = config.size("image_size", 224);
    const patch = config.size("patch_size", 16);
    const channels = config.size("num_channels", 3);
    this.patch_embedding = new PatchConv({ channels, hidden, patch, image, bias: true });
    this.position_embedding = new Embedding(Math.floor(image / patch) ** 2, hidden);
  }

  override forward(pixels: eg.Tensor): eg.Tensor {
    const patches = this.patch_embedding.call(pixels).flatten(2).transpose(1, 2);
    return patches.add(this.position_embedding.weight);
  }
}

/** Attention with the names of PyTorch's MultiheadAttention, whose three projections are one matrix. */
class JoinedAttention extends eg.nn.Module {
  in_proj_weight: eg.nn.Parameter;
  in_proj_bias: eg.nn.Parameter;
  out_proj: Projection;

  constructor(private readonly spec: TowerSpec) {
    super();
    const { hidden } = spec;
    this.in_proj_weight = unloaded(3 * hidden, hidden);
    this.in_proj_bias = unloaded(3 * hidden);
    this.out_proj = new Linear(hidden, hidden);
  }

  override forward(query: eg.Tensor, x: eg.Tensor): eg.Tensor {
    const { hidden, heads } = this.spec;
    const [weights, biases] = [this.in_proj_weight.chunk(3, 0), this.in_proj_bias.chunk(3, 0)];
    const [batch] = x.shape as [number];
    const [q, k, v] = [query, x, x].map((read, i) => {
      const made = eg.linear(read, weights[i] as eg.Tensor, biases[i] as eg.Tensor);
      return made.reshape([batch, -1, heads, hidden / heads]).transpose(1, 2);
    }) as [eg.Tensor, eg.Tensor, eg.Tensor];
    const read = eg.scaledDotProductAttention(q, k, v);
    return this.out_proj.call(read.transpose(1, 2).reshape([batch, -1, hidden]));
  }
}

/** The vector of an image: a learned question that attends to all patches. */
class PoolingHead extends eg.nn.Module {
  probe: eg.nn.Parameter;
  attention: JoinedAttention;
  layernorm: eg.nn.LayerNorm;
  mlp: MLP;

  constructor(private readonly spec: TowerSpec) {
    super();
    this.probe = unloaded(1, 1, spec.hidden);
    this.attention = new JoinedAttention(spec);
    this.layernorm = new eg.nn.LayerNorm(spec.hidden, { eps: spec.eps });
    this.mlp = new MLP(spec.hidden, spec.intermediate, spec.activation);
  }

  override forward(hidden: eg.Tensor): eg.Tensor {
    const probe = this.probe.expand([hidden.shape[0] as number, 1, this.spec.hidden]);
    const read = this.attention.call(probe, hidden);
    return read.add(this.mlp.call(this.layernorm.call(read))).select(1, 0);
  }
}

/** The tower of images without its head: one vector for each patch, [images, patches, size]. */
export class PatchTower extends eg.nn.Module {
  embeddings: VisionEmbeddings;
  encoder: Encoder;
  post_layernorm: eg.nn.LayerNorm;
  readonly spec: TowerSpec;

  constructor(config: Config) {
    super();
    this.spec = towerSpec(config, kDefaults);
    const { hidden, eps } = this.spec;
    this.embeddings = new VisionEmbeddings(config, hidden);
    this.encoder = new Encoder(this.spec);
    this.post_layernorm = new eg.nn.LayerNorm(hidden, { eps });
  }

  override forward(pixels: eg.Tensor): eg.Tensor {
    const embedded = this.embeddings.call(pixels);
    const pass = new Pass({ ids: embedded, like: embedded, isCausal: false });
    return this.post_layernorm.call(this.encoder.call(embedded, pass));
  }
}

class VisionTower extends PatchTower {
  head: PoolingHead;

  constructor(config: Config) {
    super(config);
    config.only("vision_use_head", true);
    this.head = new PoolingHead(this.spec);
  }

  override forward(pixels: eg.Tensor): eg.Tensor {
    return this.head.call(super.forward(pixels));
  }
}

/** Both towers of SigLIP. */
class SiglipModel extends PreTrainedModel {
  text_model: TextTower;
  vision_model: VisionTower;
  logit_scale: eg.nn.Parameter;
  logit_bias: eg.nn.Parameter;

  constructor(config: Config) {
    super();
    this.text_model = new TextTower(config.part("text_config", true));
    this.vision_model = new VisionTower(config.part("vision_config", true));
    this.logit_scale = unloaded(1);
    this.logit_bias = unloaded(1);
  }

  /** Compares texts with images. */
  override forward(ids: eg.Tensor, given: ClipOptions): ClipOutput {
    checkOptions(this.constructor.name, given, kClipOptions);
    const { pixelValues, attentionMask = null, returnLoss = false } = given;
    const textEmbeds = unit(this.getTextFeatures(ids, attentionMask));
    const imageEmbeds = unit(this.getImageFeatures(pixelValues));
    const similarity = eg.matmul(textEmbeds, imageEmbeds.t());
    const logitsPerText = similarity.mul(this.logit_scale.exp()).add(this.logit_bias);
    return {
      logitsPerText,
      logitsPerImage: logitsPerText.t(),
      textEmbeds,
      imageEmbeds,
      ...(returnLoss && { loss: pairLoss(logitsPerText) }),
    };
  }

  /** Returns the vectors of texts: [batch, size]. */
  getTextFeatures(ids: eg.Tensor, attentionMask: eg.Tensor | null = null): eg.Tensor {
    checkIds("getTextFeatures", ids);
    return this.text_model.call(ids, attentionMask);
  }

  /** Returns the vectors of images: [batch, size]. */
  getImageFeatures(pixels: eg.Tensor): eg.Tensor {
    checkPixels("getImageFeatures", pixels);
    return this.vision_model.call(pixels);
  }
}

// Whether text i belongs to image j is a question of its own.
function pairLoss(logits: eg.Tensor): eg.Tensor {
  const { device, dtype } = logits;
  const signs = eg
    .eye(logits.shape[0] as number, { device, dtype })
    .mul(2)
    .sub(1);
  return eg.logsigmoid(logits.mul(signs)).sum(-1).mean().neg();
}

/** SigLIP. */
export const siglip: Family = {
  prefix: "siglip",
  heads: /^$/,
  tasks: { features: (config) => new SiglipModel(config) },
};
