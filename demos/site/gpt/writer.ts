// Generates samples, one character after the other.

import type { Learner } from "../../char_model/learner.mjs";
import type { Written } from "./messages.js";

// The number of characters after the prompt.
const kLength = 300;

/** Generates samples that begin with a prompt, one after the other, with the current state of the model. */
export class Writer {
  temperature = 0.8;
  #prompt = "Call me";
  #sample = "";
  #written: Written[] = [];

  /** Starts a new sample with the next character. */
  begin(prompt: string): void {
    this.#prompt = prompt;
    this.#sample = "";
  }

  /** True if the next character starts a sample. */
  get isAtEnd(): boolean {
    return this.#sample === "" || this.#sample.length >= this.#prompt.length + kLength;
  }

  async writeCharacter(learner: Learner): Promise<void> {
    const begins = this.isAtEnd;
    if (begins) this.#sample = this.#prompt;
    const character = await learner.nextCharacter(this.#sample, this.temperature);
    this.#sample += character;
    const text = begins ? this.#sample : character;
    this.#written.push({ step: learner.steps, begins, text });
  }

  /** The text generated since the last call. */
  take(): Written[] {
    return this.#written.splice(0);
  }
}
