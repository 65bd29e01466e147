// Computes the spectrogram that Whisper reads from the samples of a recording.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { Config, parseObject } from "../config/config.js";
import { checkOptions, kPositive, kText } from "../options.js";
import { melFilters } from "./mel_filters.js";

const kFile = "preprocessor_config.json";
const kOpening = "AutoFeatureExtractor.fromPretrained";
const kWhere = "extract";

/** The highest frequency that Whisper uses, in hertz. */
const kHighest = 8000;

/** The limit on weights of filters; Whisper has 32,000 or 51,200. */
const kMostWeights = 2 ** 24;

/** Samples of one recording, each from -1 to 1. */
export type Samples = Float32Array | readonly number[] | eg.Tensor;

/** Options of `extract`. */
export interface ExtractOptions {
  /** The number of samples per second of the recording. */
  readonly samplingRate: number;
  /** The device of the spectrogram; default "cpu". */
  readonly device?: eg.Device | undefined;
}

/** Computes the spectrograms that Whisper was trained with: `new WhisperFeatureExtractor(values of preprocessor_config.json)`. */
export class WhisperFeatureExtractor {
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

  constructor(values: Readonly<Record<string, unknown>> = {}) {
    const config = new Config(values, "", kFile);
    config.only("feature_extractor_type", "WhisperFeatureExtractor");
    config.only("padding_value", 0);
    config.only("dither", 0);
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
    checkOptions(kWhere, options ?? {}, { samplingRate: kPositive, device: kText });
    const { samplingRate, device = "cpu" } = options ?? {};
    if (samplingRate !== this.samplingRate) {
      const wanted = `recordings of ${this.samplingRate} samples per second`;
      const advice = `Decode them with new AudioContext({ sampleRate: ${this.samplingRate} })`;
      fail("InvalidArgument", kWhere, `expected ${wanted}, got ${samplingRate}. ${advice}.`);
    }
    return eg.noGrad(() =>
      eg.scope(() => {
        const spectrograms = listOf(recordings).map((one) => this.#spectrogramOf(one));
        return eg.stack(spectrograms).to(device);
      }),
    );
  }

  #spectrogramOf(samples: Samples): eg.Tensor {
    const signal = samples instanceof eg.Tensor ? samples.cpu().float() : eg.tensor(samples);
    if (signal.ndim !== 1 || signal.numel === 0) {
      const got = `[${signal.shape.join(", ")}]`;
      const advice = "For several channels, pass their mean.";
      fail("ShapeMismatch", kWhere, `expected the samples of one channel, got ${got}. ${advice}`);
    }
    const missing = this.length - signal.numel;
    if (missing < 0) {
      const [most, got] = [this.length, signal.numel].map((one) => one / this.samplingRate);
      const message = `a spectrogram covers at most ${most} s, and the recording has ${got} s.`;
      fail("InvalidArgument", kWhere, `${message} Pass parts of it, one after the other.`);
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

function listOf(recordings: Samples | readonly Samples[]): readonly Samples[] {
  const isOne =
    recordings instanceof eg.Tensor ||
    ArrayBuffer.isView(recordings) ||
    (Array.isArray(recordings) && typeof recordings[0] === "number");
  const list = (isOne ? [recordings] : recordings) as readonly Samples[];
  if (Array.isArray(list) && list.length > 0) return list;
  return fail("InvalidArgument", kWhere, `expected samples, got ${describe(recordings)}.`);
}

/** Loads feature extractors for speech models. */
export const AutoFeatureExtractor = {
  /** Reads preprocessor_config.json in a folder; rejects with InvalidArgument for a feature extractor other than Whisper's. */
  async fromPretrained(source: eg.io.FolderSource): Promise<WhisperFeatureExtractor> {
    const folder = await eg.io.openFolder(source);
    const bytes = await folder.bytes(kFile);
    if (bytes === null) fail("InvalidArgument", kOpening, `there is no ${kFile} in the folder.`);
    return new WhisperFeatureExtractor(parseObject(kOpening, kFile, bytes));
  },
};
