// The text of a generation while it is generated.

import type { Streamer } from "../generation/options.js";
import type { PreTrainedTokenizer } from "./tokenizer.js";

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
    if (!this.#hasPrompt) this.#hasPrompt = true;
    else {
      this.#tokens.push(...first);
      this.#writeUpTo(false);
    }
  }

  /** Passes on the rest of the text. */
  end(): void {
    this.#writeUpTo(true);
    this.#tokens = [];
    this.#written = 0;
    this.#hasPrompt = false;
  }

  #writeUpTo(isEnd: boolean): void {
    const text = this.#tokenizer.decode(this.#tokens, { skipSpecialTokens: true });
    // The bytes of a character may be spread over several tokens; incomplete ones decode to this replacement character.
    if (!isEnd && text.endsWith("\ufffd")) return;
    if (text.length > this.#written) this.#write(text.slice(this.#written));
    this.#written = text.length;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}
