// Brings recordings to one length and loudness, for models that read samples: wav2vec 2.0 and Moonshine.

import * as eg from "edgegrad";
import { Config } from "../config/config.js";
import {
  type ExtractOptions,
  type FeatureExtractor,
  kFile,
  readRecordings,
  type Samples,
  type SpeechBatch,
} from "./samples.js";

/** What keeps silence from being divided by zero. */
const kEps = 1e-7;

/** Pads recordings, and normalizes each if the files say so. */
export class Wav2Vec2FeatureExtractor implements FeatureExtractor {
  /** The number of samples per second that recordings must have. */
  readonly samplingRate: number;
  readonly #isNormal: boolean;
  readonly #hasMask: boolean;
  readonly #filler: number;
  readonly #isLeft: boolean;

  constructor(values: Readonly<Record<string, unknown>> = {}) {
    const config = new Config(values, "", kFile);
    config.only("feature_extractor_type", "Wav2Vec2FeatureExtractor");
    config.only("feature_size", 1);
    this.samplingRate = config.size("sampling_rate", 16000);
    this.#isNormal = config.flag("do_normalize", true);
    this.#hasMask = config.flag("return_attention_mask", false);
    this.#filler = config.number("padding_value", 0);
    this.#isLeft = config.choice("padding_side", ["right", "left"], "right") === "left";
  }

  /** Returns the samples, padded to the longest recording: [recordings, samples]. */
  extract(recordings: Samples | readonly Samples[], options: ExtractOptions): eg.Tensor {
    return this.batch(recordings, options).inputs;
  }

  /** Returns the samples, and a mask if the files ask for one: [recordings, samples]. */
  batch(recordings: Samples | readonly Samples[], options: ExtractOptions): SpeechBatch {
    const { device = "cpu" } = options ?? {};
    return eg.noGrad(() =>
      eg.scope(() => {
        const list = readRecordings(recordings, options, this.samplingRate);
        const length = Math.max(...list.map(({ numel }) => numel));
        const rows = list.map((signal) => this.#row(signal, length));
        const masks = list.map((signal) => this.#padded(eg.ones([signal.numel]), length, 0));
        return {
          inputs: eg.stack(rows).to(device),
          attentionMask: this.#hasMask ? eg.stack(masks).to("int64").to(device) : null,
        };
      }),
    );
  }

  // Without a mask, models were trained with padding that is normalized like all else.
  #row(signal: eg.Tensor, length: number): eg.Tensor {
    const normal = (x: eg.Tensor) => (this.#isNormal ? normalized(x) : x);
    if (this.#hasMask) return this.#padded(normal(signal), length, this.#filler);
    return normal(this.#padded(signal, length, this.#filler));
  }

  #padded(signal: eg.Tensor, length: number, filler: number): eg.Tensor {
    const missing = length - signal.numel;
    return eg.pad(signal, this.#isLeft ? [missing, 0] : [0, missing], "constant", filler);
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

function normalized(x: eg.Tensor): eg.Tensor {
  const centered = x.sub(x.mean());
  return centered.div(centered.square().mean().add(kEps).sqrt());
}
