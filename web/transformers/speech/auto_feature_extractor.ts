// Loads the feature extractors of models of speech.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { parseObject } from "../config/config.js";
import { type FeatureExtractor, kFile, kOpening } from "./samples.js";
import { WhisperFeatureExtractor } from "./whisper_extractor.js";

type Make = (values: Readonly<Record<string, unknown>>) => Promise<FeatureExtractor>;

const kKinds: Readonly<Record<string, Make>> = {
  WhisperFeatureExtractor: async (values) => new WhisperFeatureExtractor(values),
  Wav2Vec2FeatureExtractor: async (values) => {
    const { Wav2Vec2FeatureExtractor } = await import("./wav2vec2_extractor.js");
    return new Wav2Vec2FeatureExtractor(values);
  },
};

/** Loads feature extractors for speech models. */
export const AutoFeatureExtractor = {
  /**
   * Reads preprocessor_config.json in a folder: of Whisper, or of models that read samples, such as wav2vec 2.0 and Moonshine. Rejects with InvalidArgument
   * for other feature extractors.
   */
  async fromPretrained<Extractor extends FeatureExtractor = WhisperFeatureExtractor>(
    source: eg.io.FolderSource,
  ): Promise<Extractor> {
    const folder = await eg.io.openFolder(source);
    const bytes = await folder.bytes(kFile);
    if (bytes === null) fail("InvalidArgument", kOpening, `there is no ${kFile} in the folder.`);
    const values = parseObject(kOpening, kFile, bytes);
    const kind = values.feature_extractor_type ?? "WhisperFeatureExtractor";
    const make = typeof kind === "string" && Object.hasOwn(kKinds, kind) ? kKinds[kind] : undefined;
    if (make !== undefined) return (await make(values)) as Extractor;
    const known = Object.keys(kKinds).join(", ");
    const got = `feature_extractor_type is ${describe(kind)}`;
    return fail(
      "InvalidArgument",
      kOpening,
      `${kFile}: ${got}, which is not implemented; it may be ${known}.`,
    );
  },
};
