// Moonshine: speech to text from the samples themselves, with rotary positions.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { type Activation, activationOf } from "../blocks/activations.js";
import { attend, joinHeads, splitHeads } from "../blocks/attention.js";
import { type CrossSource, crossOf } from "../blocks/cross.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import { MLP } from "../blocks/mlp.js";
import { Pass } from "../blocks/pass.js";
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
import { type DecodeOptions, decoderPass } from "../tasks/seq2seq.js";
import { SpeechToTextModel, towers } from "../tasks/speech_to_text.js";
import type { Family } from "./family.js";

/** The number of samples per hidden state. */
const kStride = 64 * 3 * 2;

/** The number of samples that the first hidden state reads. */
const kLeast = 127 + 64 * (7 - 1 + 3 * (3 - 1));

interface TowerSpec {
  readonly hidden: number;
  readonly inner: number;
  readonly layers: number;
  readonly heads: number;
  readonly groups: number;
  readonly hasBias: boolean;
  readonly activation: Activation;
  readonly rotary: RotarySpec;
  /** The number of features that are rotated. */
  readonly turned: number;
  readonly dropout: number;
}

function towerSpec(config: Config, tower: "encoder" | "decoder"): TowerSpec {
  // Zeros that make products faster elsewhere.
  config.raw("pad_head_dim_to_multiple_of");
  const hidden = config.size("hidden_size", 288);
  const heads = config.size(`${tower}_num_attention_heads`, 8);
  const scaling = scalingOf(config);
  const turned = 2 * Math.floor(((hidden / heads) * shareOf(config, scaling, 0.9)) / 2);
  return {
    hidden,
    inner: config.size("intermediate_size", 1152),
    layers: config.size(`${tower}_num_hidden_layers`, 6),
    heads,
    groups: config.size(`${tower}_num_key_value_heads`, heads),
    hasBias: config.flag("attention_bias", false),
    activation: activationOf(config, `${tower}_hidden_act`, tower === "encoder" ? "gelu" : "silu"),
    rotary: rotarySpec({
      size: turned,
      base: baseOf(config, scaling),
      scaling,
      trained: config.size("max_position_embeddings", 512),
    }),
    turned,
    dropout: config.share("attention_dropout", 0),
  };
}

const normOf = ({ hidden }: TowerSpec) => new eg.nn.LayerNorm(hidden, { bias: false });

class Attention extends eg.nn.Module {
  q_proj: Projection;
  k_proj: Projection;
  v_proj: Projection;
  o_proj: Projection;

  constructor(
    private readonly spec: TowerSpec,
    private readonly index: number,
  ) {
    super();
    const { hidden, heads, groups, hasBias } = spec;
    const keys = (hidden / heads) * groups;
    this.q_proj = new Linear(hidden, hidden, hasBias);
    this.k_proj = new Linear(hidden, keys, hasBias);
    this.v_proj = new Linear(hidden, keys, hasBias);
    this.o_proj = new Linear(hidden, hidden, false);
  }

  override forward(x: eg.Tensor, pass: Pass, source: CrossSource | null): eg.Tensor {
    const { heads, groups, hidden, rotary, dropout } = this.spec;
    const scale = (hidden / heads) ** -0.5;
    const share = this.training ? dropout : 0;
    const query = splitHeads(this.q_proj.call(x), heads);
    if (source !== null) {
      const [keys, values] = crossOf(source, this.index, (read) => this.projected(read));
      const shared = (tensor: eg.Tensor) =>
        groups === heads ? tensor : tensor.repeatInterleave(heads / groups, 1);
      const { mask } = source;
      const read = eg.scaledDotProductAttention(
        query,
        shared(keys),
        shared(values),
        mask,
        share,
        false,
        scale,
      );
      return this.o_proj.call(joinHeads(read));
    }
    const [key, value] = this.projected(x);
    const turn = rotaryOf(rotary, pass);
    const options = { pass, layer: this.index, scale, dropout: share };
    const read = attend(turn(this.apart(query)), turn(this.apart(key)), value, options);
    return this.o_proj.call(joinHeads(read));
  }

  private projected(x: eg.Tensor): [keys: eg.Tensor, values: eg.Tensor] {
    const { groups } = this.spec;
    return [splitHeads(this.k_proj.call(x), groups), splitHeads(this.v_proj.call(x), groups)];
  }

  // Neighbors are rotated together: they come to the places where rotaryOf() has pairs. Products of queries and keys do not depend on the order.
  private apart(x: eg.Tensor): eg.Tensor {
    const { turned } = this.spec;
    const width = x.shape.at(-1) as number;
    const pairs = x.narrow(-1, 0, turned).reshape([...x.shape.slice(0, -1), turned / 2, 2]);
    const halves = pairs.transpose(-1, -2).flatten(-2);
    return width === turned ? halves : eg.cat([halves, x.narrow(-1, turned, width - turned)], -1);
  }
}

/** The MLP of the decoder: one half of the first layer gates the other one. */
class GatedMLP extends eg.nn.Module {
  fc1: Projection;
  fc2: Projection;

  constructor(private readonly spec: TowerSpec) {
    super();
    this.fc1 = new Linear(spec.hidden, 2 * spec.inner);
    this.fc2 = new Linear(spec.inner, spec.hidden);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    const [inner, gate] = this.fc1.call(x).chunk(2, -1) as [eg.Tensor, eg.Tensor];
    return this.fc2.call(this.spec.activation(gate).mul(inner));
  }
}

class Layer extends eg.nn.Module {
  self_attn: Attention;
  encoder_attn?: Attention;
  mlp: MLP | GatedMLP;
  input_layernorm: eg.nn.LayerNorm;
  post_attention_layernorm: eg.nn.LayerNorm;
  final_layernorm?: eg.nn.LayerNorm;

  constructor(spec: TowerSpec, index: number, isDecoder: boolean) {
    super();
    this.self_attn = new Attention(spec, index);
    this.mlp = isDecoder ? new GatedMLP(spec) : new MLP(spec.hidden, spec.inner, spec.activation);
    this.input_layernorm = normOf(spec);
    this.post_attention_layernorm = normOf(spec);
    if (!isDecoder) return;
    this.encoder_attn = new Attention(spec, index);
    this.final_layernorm = normOf(spec);
  }

  override forward(x: eg.Tensor, pass: Pass, source: CrossSource | null): eg.Tensor {
    const { encoder_attn, final_layernorm, post_attention_layernorm: middle } = this;
    const first = x.add(this.self_attn.call(this.input_layernorm.call(x), pass, null));
    if (!encoder_attn || !final_layernorm) return first.add(this.mlp.call(middle.call(first)));
    const second = first.add(encoder_attn.call(middle.call(first), pass, source));
    return second.add(this.mlp.call(final_layernorm.call(second)));
  }
}

const layersOf = (spec: TowerSpec, isDecoder: boolean) =>
  new eg.nn.ModuleList(
    Array.from({ length: spec.layers }, (_, i) => new Layer(spec, i, isDecoder)),
  );

class Encoder extends eg.nn.Module {
  conv1: eg.nn.Conv1d;
  conv2: eg.nn.Conv1d;
  conv3: eg.nn.Conv1d;
  groupnorm: eg.nn.GroupNorm;
  layers: eg.nn.ModuleList<Layer>;
  layer_norm: eg.nn.LayerNorm;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;
  private readonly spec: TowerSpec;

  constructor(config: Config) {
    super();
    const spec = towerSpec(config, "encoder");
    const { hidden } = spec;
    this.spec = spec;
    this.conv1 = new eg.nn.Conv1d(1, hidden, 127, { stride: 64, bias: false });
    this.conv2 = new eg.nn.Conv1d(hidden, 2 * hidden, 7, { stride: 3 });
    this.conv3 = new eg.nn.Conv1d(2 * hidden, hidden, 3, { stride: 2 });
    this.groupnorm = new eg.nn.GroupNorm(1, hidden, { eps: 1e-5 });
    this.layers = layersOf(spec, false);
    this.layer_norm = normOf(spec);
  }

  override forward(samples: eg.Tensor, attentionMask: eg.Tensor | null): eg.Tensor {
    const first = this.groupnorm.call(this.conv1.call(samples.unsqueeze(1)).tanh());
    const read = eg.gelu(this.conv3.call(eg.gelu(this.conv2.call(first)))).transpose(1, 2);
    const mask = attentionMask && statesSeen(attentionMask, read.shape[1] as number);
    const pass = new Pass({ ids: read, like: read, isCausal: false, attentionMask: mask });
    pass.mask();
    rotaryOf(this.spec.rotary, pass);
    return this.layer_norm.call(
      runBlocks(this.layers, this.gradientCheckpointing, read, pass, null),
    );
  }
}

// Whether each hidden state begins at a sample that is not padding.
function statesSeen(attentionMask: eg.Tensor, states: number): eg.Tensor {
  const places = eg.arange(states, { dtype: "int64", device: attentionMask.device }).mul(kStride);
  return attentionMask.indexSelect(1, places);
}

class Decoder extends eg.nn.Module {
  embed_tokens: Embedding;
  layers: eg.nn.ModuleList<Layer>;
  norm: eg.nn.LayerNorm;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;
  private readonly spec: TowerSpec;

  constructor(config: Config) {
    super();
    const spec = towerSpec(config, "decoder");
    this.spec = spec;
    this.embed_tokens = new Embedding(config.size("vocab_size", 32768), spec.hidden);
    this.layers = layersOf(spec, true);
    this.norm = normOf(spec);
  }

  override forward(ids: eg.Tensor, source: CrossSource, rest: DecodeOptions): eg.Tensor {
    const words = this.embed_tokens.call(ids);
    const pass = decoderPass(ids, words, rest);
    pass.mask();
    rotaryOf(this.spec.rotary, pass);
    return this.norm.call(runBlocks(this.layers, this.gradientCheckpointing, words, pass, source));
  }
}

class MoonshineModel extends towers(Encoder, Decoder) {}

/** Moonshine with its head. */
class MoonshineForConditionalGeneration extends SpeechToTextModel<MoonshineModel> {
  constructor(config: Config) {
    super(config, MoonshineModel);
  }

  protected override checkInput(input: unknown): asserts input is eg.Tensor {
    const where = this.constructor.name;
    if (!(input instanceof eg.Tensor) || input.ndim !== 2 || !/float/.test(input.dtype)) {
      const got = input instanceof eg.Tensor ? `${input.dtype} [${input.shape}]` : describe(input);
      fail("ShapeMismatch", where, `expected samples [batch, samples], got ${got}.`);
    }
    const samples = input.shape[1] as number;
    if (samples < kLeast) {
      const message = `expected at least ${kLeast} samples, got ${samples}: pad the recording.`;
      fail("ShapeMismatch", where, message);
    }
  }

  protected override encode(samples: eg.Tensor, attentionMask: eg.Tensor | null): eg.Tensor {
    return this.model.encoder.call(samples.to(this.dtype), attentionMask);
  }

  protected override seenBy(attentionMask: eg.Tensor, hidden: eg.Tensor): eg.Tensor {
    return statesSeen(attentionMask, hidden.shape[1] as number);
  }
}

/** Moonshine. */
export const moonshine: Family = {
  prefix: "model",
  heads: /^proj_out\./,
  tasks: { speech: (config) => new MoonshineForConditionalGeneration(config) },
};
