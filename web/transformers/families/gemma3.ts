// Gemma 3 with images: SigLIP's tower, whose patches are pooled and projected to vectors in the text.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { Linear, type Projection, unloaded } from "../blocks/linear.js";
import { GemmaRMSNorm } from "../blocks/norms.js";
import type { Pass } from "../blocks/pass.js";
import type { Config } from "../config/config.js";
import { checkOptions, kCount } from "../options.js";
import { ImageTextDecoder, ImageTextModel } from "../tasks/image_text.js";
import { checkPixels } from "../tasks/inputs.js";
import { DecoderModel } from "./decoder.js";
import type { Family } from "./family.js";
import { gemma3Spec } from "./gemma.js";
import { PatchTower } from "./siglip.js";

// What files leave out of text_config.
const kTextDefaults = {
  vocab_size: 262208,
  hidden_size: 2304,
  intermediate_size: 9216,
  num_hidden_layers: 26,
  num_attention_heads: 8,
  num_key_value_heads: 4,
  max_position_embeddings: 131072,
  rope_theta: 1e6,
};

// What files leave out of config.json.
const kImageToken = 262144;
const kTokensPerImage = 256;

/** The tower as its files name it. */
class VisionTower extends eg.nn.Module {
  vision_model: PatchTower;

  constructor(config: Config) {
    super();
    // Whether a file has the head, which is not read here.
    config.raw("vision_use_head");
    this.vision_model = new PatchTower(config);
  }

  override forward(pixels: eg.Tensor): eg.Tensor {
    return this.vision_model.call(pixels);
  }
}

/** The sizes of a Projector. */
interface ProjectorSizes {
  readonly from: number;
  readonly to: number;
  readonly eps: number;
  /** The number of patches of a side of an image. */
  readonly side: number;
  /** The number of patches of a side that become one vector. */
  readonly pool: number;
}

/** The mean of neighboring patches, normalized, as vectors of the text. */
class Projector extends eg.nn.Module {
  mm_input_projection_weight: eg.nn.Parameter;
  mm_soft_emb_norm: GemmaRMSNorm;

  constructor(private readonly sizes: ProjectorSizes) {
    super();
    const { from, to, eps } = sizes;
    this.mm_input_projection_weight = unloaded(from, to);
    this.mm_soft_emb_norm = new GemmaRMSNorm(from, eps);
  }

  override forward(patches: eg.Tensor): eg.Tensor {
    const { from, side, pool } = this.sizes;
    const grid = patches.transpose(1, 2).reshape([-1, from, side, side]);
    const pooled = eg.avgPool2d(grid, pool).flatten(2).transpose(1, 2);
    return eg.matmul(this.mm_soft_emb_norm.call(pooled), this.mm_input_projection_weight);
  }
}

/** Both parts without the head. */
class Gemma3Model extends ImageTextDecoder {
  vision_tower: VisionTower;
  multi_modal_projector: Projector;
  language_model: DecoderModel;
  override readonly imageToken: number;
  override readonly tokensPerImage: number;

  constructor(config: Config) {
    super();
    const text = config.part("text_config", true, kTextDefaults);
    const vision = config.part("vision_config", true);
    // Other tokens around images, which a program writes.
    for (const name of ["boi", "eoi"]) {
      for (const key of [`${name}_token_id`, `${name}_token_index`]) config.raw(key);
    }
    const token = config.whole("image_token_id", kImageToken);
    this.imageToken = config.whole("image_token_index", token);
    this.tokensPerImage = config.size("mm_tokens_per_image", kTokensPerImage);
    this.language_model = new DecoderModel(gemma3Spec(text));
    this.vision_tower = new VisionTower(vision);
    const { hidden, eps } = this.vision_tower.vision_model.spec;
    const side = Math.floor(vision.size("image_size", 224) / vision.size("patch_size", 16));
    const tokens = Math.floor(Math.sqrt(this.tokensPerImage));
    const pool = Math.floor(side / tokens);
    if (tokens ** 2 !== this.tokensPerImage || Math.floor(side / pool) !== tokens) {
      const message = `mm_tokens_per_image is ${this.tokensPerImage}, which ${side} x ${side} patches cannot be pooled to`;
      fail("InvalidArgument", "fromPretrained", `config.json: ${message}.`);
    }
    const to = this.language_model.spec.hidden;
    this.multi_modal_projector = new Projector({ from: hidden, to, eps, side, pool });
  }

  override getImageFeatures(pixels: eg.Tensor): eg.Tensor {
    checkPixels("getImageFeatures", pixels);
    return this.multi_modal_projector.call(this.vision_tower.call(pixels));
  }

  protected override embedWords(ids: eg.Tensor): eg.Tensor {
    return this.language_model.embed(ids);
  }

  protected override run(embedded: eg.Tensor, pass: Pass): eg.Tensor {
    return this.language_model.run(embedded, pass);
  }
}

/** Gemma 3 with images and the head of next tokens. */
class Gemma3ForConditionalGeneration extends ImageTextModel {
  model: Gemma3Model;
  lm_head: Projection;

  constructor(config: Config) {
    super();
    this.model = new Gemma3Model(config);
    const text = config.part("text_config", true);
    text.only("final_logit_softcapping", null);
    const { hidden, vocabulary } = this.model.language_model.spec;
    const head = new Linear(hidden, vocabulary, false);
    this.lm_head = head;
    if (config.flag("tie_word_embeddings", text.flag("tie_word_embeddings", true))) {
      head.weight = this.model.language_model.embed_tokens.weight;
      this.tieHead("lm_head.weight", "model.language_model.embed_tokens.weight");
    }
  }

  protected override get decoder(): Gemma3Model {
    return this.model;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    return this.lm_head.call(hidden);
  }

  override async resizeTokenEmbeddings(count: number): Promise<void> {
    checkOptions("resizeTokenEmbeddings", { count }, { count: kCount });
    const { resizeWords } = await import("../blocks/resize.js");
    const text: { vocab_size?: unknown } = Object(this.config.text_config);
    resizeWords(this, Number(text.vocab_size ?? kTextDefaults.vocab_size), count);
    this.config = { ...this.config, text_config: { ...text, vocab_size: count } };
  }
}

/** Gemma 3 with images. */
export const gemma3: Family = {
  prefix: "model",
  heads: /^lm_head\./,
  unused: /\bvision_model\.head\./,
  tasks: {
    features: (config) => new Gemma3Model(config),
    "causal language modeling": (config) => new Gemma3ForConditionalGeneration(config),
    "image and text to text": (config) => new Gemma3ForConditionalGeneration(config),
  },
};
