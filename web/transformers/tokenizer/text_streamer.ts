// The text of a generation while it is written.

import type { Streamer } from "../generation/options.js";
import type { PreTrainedTokenizer } from "./tokenizer.js";

/** Passes on the text that a model writes, as soon as it is certain: `generate(ids, { streamer })`. For one text at a time. */
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

  /** Takes the next tokens of each text; only the first text is written. */
  put([first = []]: readonly (readonly number[])[]): void {
    // What the text begins with is known.
    if (!this.#hasPrompt) this.#hasPrompt = true;
    else {
      this.#tokens.push(...first);
      this.#writeUpTo(false);
    }
  }

  /** Writes what is left. */
  end(): void {
    this.#writeUpTo(true);
    this.#tokens = [];
    this.#written = 0;
    this.#hasPrompt = false;
  }

  #writeUpTo(isEnd: boolean): void {
    const text = this.#tokenizer.decode(this.#tokens, { skipSpecialTokens: true });
    // The bytes of a character may come as several tokens, of which the first ones decode to this sign.
    if (!isEnd && text.endsWith("\ufffd")) return;
    if (text.length > this.#written) this.#write(text.slice(this.#written));
    this.#written = text.length;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
