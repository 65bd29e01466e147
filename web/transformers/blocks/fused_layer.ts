// The parts that GPT-NeoX and Falcon share, with the names of their files.

import * as eg from "edgegrad";
import type { Activation } from "./activations.js";
import { attend, joinHeads } from "./attention.js";
import { Linear, type Projection } from "./linear.js";
import type { Pass } from "./pass.js";
import { type RotarySpec, rotaryOf } from "./rotary.js";

interface Spec {
  readonly hidden: number;
  readonly intermediate: number;
  readonly activation: Activation;
}

/** Two linear layers with an activation between them. */
export class MLP extends eg.nn.Module {
  dense_h_to_4h: Projection;
  dense_4h_to_h: Projection;

  constructor(
    private readonly spec: Spec,
    hasBias = true,
  ) {
    super();
    const { hidden, intermediate } = spec;
    this.dense_h_to_4h = new Linear(hidden, intermediate, hasBias);
    this.dense_4h_to_h = new Linear(intermediate, hidden, hasBias);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    return this.dense_4h_to_h.call(this.spec.activation(this.dense_h_to_4h.call(x)));
  }
}

/** Attention whose projection to queries, keys and values is one matrix. */
export abstract class FusedAttention extends eg.nn.Module {
  query_key_value: Projection;
  dense: Projection;

  /** `width` is that of queries, keys and values together. */
  constructor(
    protected readonly spec: {
      readonly hidden: number;
      readonly heads: number;
      readonly hasBias: boolean;
      readonly rotary: RotarySpec;
      readonly dropout: { readonly attention: number };
    },
    private readonly index: number,
    width: number,
  ) {
    super();
    const { hidden, hasBias } = spec;
    this.query_key_value = new Linear(hidden, width, hasBias);
    this.dense = new Linear(hidden, hidden, hasBias);
  }

  /** Returns queries, keys and values by head: [batch, heads, tokens, size]. */
  protected abstract heads(fused: eg.Tensor): [q: eg.Tensor, k: eg.Tensor, v: eg.Tensor];

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { rotary, dropout, hidden, heads } = this.spec;
    const [q, k, v] = this.heads(this.query_key_value.call(x));
    const turn = rotaryOf(rotary, pass);
    const attended = attend(turn(q), turn(k), v, {
      pass,
      layer: this.index,
      scale: (hidden / heads) ** -0.5,
      dropout: this.training ? dropout.attention : 0,
    });
    return this.dense.call(joinHeads(attended));
  }
}
