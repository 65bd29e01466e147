// Options of models that transcribe speech.

import type * as eg from "edgegrad";
import type { Seq2SeqGenerateOptions, Seq2SeqModel } from "./seq2seq.js";

/** Options of `generate` of models that transcribe speech. */
export interface SpeechGenerateOptions extends Seq2SeqGenerateOptions {
  /** The language of the recordings, such as "en"; default: the likeliest one of each recording. */
  readonly language?: string | null | undefined;
  /** "transcribe", the default, or "translate": write in English. */
  readonly task?: "transcribe" | "translate" | undefined;
  /** Write tokens of times before and after each piece of text; default false. */
  readonly returnTimestamps?: boolean | undefined;
}

/** A model that transcribes speech. */
export type SpeechModel = Seq2SeqModel & {
  /** Transcribes spectrograms: resolves to tokens, [batch, tokens], including those that name the language and the task. */
  generate(input: eg.Tensor, options?: SpeechGenerateOptions): Promise<eg.Tensor>;
};
