// Computes the spectrogram that Whisper reads from the samples of a recording.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { Config } from "../config/config.js";
import { melFilters } from "./mel_filters.js";
import {
  type ExtractOptions,
  type FeatureExtractor,
  kExtracting,
  kFile,
  kOpening,
  readRecordings,
  type Samples,
  type SpeechBatch,
} from "./samples.js";

/** The highest frequency that Whisper uses, in hertz. */
const kHighest = 8000;

/** The limit on weights of filters; Whisper has 32,000 or 51,200. */
const kMostWeights = 2 ** 24;

/** Computes the spectrograms that Whisper was trained with: `new WhisperFeatureExtractor(values of preprocessor_config.json)`. */
export class WhisperFeatureExtractor implements FeatureExtractor {
  /** The number of samples per second that recordings must have. */
  readonly samplingRate: number;
  /** The number of mel frequencies. */
  readonly featureSize: number;
  /** The number of samples of a spectrogram; shorter recordings are padded with silence. */
  readonly length: number;
  readonly #hop: number;
  readonly #size: number;
  readonly #filters: eg.Tensor;
  readonly #window: eg.Tensor;
  readonly #hasMask: boolean;

  constructor(values: Readonly<Record<string, unknown>> = {}) {
    const config = new Config(values, "", kFile);
    config.only("feature_extractor_type", "WhisperFeatureExtractor");
    config.only("padding_value", 0);
    config.only("dither", 0);
    this.#hasMask = config.flag("return_attention_mask", false);
    this.samplingRate = config.size("sampling_rate", 16000);
    this.featureSize = config.size("feature_size", 80);
    this.length = config.size("chunk_length", 30) * this.samplingRate;
    this.#hop = config.size("hop_length", 160);
    this.#size = config.size("n_fft", 400);
    if (this.featureSize * this.#size > kMostWeights) {
      fail("InvalidArgument", kOpening, `${kFile}: feature_size and n_fft are too large.`);
    }
    const sizes = { samplingRate: this.samplingRate, count: this.featureSize, size: this.#size };
    this.#filters = eg.keep(eg.tensor(melFilters({ ...sizes, highest: kHighest })));
    this.#window = eg.keep(eg.hannWindow(this.#size));
  }

  /**
   * Returns the logarithmic mel spectrogram of each recording: [recordings, featureSize, frames]. Throws InvalidArgument for a recording that is longer
   * than a spectrogram, or of another sampling rate.
   */
  extract(recordings: Samples | readonly Samples[], options: ExtractOptions): eg.Tensor {
    return this.batch(recordings, options).inputs;
  }

  /** Returns the spectrograms, and if the files ask for it a mask, which is 0 for frames of silence that was added. */
  batch(recordings: Samples | readonly Samples[], options: ExtractOptions): SpeechBatch {
    const { device = "cpu" } = options ?? {};
    return eg.noGrad(() =>
      eg.scope(() => {
        const list = readRecordings(recordings, options, this.samplingRate);
        const inputs = eg.stack(list.map((signal) => this.#spectrogramOf(signal)));
        const lengths = list.map(({ numel }) => Math.ceil(numel / this.#hop));
        const places = eg.arange(inputs.shape[2] as number);
        const mask = places.lt(eg.tensor(lengths).unsqueeze(1)).to("int64");
        return {
          inputs: inputs.to(device),
          attentionMask: this.#hasMask ? mask.to(device) : null,
        };
      }),
    );
  }

  #spectrogramOf(signal: eg.Tensor): eg.Tensor {
    const missing = this.length - signal.numel;
    if (missing < 0) {
      const [most, got] = [this.length, signal.numel].map((count) => count / this.samplingRate);
      const message = `a spectrogram covers at most ${most} s, and the recording has ${got} s.`;
      fail("InvalidArgument", kExtracting, `${message} Pass parts of it, one after the other.`);
    }
    const spectra = eg.stft(eg.pad(signal, [0, missing]), this.#size, this.#hop, {
      window: this.#window,
      returnComplex: true,
    });
    // The last frame reaches beyond the end.
    const power = spectra
      .narrow(1, 0, (spectra.shape[1] as number) - 1)
      .abs()
      .square();
    const logarithms = this.#filters.matmul(power).clampMin(1e-10).log10();
    const quietest = logarithms.max().sub(8);
    return eg.maximum(logarithms, quietest).add(4).div(4);
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
