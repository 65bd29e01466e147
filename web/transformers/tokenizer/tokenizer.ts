// Converts texts and chats to token IDs, and back.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import type { ConfigValues } from "../config/config.js";
import { checkOptions, kFlag, kList, kObject, kText, orNull } from "../options.js";
import type { Example } from "../training/examples.js";
import {
  type BatchOptions,
  batchOf,
  type Sections,
  type TextBatch,
  type TextOrPair,
} from "./batch.js";
import type { TemplateLike, TokenizerLike } from "./library.js";

/** A message of a chat. */
export interface ChatMessage {
  /** The speaker: "system", "user" or "assistant" in most templates. */
  readonly role: string;
  /** The text of the message, or its parts in the form that the template expects. */
  readonly content?: string | readonly object[] | null | undefined;
  /** Whatever else the template reads, such as `tool_calls`. */
  readonly [key: string]: unknown;
}

/** What the files of a tokenizer say. */
export interface TokenizerFiles {
  readonly tokenizer: TokenizerLike;
  readonly config: ConfigValues;
  /** The chat templates by name. */
  readonly templates: Readonly<Record<string, TemplateLike>>;
  /** The sections of tokenizer.json about batches. */
  readonly sections: Sections;
}

/** Options of `encode`. */
export interface EncodeOptions {
  /** Add the tokens with which the model begins and ends texts; default true. */
  readonly addSpecialTokens?: boolean | undefined;
  /** The second text of a pair. */
  readonly textPair?: string | null | undefined;
}

const kEncodeOptions = { addSpecialTokens: kFlag, textPair: orNull(kText) };

/** Options of a chat. */
export interface ChatOptions {
  /** End with the tokens that begin an answer; default false. */
  readonly addGenerationPrompt?: boolean | undefined;
  /** The functions that the model may call, as JSON schemas or in the form that its template expects. */
  readonly tools?: readonly object[] | null | undefined;
  /** The documents that the model may quote. */
  readonly documents?: readonly object[] | null | undefined;
  /** Other values that the template reads, such as `{ enable_thinking: false }`. */
  readonly variables?: Readonly<Record<string, unknown>> | undefined;
  /** The name of the template if the files have several; default: "tool_use" with `tools` if there is one, otherwise "default". */
  readonly template?: string | undefined;
}

const kChatOptions = {
  addGenerationPrompt: kFlag,
  tools: orNull(kList),
  documents: orNull(kList),
  variables: kObject,
  template: kText,
};

/** Converts between texts and the tokens of a model. */
export class PreTrainedTokenizer {
  /** The token that begins texts, or null. */
  readonly bosTokenId: number | null;
  /** The token that ends texts, or null. */
  readonly eosTokenId: number | null;
  /** The padding token; the token that ends texts if there is no separate one. */
  readonly padTokenId: number | null;
  /** The token that stands for a masked one, or null. */
  readonly maskTokenId: number | null;
  readonly #tokenizer: TokenizerLike;
  readonly #config: ConfigValues;
  readonly #templates: Readonly<Record<string, TemplateLike>>;
  readonly #sections: Sections;
  #bytes: ReadonlySet<number> | null = null;

  /** @internal */
  constructor({ tokenizer, config, templates, sections }: TokenizerFiles) {
    this.#tokenizer = tokenizer;
    this.#config = config;
    this.#templates = templates;
    this.#sections = sections;
    this.bosTokenId = this.#special("bos_token");
    this.eosTokenId = this.#special("eos_token");
    this.maskTokenId = this.#special("mask_token");
    const { pad_id: padding } = sections.padding ?? {};
    this.padTokenId = this.#special("pad_token") ?? padding ?? this.eosTokenId;
  }

  /** Returns the ID of a token, or null if the vocabulary does not have it. */
  tokenToId(token: string): number | null {
    return this.#tokenizer.token_to_id(token) ?? null;
  }

  /** Returns the tokens of a text, or of a pair of texts. */
  encode(text: string, options: EncodeOptions = {}): number[] {
    checkOptions("encode", options, kEncodeOptions);
    return [...this.#encoded(text, options.textPair ?? null, options.addSpecialTokens ?? true).ids];
  }

  #encoded(text: string, pair: string | null, isWhole: boolean) {
    if (typeof text !== "string") {
      fail("InvalidArgument", "encode", `expected a string, got ${describe(text)}.`);
    }
    const { ids, token_type_ids: types } = this.#tokenizer.encode(text, {
      text_pair: pair,
      add_special_tokens: isWhole,
      return_token_type_ids: true,
    });
    if (!ids.every((id) => Number.isSafeInteger(id))) {
      fail(
        "InvalidArgument",
        "encode",
        `the vocabulary has no token for a part of ${describe(text)}.`,
      );
    }
    return { ids, types: types ?? ids.map(() => 0) };
  }

  /** Returns the text of tokens; `skipSpecialTokens` omits tokens that are not text. */
  decode(
    ids: readonly number[] | eg.Tensor,
    options: { readonly skipSpecialTokens?: boolean | undefined } = {},
  ): string {
    checkOptions("decode", options, { skipSpecialTokens: kFlag });
    const { skipSpecialTokens = false } = options;
    const numbers = ids instanceof eg.Tensor ? ids.arraySync() : ids;
    const list = [numbers].flat().map(Number);
    if (list.length === 0) return "";
    return this.#tokenizer.decode(list, { skip_special_tokens: skipSpecialTokens });
  }

  /**
   * Returns the tokens of texts, padded to the longest. Texts that are too long lose tokens of their own, not those with which the model begins and ends texts. A
   * pair of texts is a list of two. Lengths and sides are by default what tokenizer.json says.
   */
  batch(texts: readonly TextOrPair[], options: BatchOptions = {}): TextBatch {
    return batchOf(texts, options, {
      encode: (text, pair, isWhole) => this.#encoded(text, pair, isWhole),
      config: this.#config,
      sections: this.#sections,
      padTokenId: this.padTokenId ?? 0,
    });
  }

  /** Returns how many of the first tokens decode to text that later tokens do not change, if the last ones are bytes. @internal */
  countOfSettled(ids: readonly number[]): number {
    this.#bytes ??= new Set(
      Array.from({ length: 256 }, (_, byte) => {
        const name = byte.toString(16).toUpperCase().padStart(2, "0");
        return this.#tokenizer.token_to_id(`<0x${name}>`) ?? -1;
      }),
    );
    const bytes = this.#bytes;
    let count = ids.length;
    while (count > 0 && bytes.has(ids[count - 1] as number)) count--;
    return count;
  }

  /** Returns the text of a chat in the model's chat format. */
  applyChatTemplate(messages: readonly ChatMessage[], options: ChatOptions = {}): string {
    checkOptions("applyChatTemplate", options, kChatOptions);
    const { addGenerationPrompt = false, tools = null, documents = null, variables } = options;
    const tokens = Object.entries(this.#config).flatMap(([name, value]) => {
      const text = name.endsWith("_token") ? textOf(value) : null;
      return text === null ? [] : [[name, text] as const];
    });
    return this.#template(options).render({
      bos_token: "",
      eos_token: "",
      pad_token: "",
      unk_token: "",
      ...Object.fromEntries(tokens),
      ...(tools && { tools }),
      ...(documents && { documents }),
      ...variables,
      messages,
      add_generation_prompt: addGenerationPrompt,
    });
  }

  #template({ template, tools }: ChatOptions): TemplateLike {
    const templates = this.#templates;
    const names = Object.keys(templates);
    const name = template ?? (tools && names.includes("tool_use") ? "tool_use" : "default");
    if (names.length === 0) {
      const advice = "pass the class Template of @huggingface/jinja to fromPretrained()";
      const message = `the tokenizer's files have no chat_template, or it cannot be read: ${advice}.`;
      fail("InvalidArgument", "applyChatTemplate", message);
    }
    if (!names.includes(name)) {
      const message = `there is no template ${describe(name)}; there are ${names.join(", ")}.`;
      fail("InvalidArgument", "applyChatTemplate", message);
    }
    return templates[name] as TemplateLike;
  }

  /**
   * Returns the tokens of a chat, with labels so that a model learns only the answers of the assistant. Throws InvalidArgument if the template changes
   * the text before an answer.
   */
  chatExample(
    messages: readonly ChatMessage[],
    options: Omit<ChatOptions, "addGenerationPrompt"> = {},
  ): Example {
    const inputIds: number[] = [];
    const labels: number[] = [];
    const add = (text: string, isLearned: boolean) => {
      const ids = this.encode(text, { addSpecialTokens: false });
      inputIds.push(...ids);
      labels.push(...(isLearned ? ids : ids.map(() => -100)));
    };
    let done = "";
    const rest = (text: string) => {
      if (!text.startsWith(done)) {
        const message = "the chat template changes what came before an answer.";
        fail("InvalidArgument", "chatExample", message);
      }
      return text.slice(done.length);
    };
    messages.forEach(({ role }, i) => {
      if (role !== "assistant") return;
      const before = this.applyChatTemplate(messages.slice(0, i), {
        ...options,
        addGenerationPrompt: true,
      });
      add(rest(before), false);
      done = before;
      const answered = this.applyChatTemplate(messages.slice(0, i + 1), options);
      add(rest(answered), true);
      done = answered;
    });
    add(rest(this.applyChatTemplate(messages, options)), false);
    return { inputIds, labels };
  }

  #special(name: string): number | null {
    const text = textOf(this.#config[name]);
    return (text === null ? undefined : this.#tokenizer.token_to_id(text)) ?? null;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

// Files write a token as a string, or as an object with its content.
function textOf(value: unknown): string | null {
  const text = typeof value === "object" ? (value as { content?: unknown } | null)?.content : value;
  return typeof text === "string" ? text : null;
}
