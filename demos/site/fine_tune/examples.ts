// Lessons and prompts as tokens.

import { answerExample, type Example, type PreTrainedTokenizer } from "edgegrad/transformers";
import type { Lesson, Pair, Prompt } from "./messages.js";

/** The examples of a lesson, and how many of them were cut. */
export interface Examples {
  readonly examples: readonly Example[];
  readonly cut: number;
}

/** Turns texts into tokens as a model has learned them. */
export class Encoder {
  readonly #tokenizer: PreTrainedTokenizer;
  readonly #hasTemplate: boolean;
  readonly #context: number;

  /** `context` is the most tokens of an example. */
  constructor(tokenizer: PreTrainedTokenizer, hasTemplate: boolean, context: number) {
    this.#tokenizer = tokenizer;
    this.#hasTemplate = hasTemplate;
    this.#context = context;
  }

  /** Returns the examples of a lesson. */
  examplesOf(lesson: Lesson): Examples {
    const whole =
      lesson.kind === "answers"
        ? lesson.pairs.map((pair) => this.#pair(pair))
        : this.#windows(lesson.text);
    const examples = whole.map(({ inputIds, labels }) => ({
      inputIds: inputIds.slice(0, this.#context),
      ...(labels && { labels: labels.slice(0, this.#context) }),
    }));
    return {
      examples,
      cut: whole.filter(({ inputIds: { length } }) => length > this.#context).length,
    };
  }

  /** Returns the tokens of a prompt, of which the last ones are kept if there are too many for `room` more. */
  promptOf({ kind, text }: Prompt, room: number): number[] {
    const tokens = kind === "answers" ? this.#question(text) : this.#tokenizer.encode(text);
    const end = this.#tokenizer.eosTokenId;
    const begun = tokens.length === 0 && end !== null ? [end] : tokens;
    return begun.slice(-Math.max(1, this.#context - room));
  }

  // Halves of windows overlap, so that what is at the beginning of one is seen in its context in another.
  #windows(text: string): Example[] {
    const tokens = this.#tokenizer.encode(text);
    const end = this.#tokenizer.eosTokenId;
    const all = end === null ? tokens : [...tokens, end];
    const windows: Example[] = [];
    for (let start = 0; ; start += this.#context / 2) {
      windows.push({ inputIds: all.slice(start, start + this.#context) });
      if (start + this.#context >= all.length) return windows;
    }
  }

  #pair({ question, answer }: Pair): Example {
    if (this.#hasTemplate) {
      return this.#tokenizer.chatExample([
        { role: "user", content: question },
        { role: "assistant", content: answer },
      ]);
    }
    const end = this.#tokenizer.eosTokenId;
    const tokens = this.#tokenizer.encode(answer, { addSpecialTokens: false });
    return answerExample(this.#question(question), end === null ? tokens : [...tokens, end]);
  }

  #question(question: string): number[] {
    if (!this.#hasTemplate) return this.#tokenizer.encode(`${question}\n`);
    const chat = [{ role: "user", content: question }];
    const text = this.#tokenizer.applyChatTemplate(chat, { addGenerationPrompt: true });
    return this.#tokenizer.encode(text, { addSpecialTokens: false });
  }
}
