// The text of a generation while it is generated.

import type { Streamer } from "../generation/options.js";
import type { PreTrainedTokenizer } from "./tokenizer.js";

// What later tokens can still change: bytes of an incomplete character, which decode to replacement characters, and what may become the beginning of
// punctuation or of a contraction, from which decoding removes spaces (" .", " n't", " 've", also " n ' t").
const kUnsettled = /(?:[ '][ 'nvr]*)?\ufffd*$/;

/** Passes on generated text as soon as it is final: `generate(ids, { streamer })`. For one text at a time. */
export class TextStreamer implements Streamer {
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #write: (text: string) => void;
  #tokens: number[] = [];
  #written = 0;
  #hasPrompt = false;

  constructor(tokenizer: PreTrainedTokenizer, write: (text: string) => void) {
    this.#tokenizer = tokenizer;
    this.#write = write;
  }

  /** Receives the next tokens of each text; only those of the first text are used. */
  put([first = []]: readonly (readonly number[])[]): void {
    // The first call has the prompt, which is known.
    if (!this.#hasPrompt) {
      this.#hasPrompt = true;
      return;
    }
    this.#tokens.push(...first);
    const settled = this.#tokens.slice(0, this.#tokenizer.countOfSettled(this.#tokens));
    this.#writeUpTo(this.#textOf(settled).replace(kUnsettled, ""));
  }

  /** Passes on the rest of the text. */
  end(): void {
    this.#writeUpTo(this.#textOf(this.#tokens));
    this.#tokens = [];
    this.#written = 0;
    this.#hasPrompt = false;
  }

  #textOf(tokens: readonly number[]): string {
    return this.#tokenizer.decode(tokens, { skipSpecialTokens: true });
  }

  #writeUpTo(text: string): void {
    if (text.length <= this.#written) return;
    this.#write(text.slice(this.#written));
    this.#written = text.length;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
