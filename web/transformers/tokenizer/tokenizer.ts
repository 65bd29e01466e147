// Converts texts and chats to token IDs, and back.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { type ConfigValues, parseObject } from "../config/config.js";
import { checkOptions, kCount, kFlag, kFunction, oneOf } from "../options.js";
import type { Example } from "../training/examples.js";
import type { TemplateClass, TemplateLike, TokenizerClass, TokenizerLike } from "./library.js";

const kWhere = "AutoTokenizer.fromPretrained";

/** A message of a chat. */
export interface ChatMessage {
  /** The speaker: "system", "user" or "assistant" in most templates. */
  readonly role: string;
  /** The text of the message. */
  readonly content: string;
}

/** What `AutoTokenizer.fromPretrained` needs. */
export interface TokenizerOptions {
  /** The class of @huggingface/tokenizers. */
  readonly Tokenizer: TokenizerClass;
  /** The class of @huggingface/jinja, for chats. */
  readonly Template?: TemplateClass | undefined;
}

/** Options of a batch of texts. */
export interface BatchOptions {
  /** Add the tokens with which the model begins and ends texts; default true. */
  readonly addSpecialTokens?: boolean | undefined;
  /** The maximum number of tokens of a text, after which it is cut; default: unlimited. */
  readonly maxLength?: number | undefined;
  /** The side of the padding; default: what the tokenizer's files say. For generation it has to be "left". */
  readonly paddingSide?: "left" | "right" | undefined;
}

const kBatchOptions = {
  addSpecialTokens: kFlag,
  maxLength: kCount,
  paddingSide: oneOf("left", "right"),
};

/** Options of a chat. */
export interface ChatOptions {
  /** End with the tokens that begin an answer; default false. */
  readonly addGenerationPrompt?: boolean | undefined;
}

/** Converts between texts and the tokens of a model. */
export class PreTrainedTokenizer {
  /** The token that begins texts, or null. */
  readonly bosTokenId: number | null;
  /** The token that ends texts, or null. */
  readonly eosTokenId: number | null;
  /** The padding token; the token that ends texts if there is no separate one. */
  readonly padTokenId: number | null;
  readonly #tokenizer: TokenizerLike;
  readonly #config: ConfigValues;
  readonly #template: TemplateLike | null;

  /** @internal */
  constructor(tokenizer: TokenizerLike, config: ConfigValues, template: TemplateLike | null) {
    this.#tokenizer = tokenizer;
    this.#config = config;
    this.#template = template;
    this.bosTokenId = this.#special("bos_token");
    this.eosTokenId = this.#special("eos_token");
    this.padTokenId = this.#special("pad_token") ?? this.eosTokenId;
  }

  /** Returns the tokens of a text. */
  encode(
    text: string,
    options: { readonly addSpecialTokens?: boolean | undefined } = {},
  ): number[] {
    checkOptions("encode", options, { addSpecialTokens: kFlag });
    if (typeof text !== "string") {
      fail("InvalidArgument", "encode", `expected a string, got ${describe(text)}.`);
    }
    const { addSpecialTokens = true } = options;
    const { ids } = this.#tokenizer.encode(text, { add_special_tokens: addSpecialTokens });
    if (!ids.every((id) => Number.isSafeInteger(id))) {
      fail(
        "InvalidArgument",
        "encode",
        `the vocabulary has no token for a part of ${describe(text)}.`,
      );
    }
    return [...ids];
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
    return this.#tokenizer.decode(list, { skip_special_tokens: skipSpecialTokens });
  }

  /** Returns the tokens of texts, padded to the longest: [texts, tokens] each. */
  batch(
    texts: readonly string[],
    options: BatchOptions = {},
  ): {
    /** The tokens, int64 of shape [texts, longest]. */
    inputIds: eg.Tensor;
    /** 1 where there is a token and 0 where there is padding, of the same shape. */
    attentionMask: eg.Tensor;
  } {
    checkOptions("batch", options, kBatchOptions);
    const { addSpecialTokens, maxLength = Number.POSITIVE_INFINITY } = options;
    const rows = texts.map((text) => this.encode(text, { addSpecialTokens }).slice(0, maxLength));
    const longest = Math.max(...rows.map(({ length }) => length));
    if (!(longest > 0)) fail("InvalidArgument", "batch", "expected at least one text with tokens.");
    const side = options.paddingSide ?? this.#config.padding_side ?? "right";
    const fill = this.padTokenId ?? 0;
    const filled = (row: readonly number[], value: number) => {
      const rest = new Array<number>(longest - row.length).fill(value);
      return side === "left" ? [...rest, ...row] : [...row, ...rest];
    };
    const whole = { dtype: "int64" } as const;
    return {
      inputIds: eg.tensor(
        rows.map((row) => filled(row, fill)),
        whole,
      ),
      attentionMask: eg.tensor(
        rows.map((row) => filled(row.fill(1), 0)),
        whole,
      ),
    };
  }

  /** Returns the text of a chat in the model's chat format. */
  applyChatTemplate(messages: readonly ChatMessage[], options: ChatOptions = {}): string {
    checkOptions("applyChatTemplate", options, { addGenerationPrompt: kFlag });
    if (this.#template === null) {
      const advice = "pass the class Template of @huggingface/jinja to fromPretrained()";
      const message = `the tokenizer's files have no chat_template, or it cannot be read: ${advice}.`;
      fail("InvalidArgument", "applyChatTemplate", message);
    }
    const { addGenerationPrompt = false } = options;
    const tokens = ["bos_token", "eos_token", "pad_token", "unk_token"];
    return this.#template.render({
      messages,
      add_generation_prompt: addGenerationPrompt,
      ...Object.fromEntries(tokens.map((name) => [name, textOf(this.#config[name]) ?? ""])),
    });
  }

  /**
   * Returns the tokens of a chat, with labels so that a model learns only the answers of the assistant. Throws InvalidArgument if the template changes
   * the text before an answer.
   */
  chatExample(messages: readonly ChatMessage[]): Example {
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
      const before = this.applyChatTemplate(messages.slice(0, i), { addGenerationPrompt: true });
      add(rest(before), false);
      done = before;
      const answered = this.applyChatTemplate(messages.slice(0, i + 1));
      add(rest(answered), true);
      done = answered;
    });
    add(rest(this.applyChatTemplate(messages)), false);
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

/** Loads tokenizers. */
export const AutoTokenizer = {
  /**
   * Reads the tokenizer of a folder (tokenizer.json, tokenizer_config.json, chat_template.jinja). Pass in the classes of the libraries that interpret
   * these files: `{ Tokenizer }` of @huggingface/tokenizers, and for chats `{ Template }` of @huggingface/jinja.
   */
  async fromPretrained(
    source: eg.io.FolderSource,
    options: TokenizerOptions,
  ): Promise<PreTrainedTokenizer> {
    checkOptions(kWhere, options ?? {}, { Tokenizer: kFunction, Template: kFunction });
    const { Tokenizer, Template } = options ?? {};
    if (Tokenizer === undefined) {
      const advice = "pass { Tokenizer } of @huggingface/tokenizers";
      fail("InvalidArgument", kWhere, `the class of the tokenizer is missing: ${advice}.`);
    }
    const folder = await eg.io.openFolder(source);
    const bytes = await folder.bytes("tokenizer.json");
    if (bytes === null) {
      fail("InvalidArgument", kWhere, "there is no tokenizer.json in the folder.");
    }
    const configBytes = await folder.bytes("tokenizer_config.json");
    const config = configBytes
      ? parseObject(kWhere, "tokenizer_config.json", configBytes)
      : ({} as ConfigValues);
    const values = parseObject(kWhere, "tokenizer.json", bytes);
    const tokenizer = orFail("tokenizer.json", () => new Tokenizer(values, config));
    const text = Template && ((await chatTemplateIn(folder)) ?? config.chat_template);
    const template =
      Template && typeof text === "string"
        ? orFail("the chat template", () => new Template(text))
        : null;
    return new PreTrainedTokenizer(tokenizer, config, template);
  },
};

// Converts what a library throws to an error of this package.
function orFail<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    return fail("InvalidArgument", kWhere, `${what} cannot be read: ${(error as Error).message}.`);
  }
}

async function chatTemplateIn(folder: eg.io.Folder): Promise<string | null> {
  const bytes = await folder.bytes("chat_template.jinja");
  return bytes && new TextDecoder().decode(bytes);
}
