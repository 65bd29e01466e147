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
  /** Whether queries and keys are normalized: each head by itself, or all heads together as in OLMo 2. */
  readonly headNorms: "none" | "each" | "all";
  /** What is normalized: what attention and the MLP read, what they return as in OLMo 2, or both as in Gemma 2. */
  readonly norms: "before" | "after" | "around";
  /** Whether attention and the MLP read the same, and are added together. */
  readonly isParallel: boolean;
  /** Whether the projections of attention are fused into one matrix, and those of the MLP into another. */
  readonly isFused: boolean;
  readonly scale: number;
  readonly softcap: number | null;
  readonly embeddingScale: number;
  /** The sliding window of each layer in tokens; null for all tokens. */
  readonly windows: readonly (number | null)[];
  /** The rotary positions of each layer; null for a layer without positions. */
  readonly rotary: readonly (RotarySpec | null)[];
  /** What the results of attention and the MLP are multiplied with before they are added. */
  readonly residualScale: number;
  /** What the scores of the head are divided by. */
  readonly scoreDivisor: number;
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
    if (spec.headNorms !== "none") {
      const isAll = spec.headNorms === "all";
      this.q_norm = spec.norm(isAll ? queries : headSize);
      this.k_norm = spec.norm(isAll ? keys : headSize);
    }
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { heads, groups, rotary, windows, scale, softcap, dropout } = this.spec;
    const [q, k, v] = this.projected(x);
    const spec = rotary[this.index] ?? null;
    const turn = spec === null ? (part: eg.Tensor) => part : rotaryOf(spec, pass);
    const attended = attend(
      turn(this.heads(q, heads, this.q_norm)),
      turn(this.heads(k, groups, this.k_norm)),
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

  private heads(x: eg.Tensor, count: number, norm: Projection | undefined): eg.Tensor {
    if (norm === undefined) return splitHeads(x, count);
    const isAll = this.spec.headNorms === "all";
    return isAll ? splitHeads(norm.call(x), count) : norm.call(splitHeads(x, count));
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
  input_layernorm?: Projection;
  self_attn: Attention;
  post_attention_layernorm?: Projection;
  pre_feedforward_layernorm?: Projection;
  mlp: MLP;
  post_feedforward_layernorm?: Projection;

  constructor(
    private readonly spec: DecoderSpec,
    index: number,
  ) {
    super();
    const { hidden, norms, isParallel } = spec;
    this.self_attn = new Attention(spec, index);
    this.mlp = new MLP(spec);
    if (norms !== "after") this.input_layernorm = spec.norm(hidden);
    if (!isParallel) this.post_attention_layernorm = spec.norm(hidden);
    if (norms === "around") this.pre_feedforward_layernorm = spec.norm(hidden);
    if (norms !== "before") this.post_feedforward_layernorm = spec.norm(hidden);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const read = normed(this.input_layernorm, x);
    const attended = this.self_attn.call(read, pass);
    if (this.spec.isParallel) {
      return x.add(this.dropped(attended)).add(this.dropped(this.mlp.call(read)));
    }
    const isBefore = this.spec.norms === "before";
    const { post_attention_layernorm: middle, pre_feedforward_layernorm: before } = this;
    const first = x.add(this.dropped(isBefore ? attended : normed(middle, attended)));
    const mixed = this.mlp.call(normed(isBefore ? middle : before, first));
    return first.add(this.dropped(normed(this.post_feedforward_layernorm, mixed)));
  }

  private dropped(x: eg.Tensor): eg.Tensor {
    const { dropout, residualScale } = this.spec;
    const scaled = residualScale === 1 ? x : x.mul(residualScale);
    return eg.dropout(scaled, dropout.residual, this.training);
  }
}

const normed = (norm: Projection | undefined, x: eg.Tensor) => norm?.call(x) ?? x;

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

  /** Returns the embeddings of tokens. */
  override embed(ids: eg.Tensor): eg.Tensor {
    const vectors = this.embed_tokens.call(ids);
    const { embeddingScale: scale } = this.spec;
    const { dtype, device } = vectors;
    // The factor is rounded to the dtype, as it was in training.
    return scale === 1 ? vectors : vectors.mul(eg.full([], scale, { dtype, device }));
  }

  /** Computes the last hidden states from the embeddings. */
  override run(embedded: eg.Tensor, pass: Pass): eg.Tensor {
    for (const window of this.spec.windows) pass.mask(window);
    for (const spec of this.spec.rotary) if (spec !== null) rotaryOf(spec, pass);
    return this.norm.call(runBlocks(this.layers, this.gradientCheckpointing, embedded, pass));
  }
}
