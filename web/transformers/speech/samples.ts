// Recordings as samples, which all feature extractors read.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { checkOptions, kPositive, kText } from "../options.js";

/** The file with the settings of a feature extractor. */
export const kFile = "preprocessor_config.json";

/** The names of functions in messages. */
export const kOpening = "AutoFeatureExtractor.fromPretrained";
export const kExtracting = "extract";

/** Samples of one recording, each from -1 to 1. */
export type Samples = Float32Array | readonly number[] | eg.Tensor;

/** Options of `extract` and `batch`. */
export interface ExtractOptions {
  /** The number of samples per second of the recording. */
  readonly samplingRate: number;
  /** The device of the result; default "cpu". */
  readonly device?: eg.Device | undefined;
}

/** What a model of speech reads. */
export interface SpeechBatch {
  /** The spectrograms or samples: [recordings, ...]. */
  readonly inputs: eg.Tensor;
  /** 0 for what was added to shorter recordings, and 1 for all else; null if the model's files ask for none. */
  readonly attentionMask: eg.Tensor | null;
}

/** Turns recordings into the inputs of a model. */
export interface FeatureExtractor {
  /** The number of samples per second that recordings must have. */
  readonly samplingRate: number;
  /** Returns what the model reads: [recordings, ...]. Throws InvalidArgument for recordings of another sampling rate. */
  extract(recordings: Samples | readonly Samples[], options: ExtractOptions): eg.Tensor;
  /** Returns the same with a mask, if the files ask for one. */
  batch(recordings: Samples | readonly Samples[], options: ExtractOptions): SpeechBatch;
}

/** Returns the samples of each recording as float32 on the CPU; throws unless they have the right rate. */
export function readRecordings(
  recordings: Samples | readonly Samples[],
  options: ExtractOptions | undefined,
  rate: number,
): eg.Tensor[] {
  checkOptions(kExtracting, options ?? {}, { samplingRate: kPositive, device: kText });
  const { samplingRate } = options ?? {};
  if (samplingRate !== rate) {
    const wanted = `recordings of ${rate} samples per second`;
    const advice = `Decode them with new AudioContext({ sampleRate: ${rate} })`;
    fail("InvalidArgument", kExtracting, `expected ${wanted}, got ${samplingRate}. ${advice}.`);
  }
  return listOf(recordings).map((samples) => {
    const signal = samples instanceof eg.Tensor ? samples.cpu().float() : eg.tensor(samples);
    if (signal.ndim !== 1 || signal.numel === 0) {
      const got = `[${signal.shape.join(", ")}]`;
      const advice = "For several channels, pass their mean.";
      fail(
        "ShapeMismatch",
        kExtracting,
        `expected the samples of one channel, got ${got}. ${advice}`,
      );
    }
    return signal;
  });
}

function listOf(recordings: Samples | readonly Samples[]): readonly Samples[] {
  const isOne =
    recordings instanceof eg.Tensor ||
    ArrayBuffer.isView(recordings) ||
    (Array.isArray(recordings) && typeof recordings[0] === "number");
  const list = (isOne ? [recordings] : recordings) as readonly Samples[];
  if (Array.isArray(list) && list.length > 0) return list;
  return fail("InvalidArgument", kExtracting, `expected samples, got ${describe(recordings)}.`);
}
