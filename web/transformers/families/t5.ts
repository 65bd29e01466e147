// T5: an encoder and a decoder with relative position biases.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { type Activation, activationNamed } from "../blocks/activations.js";
import { attend, joinHeads, splitHeads } from "../blocks/attention.js";
import { type CrossSource, crossOf } from "../blocks/cross.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import { Pass } from "../blocks/pass.js";
import { runBlocks } from "../blocks/run_blocks.js";
import type { Config } from "../config/config.js";
import { type FeaturesOutput, PreTrainedModel } from "../model.js";
import { checkIds, type EncoderOptions, encoderOptions } from "../tasks/inputs.js";
import { type DecodeOptions, decoderPass, lastIfAsked, Seq2SeqModel } from "../tasks/seq2seq.js";
import type { Family } from "./family.js";
import { distanceBuckets } from "./t5_distances.js";

interface Spec {
  readonly vocabulary: number;
  readonly hidden: number;
  readonly headSize: number;
  readonly heads: number;
  readonly inner: number;
  readonly layers: number;
  readonly decoderLayers: number;
  readonly buckets: number;
  readonly farthest: number;
  readonly eps: number;
  readonly dropout: number;
  readonly activation: Activation;
  readonly isGated: boolean;
  readonly isTied: boolean;
}

/** What config.json says if it leaves out a key. */
interface Defaults {
  readonly inner: number;
  readonly layers: number;
  readonly heads: number;
  readonly kind: "relu" | "gated-gelu";
  readonly isTied: boolean;
}

const kT5: Defaults = { inner: 2048, layers: 6, heads: 8, kind: "relu", isTied: true };
const kMT5: Defaults = { inner: 1024, layers: 8, heads: 6, kind: "gated-gelu", isTied: false };

function specOf(config: Config, defaults: Defaults): Spec {
  const layers = config.size("num_layers", defaults.layers);
  // Both follow from feed_forward_proj.
  config.raw("dense_act_fn");
  config.raw("is_gated_act");
  config.raw("classifier_dropout");
  // A limit that relative positions do not have.
  config.raw("n_positions");
  const kind = config.choice(
    "feed_forward_proj",
    ["relu", "gated-gelu", "gated-silu"],
    defaults.kind,
  );
  const names = { relu: "relu", "gated-gelu": "gelu_new", "gated-silu": "silu" } as const;
  return {
    vocabulary: config.size("vocab_size"),
    hidden: config.size("d_model", 512),
    headSize: config.size("d_kv", 64),
    heads: config.size("num_heads", defaults.heads),
    inner: config.size("d_ff", defaults.inner),
    layers,
    decoderLayers: config.size("num_decoder_layers", layers),
    buckets: config.size("relative_attention_num_buckets", 32),
    farthest: config.size("relative_attention_max_distance", 128),
    eps: config.number("layer_norm_epsilon", 1e-6),
    dropout: config.share("dropout_rate", 0.1),
    activation: activationNamed(names[kind]),
    isGated: kind !== "relu",
    // Newer files say that the head is tied in any case, and scale the output only if it really is.
    isTied:
      config.flag("tie_word_embeddings", defaults.isTied) &&
      config.flag("scale_decoder_outputs", true),
  };
}

class Attention extends eg.nn.Module {
  q: Projection;
  k: Projection;
  v: Projection;
  o: Projection;
  relative_attention_bias?: Embedding;

  constructor(
    private readonly spec: Spec,
    private readonly index: number,
    hasBias: boolean,
  ) {
    super();
    const { hidden, heads, headSize, buckets } = spec;
    const inner = heads * headSize;
    this.q = new Linear(hidden, inner, false);
    this.k = new Linear(hidden, inner, false);
    this.v = new Linear(hidden, inner, false);
    this.o = new Linear(inner, hidden, false);
    if (hasBias) this.relative_attention_bias = new Embedding(buckets, heads);
  }

  override forward(
    x: eg.Tensor,
    pass: Pass,
    bias: eg.Tensor | null,
    source: CrossSource | null,
  ): eg.Tensor {
    const { heads, dropout } = this.spec;
    const query = splitHeads(this.q.call(x), heads);
    const share = this.training ? dropout : 0;
    if (source !== null) {
      const [key, value] = crossOf(source, this.index, (read) => this.projected(read));
      const { mask } = source;
      const read = eg.scaledDotProductAttention(query, key, value, mask, share, false, 1);
      return this.o.call(joinHeads(read));
    }
    const [key, value] = this.projected(x);
    const options = { pass, layer: this.index, scale: 1, bias, dropout: share };
    return this.o.call(joinHeads(attend(query, key, value, options)));
  }

  /** Returns the relative position bias of the scores: [1, heads, tokens, keys]. */
  bias(pass: Pass, isCausal: boolean): eg.Tensor {
    const { buckets, farthest } = this.spec;
    const table = this.relative_attention_bias as Embedding;
    const numbers = distanceBuckets(pass.past, pass.keys, { isCausal, buckets, farthest });
    const ids = eg.tensor(numbers, { dtype: "int64", device: table.weight.device });
    return table.call(ids).permute([2, 0, 1]).unsqueeze(0);
  }

  private projected(x: eg.Tensor): [keys: eg.Tensor, values: eg.Tensor] {
    const { heads } = this.spec;
    return [splitHeads(this.k.call(x), heads), splitHeads(this.v.call(x), heads)];
  }
}

/** A pre-norm sublayer with a residual connection. */
abstract class Part extends eg.nn.Module {
  layer_norm: eg.nn.RMSNorm;

  constructor(protected readonly spec: Spec) {
    super();
    this.layer_norm = new eg.nn.RMSNorm(spec.hidden, spec.eps);
  }

  protected added(x: eg.Tensor, result: eg.Tensor): eg.Tensor {
    return x.add(eg.dropout(result, this.spec.dropout, this.training));
  }
}

class SelfAttention extends Part {
  SelfAttention: Attention;

  constructor(spec: Spec, index: number) {
    super(spec);
    this.SelfAttention = new Attention(spec, index, index === 0);
  }

  override forward(x: eg.Tensor, pass: Pass, bias: eg.Tensor): eg.Tensor {
    return this.added(x, this.SelfAttention.call(this.layer_norm.call(x), pass, bias, null));
  }
}

class CrossAttention extends Part {
  EncDecAttention: Attention;

  constructor(spec: Spec, index: number) {
    super(spec);
    this.EncDecAttention = new Attention(spec, index, false);
  }

  override forward(x: eg.Tensor, pass: Pass, source: CrossSource): eg.Tensor {
    return this.added(x, this.EncDecAttention.call(this.layer_norm.call(x), pass, null, source));
  }
}

class DenseReluDense extends eg.nn.Module {
  wi?: Projection;
  wi_0?: Projection;
  wi_1?: Projection;
  wo: Projection;

  constructor(private readonly spec: Spec) {
    super();
    const { hidden, inner, isGated } = spec;
    if (isGated) {
      this.wi_0 = new Linear(hidden, inner, false);
      this.wi_1 = new Linear(hidden, inner, false);
    } else {
      this.wi = new Linear(hidden, inner, false);
    }
    this.wo = new Linear(inner, hidden, false);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const { activation, dropout } = this.spec;
    const { wi, wi_0, wi_1 } = this;
    const inner =
      wi_0 && wi_1
        ? activation(wi_0.call(x)).mul(wi_1.call(x))
        : activation((wi as Projection).call(x));
    return this.wo.call(eg.dropout(inner, dropout, this.training));
  }
}

class FeedForward extends Part {
  DenseReluDense: DenseReluDense;

  constructor(spec: Spec) {
    super(spec);
    this.DenseReluDense = new DenseReluDense(spec);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    return this.added(x, this.DenseReluDense.call(this.layer_norm.call(x)));
  }
}

class Block extends eg.nn.Module {
  layer: eg.nn.ModuleList;

  constructor(spec: Spec, index: number, isDecoder: boolean) {
    super();
    const cross = isDecoder ? [new CrossAttention(spec, index)] : [];
    this.layer = new eg.nn.ModuleList([
      new SelfAttention(spec, index),
      ...cross,
      new FeedForward(spec),
    ]);
  }

  /** The self-attention. */
  get attention(): SelfAttention {
    return this.layer.at(0) as SelfAttention;
  }

  override forward(
    x: eg.Tensor,
    pass: Pass,
    bias: eg.Tensor,
    source: CrossSource | null,
  ): eg.Tensor {
    let hidden = this.attention.call(x, pass, bias);
    if (source !== null) {
      hidden = (this.layer.at(1) as CrossAttention).call(hidden, pass, source);
    }
    return (this.layer.at(-1) as FeedForward).call(hidden);
  }
}

class Stack extends eg.nn.Module {
  embed_tokens: Embedding;
  block: eg.nn.ModuleList<Block>;
  final_layer_norm: eg.nn.RMSNorm;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(
    private readonly spec: Spec,
    shared: Embedding,
    private readonly isDecoder: boolean,
  ) {
    super();
    const { layers, decoderLayers, hidden, eps } = spec;
    this.embed_tokens = shared;
    this.block = new eg.nn.ModuleList(
      Array.from(
        { length: isDecoder ? decoderLayers : layers },
        (_, i) => new Block(spec, i, isDecoder),
      ),
    );
    this.final_layer_norm = new eg.nn.RMSNorm(hidden, eps);
  }

  override forward(embedded: eg.Tensor, pass: Pass, source: CrossSource | null): eg.Tensor {
    const { dropout } = this.spec;
    const first = this.block.at(0) as Block;
    const bias = first.attention.SelfAttention.bias(pass, this.isDecoder);
    pass.mask();
    const x = eg.dropout(embedded, dropout, this.training);
    const read = runBlocks(this.block, this.gradientCheckpointing, x, pass, bias, source);
    return eg.dropout(this.final_layer_norm.call(read), dropout, this.training);
  }
}

/** T5 with its head. */
class T5ForConditionalGeneration extends Seq2SeqModel {
  shared: Embedding;
  encoder: Stack;
  decoder: Stack;
  lm_head: Projection;
  private readonly spec: Spec;

  constructor(config: Config, defaults: Defaults) {
    super();
    config.only("is_encoder_decoder", true);
    const spec = specOf(config, defaults);
    this.spec = spec;
    this.shared = new Embedding(spec.vocabulary, spec.hidden);
    this.encoder = new Stack(spec, this.shared, false);
    this.decoder = new Stack(spec, this.shared, true);
    const head = new Linear(spec.hidden, spec.vocabulary, false);
    this.lm_head = head;
    const same = { "encoder.embed_tokens.weight": "shared.weight" };
    this.tied = { ...same, "decoder.embed_tokens.weight": "shared.weight" };
    if (!spec.isTied) return;
    head.weight = this.shared.weight;
    this.tieHead("lm_head.weight", "shared.weight");
  }

  protected override checkInput(input: unknown): asserts input is eg.Tensor {
    checkIds(this.constructor.name, input);
  }

  // Only what a tied head reads is scaled.
  override untiedHead(weight: eg.Tensor): eg.Tensor {
    return weight.mul(this.spec.hidden ** -0.5);
  }

  protected override encode(ids: eg.Tensor, attentionMask: eg.Tensor | null): eg.Tensor {
    const embedded = this.shared.call(ids);
    const pass = new Pass({ ids, like: embedded, isCausal: false, attentionMask });
    return this.encoder.call(embedded, pass, null);
  }

  protected override decode(ids: eg.Tensor, source: CrossSource, rest: DecodeOptions): eg.Tensor {
    const embedded = this.shared.call(ids);
    const hidden = this.decoder.call(embedded, decoderPass(ids, embedded, rest), source);
    const read = lastIfAsked(hidden, rest);
    const { isTied, hidden: size } = this.spec;
    return this.lm_head.call(isTied ? read.mul(size ** -0.5) : read);
  }
}

/** The encoder of T5: its hidden states are the vectors of texts. */
class T5EncoderModel extends PreTrainedModel {
  shared: Embedding;
  encoder: Stack;

  constructor(config: Config, defaults: Defaults) {
    super();
    const spec = specOf(config, defaults);
    config.raw("is_encoder_decoder");
    this.shared = new Embedding(spec.vocabulary, spec.hidden);
    this.encoder = new Stack(spec, this.shared, false);
    this.tied = { "encoder.embed_tokens.weight": "shared.weight" };
  }

  override forward(ids: eg.Tensor, given?: EncoderOptions): FeaturesOutput {
    const options = encoderOptions(this.constructor.name, ids, given);
    const { attentionMask, positionIds, tokenTypeIds } = options;
    if (positionIds || tokenTypeIds) {
      const message = "this family has neither positions nor token types: pass the tokens only.";
      fail("InvalidArgument", this.constructor.name, message);
    }
    const embedded = this.shared.call(ids);
    const pass = new Pass({ ids, like: embedded, isCausal: false, attentionMask });
    return { lastHiddenState: this.encoder.call(embedded, pass, null) };
  }
}

const familyWith = (defaults: Defaults): Family => ({
  prefix: "transformer",
  heads: /^lm_head\./,
  unused: /^(?:decoder|lm_head)\./,
  tasks: {
    features: (config) => new T5EncoderModel(config, defaults),
    "sequence to sequence": (config) => new T5ForConditionalGeneration(config, defaults),
  },
});

/** T5. */
export const t5: Family = familyWith(kT5);

/** mT5. */
export const mt5: Family = familyWith(kMT5);
