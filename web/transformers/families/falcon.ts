// Falcon: attention and an MLP that are added together, with keys and values that groups of heads share.

import * as eg from "edgegrad";
import { type Activation, activationOf } from "../blocks/activations.js";
import { FusedAttention, MLP } from "../blocks/fused_layer.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import type { Pass } from "../blocks/pass.js";
import { baseOf, type RotarySpec, rotaryOf, rotarySpec, scalingOf } from "../blocks/rotary.js";
import { runBlocks } from "../blocks/run_blocks.js";
import type { Config } from "../config/config.js";
import { CausalLanguageModel, TextDecoder } from "../tasks/causal.js";
import type { Family } from "./family.js";

interface Spec {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly intermediate: number;
  readonly layers: number;
  readonly heads: number;
  readonly groups: number;
  readonly eps: number;
  readonly activation: Activation;
  readonly rotary: RotarySpec;
  readonly hasBias: boolean;
  /** What attention and the MLP read: the same norm, each its own, or one after the other. */
  readonly norms: "one" | "two" | "in sequence";
  readonly dropout: { readonly attention: number; readonly hidden: number };
}

function specOf(config: Config): Spec {
  const hidden = config.size("hidden_size");
  const heads = config.size("num_attention_heads");
  const isNew = config.flag("new_decoder_architecture", false);
  const isShared = config.flag("multi_query", true);
  const isParallel = config.flag("parallel_attn", true);
  const count = config.has("num_ln_in_parallel_attn") ? config.whole("num_ln_in_parallel_attn") : 2;
  const groups = config.size("num_kv_heads", heads);
  config.only("alibi", false);
  config.only("apply_residual_connection_post_layernorm", false);
  const scaling = scalingOf(config);
  return {
    vocabulary: config.size("vocab_size"),
    hidden,
    intermediate: config.size("ffn_hidden_size", 4 * hidden),
    layers: config.size("num_hidden_layers"),
    heads,
    groups: isNew ? groups : isShared ? 1 : heads,
    eps: config.number("layer_norm_epsilon", 1e-5),
    activation: activationOf(config, "activation", "gelu"),
    rotary: rotarySpec({
      size: hidden / heads,
      base: baseOf(config, scaling),
      scaling,
      trained: config.size("max_position_embeddings", 2048),
    }),
    hasBias: config.flag("bias", false),
    norms: isNew ? (count === 2 ? "two" : "one") : isParallel ? "one" : "in sequence",
    dropout: {
      attention: config.share("attention_dropout", 0),
      hidden: config.share("hidden_dropout", 0),
    },
  };
}

class Attention extends FusedAttention {
  private readonly groups: number;

  constructor(spec: Spec, index: number) {
    const { hidden, heads, groups } = spec;
    super(spec, index, hidden + (2 * groups * hidden) / heads);
    this.groups = groups;
  }

  // The queries of a group, and its key and value, are adjacent.
  protected override heads(fused: eg.Tensor): [q: eg.Tensor, k: eg.Tensor, v: eg.Tensor] {
    const { heads, hidden } = this.spec;
    const [batch, tokens] = fused.shape as [number, number];
    const [size, shared] = [hidden / heads, heads / this.groups];
    return fused
      .reshape([batch, tokens, this.groups, shared + 2, size])
      .split([shared, 1, 1], 3)
      .map((part) => part.reshape([batch, tokens, -1, size]).transpose(1, 2)) as [
      eg.Tensor,
      eg.Tensor,
      eg.Tensor,
    ];
  }
}

class Layer extends eg.nn.Module {
  input_layernorm?: eg.nn.LayerNorm;
  ln_attn?: eg.nn.LayerNorm;
  ln_mlp?: eg.nn.LayerNorm;
  post_attention_layernorm?: eg.nn.LayerNorm;
  self_attention: Attention;
  mlp: MLP;

  constructor(
    private readonly spec: Spec,
    index: number,
  ) {
    super();
    const { hidden, eps, norms } = spec;
    const norm = () => new eg.nn.LayerNorm(hidden, { eps });
    if (norms === "two") {
      this.ln_attn = norm();
      this.ln_mlp = norm();
    } else {
      this.input_layernorm = norm();
      if (norms === "in sequence") this.post_attention_layernorm = norm();
    }
    this.self_attention = new Attention(spec, index);
    this.mlp = new MLP(spec, spec.hasBias);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { dropout } = this.spec;
    const dropped = (part: eg.Tensor, share: number) => eg.dropout(part, share, this.training);
    const { input_layernorm: first, ln_attn, ln_mlp, post_attention_layernorm: after } = this;
    const read = (ln_attn ?? (first as eg.nn.LayerNorm)).call(x);
    const attended = this.self_attention.call(read, pass);
    if (after) {
      const between = x.add(dropped(attended, dropout.attention));
      return between.add(dropped(this.mlp.call(after.call(between)), dropout.hidden));
    }
    const mixed = this.mlp.call(ln_mlp ? ln_mlp.call(x) : read);
    return x.add(dropped(mixed.add(attended), dropout.hidden));
  }
}

/** The layers of Falcon. */
class FalconModel extends TextDecoder {
  word_embeddings: Embedding;
  h: eg.nn.ModuleList<Layer>;
  ln_f: eg.nn.LayerNorm;

  constructor(readonly spec: Spec) {
    super();
    const { vocabulary, hidden, layers, eps } = spec;
    this.word_embeddings = new Embedding(vocabulary, hidden);
    this.h = new eg.nn.ModuleList(Array.from({ length: layers }, (_, i) => new Layer(spec, i)));
    this.ln_f = new eg.nn.LayerNorm(hidden, { eps });
  }

  protected override embed(ids: eg.Tensor): eg.Tensor {
    return this.word_embeddings.call(ids);
  }

  protected override run(embedded: eg.Tensor, pass: Pass): eg.Tensor {
    pass.mask();
    rotaryOf(this.spec.rotary, pass);
    return this.ln_f.call(runBlocks(this.h, this.gradientCheckpointing, embedded, pass));
  }
}

/** Falcon with its head. */
class FalconForCausalLM extends CausalLanguageModel {
  transformer: FalconModel;
  lm_head: Projection;

  constructor(config: Config) {
    super();
    const spec = specOf(config);
    this.transformer = new FalconModel(spec);
    const head = new Linear(spec.hidden, spec.vocabulary, false);
    this.lm_head = head;
    if (config.flag("tie_word_embeddings", true)) {
      head.weight = this.transformer.word_embeddings.weight;
      this.tieHead("lm_head.weight", "transformer.word_embeddings.weight");
    }
  }

  protected override get decoder(): FalconModel {
    return this.transformer;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    return this.lm_head.call(hidden);
  }
}

/** Falcon. */
export const falcon: Family = {
  prefix: "transformer",
  heads: /^lm_head\./,
  tasks: {
    features: (config) => new FalconModel(specOf(config)),
    "causal language modeling": (config) => new FalconForCausalLM(config),
  },
};
