// Attention whose layers have the names of ViT and DINOv2.

import * as eg from "edgegrad";
import { Linear, type Projection } from "./linear.js";
import type { Pass } from "./pass.js";
import { SelfAttention } from "./self_attention.js";

/** A linear layer that files call "dense". */
export class Dense extends eg.nn.Module {
  dense: Projection;

  constructor(inFeatures: number, outFeatures: number) {
    super();
    this.dense = new Linear(inFeatures, outFeatures);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    return this.dense.call(x);
  }
}

/** The sizes of an ImageAttention. */
export interface ImageAttentionSizes {
  readonly hidden: number;
  readonly heads: number;
  readonly hasBias: boolean;
  readonly dropout: { readonly attention: number };
}

/** Self-attention and the layer after it. */
export class ImageAttention extends eg.nn.Module {
  attention: SelfAttention;
  output: Dense;

  constructor({ hidden, heads, hasBias, dropout }: ImageAttentionSizes) {
    super();
    this.attention = new SelfAttention({ hidden, heads, hasBias, dropout: dropout.attention });
    this.output = new Dense(hidden, hidden);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    return this.output.call(this.attention.call(x, pass));
  }
}
