// GPT-2: learned positions, pre-LayerNorm, and layers with transposed weights.

import * as eg from "edgegrad";
import { type Activation, activationOf } from "../blocks/activations.js";
import { attend, joinHeads, splitHeads } from "../blocks/attention.js";
import { Conv1D, Embedding, Linear, type Projection } from "../blocks/linear.js";
import type { Pass } from "../blocks/pass.js";
import { runBlocks } from "../blocks/run_blocks.js";
import type { Config } from "../config/config.js";
import { labelsOf } from "../config/labels.js";
import { CausalLanguageModel, TextDecoder } from "../tasks/causal.js";
import { Classifier, type ClassifierOutput } from "../tasks/classifier.js";
import {
  checkPositions,
  classifierOptions,
  type DecoderOptions,
  type TextClassifierOptions,
} from "../tasks/inputs.js";
import type { Family } from "./family.js";
import { lastTokens } from "./last_tokens.js";
import { paddingTokenOf } from "./llama.js";

interface Spec {
  readonly vocabulary: number;
  readonly positions: number;
  readonly hidden: number;
  readonly inner: number;
  readonly layers: number;
  readonly heads: number;
  readonly eps: number;
  readonly activation: Activation;
  readonly isScaled: boolean;
  readonly isScaledByLayer: boolean;
  readonly dropout: {
    readonly attention: number;
    readonly residual: number;
    readonly embedding: number;
  };
  readonly paddingToken: number | null;
}

function specOf(config: Config): Spec {
  const hidden = config.size("n_embd", 768);
  config.only("reorder_and_upcast_attn", false);
  config.only("add_cross_attention", false);
  return {
    vocabulary: config.size("vocab_size"),
    positions: config.size("n_positions", 1024),
    hidden,
    inner: config.size("n_inner", 4 * hidden),
    layers: config.size("n_layer", 12),
    heads: config.size("n_head", 12),
    eps: config.number("layer_norm_epsilon", 1e-5),
    activation: activationOf(config, "activation_function", "gelu_new"),
    isScaled: config.flag("scale_attn_weights", true),
    isScaledByLayer: config.flag("scale_attn_by_inverse_layer_idx", false),
    dropout: {
      attention: config.share("attn_pdrop", 0.1),
      residual: config.share("resid_pdrop", 0.1),
      embedding: config.share("embd_pdrop", 0.1),
    },
    paddingToken: paddingTokenOf(config),
  };
}

class Attention extends eg.nn.Module {
  c_attn: Projection;
  c_proj: Projection;

  constructor(
    private readonly spec: Spec,
    private readonly index: number,
  ) {
    super();
    this.c_attn = new Conv1D(spec.hidden, 3 * spec.hidden);
    this.c_proj = new Conv1D(spec.hidden, spec.hidden);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const { heads, hidden, isScaled, isScaledByLayer, dropout } = this.spec;
    const [q, k, v] = eg
      .chunk(this.c_attn.call(x), 3, -1)
      .map((part) => splitHeads(part, heads)) as [eg.Tensor, eg.Tensor, eg.Tensor];
    const scale = isScaled ? (hidden / heads) ** -0.5 : 1;
    const attended = attend(q, k, v, {
      pass,
      layer: this.index,
      scale: isScaledByLayer ? scale / (this.index + 1) : scale,
      dropout: this.training ? dropout.attention : 0,
    });
    return eg.dropout(this.c_proj.call(joinHeads(attended)), dropout.residual, this.training);
  }
}

class MLP extends eg.nn.Module {
  c_fc: Projection;
  c_proj: Projection;

  constructor(private readonly spec: Spec) {
    super();
    this.c_fc = new Conv1D(spec.hidden, spec.inner);
    this.c_proj = new Conv1D(spec.inner, spec.hidden);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const { activation, dropout } = this.spec;
    const projected = this.c_proj.call(activation(this.c_fc.call(x)));
    return eg.dropout(projected, dropout.residual, this.training);
  }
}

class Block extends eg.nn.Module {
  ln_1: eg.nn.LayerNorm;
  attn: Attention;
  ln_2: eg.nn.LayerNorm;
  mlp: MLP;

  constructor(spec: Spec, index: number) {
    super();
    this.ln_1 = new eg.nn.LayerNorm(spec.hidden, { eps: spec.eps });
    this.attn = new Attention(spec, index);
    this.ln_2 = new eg.nn.LayerNorm(spec.hidden, { eps: spec.eps });
    this.mlp = new MLP(spec);
  }

  override forward(x: eg.Tensor, pass: Pass): eg.Tensor {
    const attended = x.add(this.attn.call(this.ln_1.call(x), pass));
    return attended.add(this.mlp.call(this.ln_2.call(attended)));
  }
}

/** The layers of GPT-2. */
class GPT2Model extends TextDecoder {
  wte: Embedding;
  wpe: Embedding;
  h: eg.nn.ModuleList<Block>;
  ln_f: eg.nn.LayerNorm;

  constructor(readonly spec: Spec) {
    super();
    const { vocabulary, positions, hidden, layers, eps } = spec;
    this.wte = new Embedding(vocabulary, hidden);
    this.wpe = new Embedding(positions, hidden);
    this.h = new eg.nn.ModuleList(Array.from({ length: layers }, (_, i) => new Block(spec, i)));
    this.ln_f = new eg.nn.LayerNorm(hidden, { eps });
  }

  protected override embed(ids: eg.Tensor, { tokenTypeIds }: DecoderOptions): eg.Tensor {
    const words = this.wte.call(ids);
    return tokenTypeIds ? words.add(this.wte.call(tokenTypeIds)) : words;
  }

  protected override run(embedded: eg.Tensor, pass: Pass): eg.Tensor {
    const { positions, dropout } = this.spec;
    checkPositions(this.constructor.name, pass, positions);
    const placed = embedded.add(this.wpe.call(pass.positionIds));
    const x = eg.dropout(placed, dropout.embedding, this.training);
    pass.mask();
    return this.ln_f.call(runBlocks(this.h, this.gradientCheckpointing, x, pass));
  }
}

/** GPT-2 with its head. */
class GPT2LMHeadModel extends CausalLanguageModel {
  transformer: GPT2Model;
  lm_head: Linear;

  constructor(config: Config) {
    super();
    const spec = specOf(config);
    this.transformer = new GPT2Model(spec);
    this.lm_head = new Linear(spec.hidden, spec.vocabulary, false);
    if (config.flag("tie_word_embeddings", true)) {
      this.lm_head.weight = this.transformer.wte.weight;
      this.tieHead("lm_head.weight", "transformer.wte.weight");
    }
  }

  protected override get decoder(): GPT2Model {
    return this.transformer;
  }

  protected override scores(hidden: eg.Tensor): eg.Tensor {
    return this.lm_head.call(hidden);
  }
}

/** GPT-2 that classifies by the last token. */
class GPT2ForSequenceClassification extends Classifier {
  transformer: GPT2Model;
  score: Linear;

  constructor(config: Config) {
    super(labelsOf(config));
    const spec = specOf(config);
    this.transformer = new GPT2Model(spec);
    this.score = new Linear(spec.hidden, this.labels.count, false);
  }

  override forward(ids: eg.Tensor, given?: TextClassifierOptions): ClassifierOutput {
    const { labels, ...options } = classifierOptions(this.constructor.name, ids, given);
    const { lastHiddenState } = this.transformer.call(ids, options);
    const last = lastTokens(lastHiddenState, ids, this.transformer.spec.paddingToken);
    return this.output(this.score.call(last), labels);
  }
}

/** GPT-2. */
export const gpt2: Family = {
  prefix: "transformer",
  heads: /^(?:lm_head|score)\./,
  tasks: {
    features: (config) => new GPT2Model(specOf(config)),
    "causal language modeling": (config) => new GPT2LMHeadModel(config),
    "sequence classification": (config) => new GPT2ForSequenceClassification(config),
  },
};
