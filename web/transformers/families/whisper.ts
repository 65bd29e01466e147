// Whisper: an encoder of speech spectrograms, and a decoder that writes the transcript.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { type Activation, activationOf } from "../blocks/activations.js";
import type { CrossSource } from "../blocks/cross.js";
import { Embedding, Linear, type Projection } from "../blocks/linear.js";
import { Pass } from "../blocks/pass.js";
import { ProjectedAttention } from "../blocks/projected_attention.js";
import { runBlocks } from "../blocks/run_blocks.js";
import type { Config } from "../config/config.js";
import { holdEvalMode } from "../generation/eval_mode.js";
import { checkOptions, kFlag, kText, oneOf, orNull } from "../options.js";
import { checkPositions } from "../tasks/inputs.js";
import { type DecodeOptions, decoderPass } from "../tasks/seq2seq.js";
import type { SpeechGenerateOptions } from "../tasks/speech.js";
import { SpeechToTextModel, towers } from "../tasks/speech_to_text.js";
import type { Family } from "./family.js";

/** The encoder's outputs for recordings whose language has been recognized. */
const kEncoded = new WeakMap<eg.Tensor, eg.Tensor>();

const kSpeechOptions = {
  language: orNull(kText),
  task: oneOf("transcribe", "translate"),
  returnTimestamps: kFlag,
};

interface TowerSpec {
  readonly hidden: number;
  readonly inner: number;
  readonly layers: number;
  readonly heads: number;
  readonly positions: number;
  readonly activation: Activation;
  readonly dropout: {
    readonly attention: number;
    readonly activation: number;
    readonly hidden: number;
  };
}

function towerSpec(config: Config, tower: "encoder" | "decoder", positions: string): TowerSpec {
  config.only(`${tower}_layerdrop`, 0);
  return {
    hidden: config.size("d_model"),
    inner: config.size(`${tower}_ffn_dim`),
    layers: config.size(`${tower}_layers`),
    heads: config.size(`${tower}_attention_heads`),
    positions: config.size(positions),
    activation: activationOf(config, "activation_function", "gelu"),
    dropout: {
      attention: config.share("attention_dropout", 0),
      activation: config.share("activation_dropout", 0),
      hidden: config.share("dropout", 0),
    },
  };
}

class Layer extends eg.nn.Module {
  self_attn: ProjectedAttention;
  self_attn_layer_norm: eg.nn.LayerNorm;
  encoder_attn?: ProjectedAttention;
  encoder_attn_layer_norm?: eg.nn.LayerNorm;
  fc1: Projection;
  fc2: Projection;
  final_layer_norm: eg.nn.LayerNorm;

  constructor(
    private readonly spec: TowerSpec,
    index: number,
    isDecoder: boolean,
  ) {
    super();
    const { hidden, heads, inner, dropout } = spec;
    const sizes = { hidden, heads, hasKeyBias: false, dropout: dropout.attention, index };
    this.self_attn = new ProjectedAttention(sizes);
    this.self_attn_layer_norm = new eg.nn.LayerNorm(hidden);
    if (isDecoder) {
      this.encoder_attn = new ProjectedAttention(sizes);
      this.encoder_attn_layer_norm = new eg.nn.LayerNorm(hidden);
    }
    this.fc1 = new Linear(hidden, inner);
    this.fc2 = new Linear(inner, hidden);
    this.final_layer_norm = new eg.nn.LayerNorm(hidden);
  }

  override forward(x: eg.Tensor, pass: Pass, source: CrossSource | null): eg.Tensor {
    const { activation, dropout } = this.spec;
    const added = (before: eg.Tensor, result: eg.Tensor) =>
      before.add(eg.dropout(result, dropout.hidden, this.training));
    let hidden = added(x, this.self_attn.call(this.self_attn_layer_norm.call(x), pass));
    const { encoder_attn, encoder_attn_layer_norm } = this;
    if (encoder_attn && encoder_attn_layer_norm) {
      const normed = encoder_attn_layer_norm.call(hidden);
      hidden = added(hidden, encoder_attn.call(normed, pass, source));
    }
    const inner = activation(this.fc1.call(this.final_layer_norm.call(hidden)));
    const dropped = eg.dropout(inner, dropout.activation, this.training);
    return added(hidden, this.fc2.call(dropped));
  }
}

abstract class Tower extends eg.nn.Module {
  embed_positions: Embedding;
  layers: eg.nn.ModuleList<Layer>;
  layer_norm: eg.nn.LayerNorm;
  /** Recompute the activations of each layer in backward instead of keeping them. */
  gradientCheckpointing = false;

  constructor(
    protected readonly spec: TowerSpec,
    isDecoder: boolean,
  ) {
    super();
    const { layers, positions, hidden } = spec;
    this.embed_positions = new Embedding(positions, hidden);
    this.layers = new eg.nn.ModuleList(
      Array.from({ length: layers }, (_, i) => new Layer(spec, i, isDecoder)),
    );
    this.layer_norm = new eg.nn.LayerNorm(hidden);
  }

  protected run(embedded: eg.Tensor, pass: Pass, source: CrossSource | null): eg.Tensor {
    pass.mask();
    const x = eg.dropout(embedded, this.spec.dropout.hidden, this.training);
    const read = runBlocks(this.layers, this.gradientCheckpointing, x, pass, source);
    return this.layer_norm.call(read);
  }
}

class Encoder extends Tower {
  conv1: eg.nn.Conv1d;
  conv2: eg.nn.Conv1d;

  constructor(config: Config) {
    const spec = towerSpec(config, "encoder", "max_source_positions");
    super(spec, false);
    const { hidden } = spec;
    this.conv1 = new eg.nn.Conv1d(config.size("num_mel_bins", 80), hidden, 3, { padding: 1 });
    this.conv2 = new eg.nn.Conv1d(hidden, hidden, 3, { stride: 2, padding: 1 });
  }

  override forward(features: eg.Tensor): eg.Tensor {
    const { positions } = this.spec;
    const [, bins, frames] = features.shape as [number, number, number];
    if (bins !== this.conv1.inChannels || frames !== 2 * positions) {
      const wanted = `[batch, ${this.conv1.inChannels}, ${2 * positions}]`;
      const got = `[${features.shape.join(", ")}]`;
      const advice = "Pad or crop the spectrogram.";
      fail("ShapeMismatch", "features", `expected ${wanted}, got ${got}. ${advice}`);
    }
    const read = eg.gelu(this.conv2.call(eg.gelu(this.conv1.call(features))));
    const embedded = read.transpose(1, 2).add(this.embed_positions.weight);
    return this.run(embedded, new Pass({ ids: embedded, like: embedded, isCausal: false }), null);
  }
}

class Decoder extends Tower {
  embed_tokens: Embedding;

  constructor(config: Config) {
    super(towerSpec(config, "decoder", "max_target_positions"), true);
    config.only("scale_embedding", false);
    this.embed_tokens = new Embedding(config.size("vocab_size"), this.spec.hidden);
  }

  override forward(ids: eg.Tensor, source: CrossSource, rest: DecodeOptions): eg.Tensor {
    const words = this.embed_tokens.call(ids);
    const pass = decoderPass(ids, words, rest);
    checkPositions("decoder", pass, this.spec.positions);
    return this.run(words.add(this.embed_positions.call(pass.positionIds)), pass, source);
  }
}

class WhisperModel extends towers(Encoder, Decoder) {}

/** Whisper with its head. */
class WhisperForConditionalGeneration extends SpeechToTextModel<WhisperModel> {
  constructor(config: Config) {
    super(config, WhisperModel);
    config.raw("apply_spec_augment");
    config.raw("num_hidden_layers");
    config.raw("use_weighted_layer_sum");
    config.raw("classifier_proj_size");
    config.raw("median_filter_width");
  }

  /** Transcribes spectrograms: resolves to tokens, [batch, tokens], including those that name the language and the task. */
  override async generate(
    input: eg.Tensor,
    options: SpeechGenerateOptions = {},
  ): Promise<eg.Tensor> {
    const { language, task, returnTimestamps, ...rest } = options;
    const own = { language, task, returnTimestamps };
    checkOptions("generate", own, kSpeechOptions);
    if (rest.decoderInputIds) return super.generate(input, rest);
    this.checkInput(input);
    rest.signal?.throwIfAborted();
    const { languageTokens, timeRules, tokensAfterStart } = await import("./whisper_tokens.js");
    const values = { ...this.config, ...this.generationConfig };
    const after = tokensAfterStart(values, own);
    const [batch] = input.shape as [number];
    const found = after.includes(null)
      ? await this.languagesOf(input, languageTokens(values))
      : new Array<number>(batch).fill(0);
    const rows = found.map((language) => [
      this.firstToken,
      ...after.map((token) => token ?? language),
    ]);
    const decoderInputIds = eg.tensor(rows, { dtype: "int64", device: input.device });
    const processors = [...(rest.logitsProcessors ?? [])];
    if (returnTimestamps) {
      const latest = values.max_initial_timestamp_index;
      processors.push(
        timeRules({
          begin: after.length + 1,
          zero: (values.no_timestamps_token_id as number) + 1,
          end: Number([values.eos_token_id].flat()[0]),
          latestFirst: typeof latest === "number" ? latest : null,
        }),
      );
    }
    try {
      const given = { ...rest, decoderInputIds, logitsProcessors: processors };
      return await super.generate(input, given);
    } finally {
      // If the text has not been begun.
      kEncoded.get(input)?.dispose();
      kEncoded.delete(input);
      decoderInputIds.dispose();
    }
  }

  // The likeliest language of each recording; the output of the encoder is kept for the text.
  private async languagesOf(input: eg.Tensor, tokens: readonly number[]): Promise<number[]> {
    const release = holdEvalMode(this);
    const best = eg.noGrad(() =>
      eg.scope(() => {
        const hidden = eg.keep(this.encode(input));
        kEncoded.set(input, hidden);
        const start = this.startTokens(input.shape[0] as number, input.device);
        const rest = { cache: null, attentionMask: null, isLast: true };
        const scores = this.decode(start, { hidden, mask: null, cache: null }, rest).select(1, 0);
        const places = eg.tensor([...tokens], { dtype: "int64", device: input.device });
        return eg.keep(scores.indexSelect(1, places).argmax(-1));
      }),
    );
    release();
    try {
      const places = (await best.data()) as BigInt64Array;
      return Array.from(places, (place) => tokens[Number(place)] as number);
    } finally {
      best.dispose();
    }
  }

  protected override checkInput(input: unknown): asserts input is eg.Tensor {
    if (input instanceof eg.Tensor && input.ndim === 3 && /float/.test(input.dtype)) return;
    const got = input instanceof eg.Tensor ? `${input.dtype} [${input.shape}]` : describe(input);
    const wanted = "a logarithmic mel spectrogram [batch, bins, frames]";
    fail("ShapeMismatch", this.constructor.name, `expected ${wanted}, got ${got}.`);
  }

  protected override encode(features: eg.Tensor): eg.Tensor {
    const known = kEncoded.get(features);
    kEncoded.delete(features);
    if (known !== undefined) return known;
    return this.model.encoder.call(features.to(this.dtype));
  }
}

/** Whisper. */
export const whisper: Family = {
  prefix: "model",
  heads: /^proj_out\./,
  tasks: { speech: (config) => new WhisperForConditionalGeneration(config) },
};
