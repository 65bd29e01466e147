// GPT-NeoX, the architecture of Pythia: parallel attention and MLP, and rotary positions on a part of each head's features.

import * as eg from "edgegrad";
import { type Activation, activationOf } from "../blocks/activations.js";
import { FusedAttention, MLP } from "../blocks/fused_layer.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import type { Pass } from "../blocks/pass.js";
import {
  baseOf,
  type RotarySpec,
  rotaryOf,
  rotarySpec,
  scalingOf,
  shareOf,
} from "../blocks/rotary.js";
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
  readonly eps: number;
  readonly activation: Activation;
  readonly rotary: RotarySpec;
  readonly isParallel: boolean;
  readonly hasBias: boolean;
  readonly dropout: { readonly attention: number; readonly hidden: number };
}

function specOf(config: Config): Spec {
  const hidden = config.size("hidden_size");
  const heads = config.size("num_attention_heads");
  const scaling = scalingOf(config);
  const share = config.number("rotary_pct", shareOf(config, scaling, 0.25));
  const base = config.number("rotary_emb_base", baseOf(config, scaling));
  // Only token classifiers use it.
  config.raw("classifier_dropout");
  return {
    vocabulary: config.size("vocab_size"),
    hidden,
    intermediate: config.size("intermediate_size"),
    layers: config.size("num_hidden_layers"),
    heads,
    eps: config.number("layer_norm_eps", 1e-5),
    activation: activationOf(config, "hidden_act", "gelu"),
    rotary: rotarySpec({
      size: Math.floor((hidden / heads) * share),
      base,
      scaling,
      trained: config.size("max_position_embeddings", 2048),
    }),
    isParallel: config.flag("use_parallel_residual", true),
    hasBias: config.flag("attention_bias", true),
    dropout: {
      attention: config.share("attention_dropout", 0),
      hidden: config.share("hidden_dropout", 0),
    },
  };
}

class Attention extends FusedAttention {
  constructor(spec: Spec, index: number) {
    super(spec, index, 3 * spec.hidden);
  }

  // Query, key and value of each head are adjacent.
  protected override heads(fused: eg.Tensor): [q: eg.Tensor, k: eg.Tensor, v: eg.Tensor] {
    const { heads, hidden } = this.spec;
    const [batch, tokens] = fused.shape as [number, number];
    const size = hidden / heads;
    return fused
      .reshape([batch, tokens, heads, 3 * size])
      .transpose(1, 2)
      .split(size, -1) as [eg.Tensor, eg.Tensor, eg.Tensor];
  }
}

class Layer extends eg.nn.Module {
  input_layernorm: eg.nn.LayerNorm;
  post_attention_layernorm: eg.nn.LayerNorm;
  attention: Attention;
  mlp: MLP;

  constructor(
    private readonly spec: Spec,
    index: number,
  ) {
    super();
    const { hidden, eps } = spec;
    this.input_layernorm = new eg.nn.LayerNorm(hidden, { eps });
    this.post_attention_layernorm = new eg.nn.LayerNorm(hidden, { eps });
    this.attention = new Attention(spec, index);
    this.mlp = new MLP(spec);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { isParallel, dropout } = this.spec;
    const dropped = (part: eg.Tensor) => eg.dropout(part, dropout.hidden, this.training);
    const attended = x.add(dropped(this.attention.call(this.input_layernorm.call(x), pass)));
    const read = isParallel ? x : attended;
    return attended.add(dropped(this.mlp.call(this.post_attention_layernorm.call(read))));
  }
}

/** The layers of GPT-NeoX. */
class GPTNeoXModel extends TextDecoder {
  embed_in: Embedding;
  layers: eg.nn.ModuleList<Layer>;
  final_layer_norm: eg.nn.LayerNorm;

  constructor(readonly spec: Spec) {
    super();
    const { vocabulary, hidden, layers, eps } = spec;
    this.embed_in = new Embedding(vocabulary, hidden);
    this.layers = new eg.nn.ModuleList(
      Array.from({ length: layers }, (_, i) => new Layer(spec, i)),
    );
    this.final_layer_norm = new eg.nn.LayerNorm(hidden, { eps });
  }

  protected override embed(ids: eg.Tensor): eg.Tensor {
    return eg.dropout(this.embed_in.call(ids), this.spec.dropout.hidden, this.training);
  }

  protected override run(embedded: eg.Tensor, pass: Pass): eg.Tensor {
    pass.mask();
    rotaryOf(this.spec.rotary, pass);
    const hidden = runBlocks(this.layers, this.gradientCheckpointing, embedded, pass);
    return this.final_layer_norm.call(hidden);
  }
}

/** GPT-NeoX with its head. */
class GPTNeoXForCausalLM extends CausalLanguageModel {
  gpt_neox: GPTNeoXModel;
  embed_out: Projection;

  constructor(config: Config) {
    super();
    const spec = specOf(config);
    this.gpt_neox = new GPTNeoXModel(spec);
    const head = new Linear(spec.hidden, spec.vocabulary, false);
    this.embed_out = head;
    if (config.flag("tie_word_embeddings", false)) {
      head.weight = this.gpt_neox.embed_in.weight;
      this.tieHead("embed_out.weight", "gpt_neox.embed_in.weight");
    }
  }

  protected override get decoder(): GPTNeoXModel {
    return this.gpt_neox;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    return this.embed_out.call(hidden);
  }
}

/** GPT-NeoX, including Pythia. */
export const gptNeoX: Family = {
  prefix: "gpt_neox",
  heads: /^embed_out\./,
  tasks: {
    features: (config) => {
      return new GPTNeoXModel(specOf(config));
    },
    "causal language modeling": (config) => new GPTNeoXForCausalLM(config),
  },
};
