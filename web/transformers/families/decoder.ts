// The layers that Llama and similar models share: rotary positions, grouped heads, gated MLPs and RMS norms.

import * as eg from "edgegrad";
import type { Activation } from "../blocks/activations.js";
import { attend, joinHeads, splitHeads } from "../blocks/attention.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import type { Pass } from "../blocks/pass.js";
import { type RotarySpec, rotaryOf } from "../blocks/rotary.js";
import { runBlocks } from "../blocks/run_blocks.js";
import { TextDecoder } from "../tasks/causal.js";

/** The settings in which these families differ. */
export interface DecoderSpec {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly layers: number;
  readonly heads: number;
  readonly groups: number;
  readonly headSize: number;
  /** The padding token, or null. */
  readonly paddingToken: number | null;
  readonly biases: { readonly query: boolean; readonly output: boolean; readonly mlp: boolean };
  readonly activation: Activation;
  /** Creates a norm of a size. */
  norm(size: number): Projection;
  /** Whether queries and keys are normalized per head. */
  readonly hasHeadNorms: boolean;
  /** Whether the results of attention and MLP are normalized before they are added, as in Gemma 2. */
  readonly hasOuterNorms: boolean;
  /** Whether the projections of attention are fused into one matrix, and those of the MLP into another. */
  readonly isFused: boolean;
  readonly scale: number;
  readonly softcap: number | null;
  readonly embeddingScale: number;
  /** The sliding window of each layer in tokens; null for all tokens. */
  readonly windows: readonly (number | null)[];
  readonly rotary: readonly RotarySpec[];
  /** Dropout probabilities. */
  readonly dropout: {
    readonly attention: number;
    readonly residual: number;
  };
}

/** Attention with rotary positions. */
class Attention extends eg.nn.Module {
  q_proj?: Projection;
  k_proj?: Projection;
  v_proj?: Projection;
  qkv_proj?: Projection;
  o_proj: Projection;
  q_norm?: Projection;
  k_norm?: Projection;

  constructor(
    private readonly spec: DecoderSpec,
    private readonly index: number,
  ) {
    super();
    const { hidden, heads, groups, headSize, biases, isFused } = spec;
    const [queries, keys] = [heads * headSize, groups * headSize];
    if (isFused) {
      this.qkv_proj = new Linear(hidden, queries + 2 * keys, biases.query);
    } else {
      this.q_proj = new Linear(hidden, queries, biases.query);
      this.k_proj = new Linear(hidden, keys, biases.query);
      this.v_proj = new Linear(hidden, keys, biases.query);
    }
    this.o_proj = new Linear(queries, hidden, biases.output);
    if (spec.hasHeadNorms) {
      this.q_norm = spec.norm(headSize);
      this.k_norm = spec.norm(headSize);
    }
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { heads, groups, rotary, windows, scale, softcap, dropout } = this.spec;
    const [q, k, v] = this.projected(x);
    const turn = rotaryOf(rotary[this.index] as RotarySpec, pass);
    const query = splitHeads(q, heads);
    const key = splitHeads(k, groups);
    const attended = attend(
      turn(this.q_norm?.call(query) ?? query),
      turn(this.k_norm?.call(key) ?? key),
      splitHeads(v, groups),
      {
        pass,
        layer: this.index,
        scale,
        softcap,
        window: windows[this.index] ?? null,
        dropout: this.training ? dropout.attention : 0,
      },
    );
    return this.o_proj.call(joinHeads(attended));
  }

  private projected(x: eg.Tensor): [q: eg.Tensor, k: eg.Tensor, v: eg.Tensor] {
    const { q_proj, k_proj, v_proj, qkv_proj } = this;
    if (q_proj && k_proj && v_proj) return [q_proj.call(x), k_proj.call(x), v_proj.call(x)];
    const { heads, groups, headSize } = this.spec;
    const sizes = [heads * headSize, groups * headSize, groups * headSize];
    const joined = (qkv_proj as Projection).call(x);
    return eg.split(joined, sizes, -1) as [eg.Tensor, eg.Tensor, eg.Tensor];
  }
}

/** A gated MLP. */
class MLP extends eg.nn.Module {
  gate_proj?: Projection;
  up_proj?: Projection;
  gate_up_proj?: Projection;
  down_proj: Projection;

  constructor(private readonly spec: DecoderSpec) {
    super();
    const { hidden, intermediate, biases, isFused } = spec;
    if (isFused) {
      this.gate_up_proj = new Linear(hidden, 2 * intermediate, biases.mlp);
    } else {
      this.gate_proj = new Linear(hidden, intermediate, biases.mlp);
      this.up_proj = new Linear(hidden, intermediate, biases.mlp);
    }
    this.down_proj = new Linear(intermediate, hidden, biases.mlp);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const { gate_proj, up_proj, gate_up_proj } = this;
    const [gate, up] =
      gate_proj && up_proj
        ? [gate_proj.call(x), up_proj.call(x)]
        : ((gate_up_proj as Projection).call(x).chunk(2, -1) as [eg.Tensor, eg.Tensor]);
    return this.down_proj.call(this.spec.activation(gate).mul(up));
  }
}

/** Attention and an MLP, each added to its input. */
class DecoderLayer extends eg.nn.Module {
  input_layernorm: Projection;
  self_attn: Attention;
  post_attention_layernorm: Projection;
  pre_feedforward_layernorm?: Projection;
  mlp: MLP;
  post_feedforward_layernorm?: Projection;

  constructor(
    private readonly spec: DecoderSpec,
    index: number,
  ) {
    super();
    const { hidden, hasOuterNorms } = spec;
    this.self_attn = new Attention(spec, index);
    this.mlp = new MLP(spec);
    this.input_layernorm = spec.norm(hidden);
    this.post_attention_layernorm = spec.norm(hidden);
    if (hasOuterNorms) {
      this.pre_feedforward_layernorm = spec.norm(hidden);
      this.post_feedforward_layernorm = spec.norm(hidden);
    }
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const attended = this.self_attn.call(this.input_layernorm.call(x), pass);
    const { pre_feedforward_layernorm: before, post_feedforward_layernorm: after } = this;
    if (before && after) {
      const first = x.add(this.dropped(this.post_attention_layernorm.call(attended)));
      return first.add(this.dropped(after.call(this.mlp.call(before.call(first)))));
    }
    const first = x.add(this.dropped(attended));
    return first.add(this.dropped(this.mlp.call(this.post_attention_layernorm.call(first))));
  }

  private dropped(x: eg.Tensor): eg.Tensor {
    return eg.dropout(x, this.spec.dropout.residual, this.training);
  }
}

/** The layers of a language model: `embed_tokens`, `layers` and `norm`. */
export class DecoderModel extends TextDecoder {
  embed_tokens: Embedding;
  layers: eg.nn.ModuleList<DecoderLayer>;
  norm: Projection;

  constructor(readonly spec: DecoderSpec) {
    super();
    const { vocabulary, hidden, layers, paddingToken } = spec;
    this.embed_tokens = new Embedding(vocabulary, hidden, paddingToken);
    this.layers = new eg.nn.ModuleList(
      Array.from({ length: layers }, (_, i) => new DecoderLayer(spec, i)),
    );
    this.norm = spec.norm(hidden);
  }

  protected override embed(ids: eg.Tensor): eg.Tensor {
    const vectors = this.embed_tokens.call(ids);
    const { embeddingScale: scale } = this.spec;
    const { dtype, device } = vectors;
    // The factor is rounded to the dtype, as it was in training.
    return scale === 1 ? vectors : vectors.mul(eg.full([], scale, { dtype, device }));
  }

  protected override run(embedded: eg.Tensor, pass: Pass): eg.Tensor {
    for (const window of this.spec.windows) pass.mask(window);
    for (const spec of this.spec.rotary) rotaryOf(spec, pass);
    return this.norm.call(runBlocks(this.layers, this.gradientCheckpointing, embedded, pass));
  }
}
