// Attention whose layers have the names of CLIP and Whisper.

import * as eg from "edgegrad";
import { attend, joinHeads, splitHeads } from "./attention.js";
import { type CrossSource, crossOf } from "./cross.js";
import { Linear, type Projection } from "./linear.js";
import type { Pass } from "./pass.js";

/** The sizes of a ProjectedAttention. */
export interface AttentionSizes {
  readonly hidden: number;
  readonly heads: number;
  /** Whether the projection of keys has a bias. */
  readonly hasKeyBias: boolean;
  readonly dropout: number;
  /** The index of the layer in caches. */
  readonly index: number;
}

/** Self-attention, or with a source, cross-attention to the encoder's output. */
export class ProjectedAttention extends eg.nn.Module {
  k_proj: Projection;
  v_proj: Projection;
  q_proj: Projection;
  out_proj: Projection;

  constructor(private readonly sizes: AttentionSizes) {
    super();
    const { hidden, hasKeyBias } = sizes;
    this.k_proj = new Linear(hidden, hidden, hasKeyBias);
    this.v_proj = new Linear(hidden, hidden);
    this.q_proj = new Linear(hidden, hidden);
    this.out_proj = new Linear(hidden, hidden);
  }

  override forward(x: eg.Tensor, pass: Pass, source: CrossSource | null = null): eg.Tensor {
    const { hidden, heads, dropout, index } = this.sizes;
    const scale = (hidden / heads) ** -0.5;
    const share = this.training ? dropout : 0;
    const query = splitHeads(this.q_proj.call(x), heads);
    if (source === null) {
      const [key, value] = this.projected(x);
      const options = { pass, layer: index, scale, dropout: share };
      return this.out_proj.call(joinHeads(attend(query, key, value, options)));
    }
    const [key, value] = crossOf(source, index, (read) => this.projected(read));
    const { mask } = source;
    const read = eg.scaledDotProductAttention(query, key, value, mask, share, false, scale);
    return this.out_proj.call(joinHeads(read));
  }

  private projected(x: eg.Tensor): [keys: eg.Tensor, values: eg.Tensor] {
    const { heads } = this.sizes;
    return [splitHeads(this.k_proj.call(x), heads), splitHeads(this.v_proj.call(x), heads)];
  }
}
