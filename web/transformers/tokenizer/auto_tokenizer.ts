// Loads tokenizers from their files.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { type ConfigValues, parseObject } from "../config/config.js";
import { ggufIn, type ModelSource } from "../files/model_source.js";
import { checkOptions, kFunction, kText } from "../options.js";
import type { Sections } from "./batch.js";
import type { TemplateClass, TemplateLike, TokenizerClass } from "./library.js";
import { PreTrainedTokenizer } from "./tokenizer.js";

const kWhere = "AutoTokenizer.fromPretrained";

/** What `AutoTokenizer.fromPretrained` needs. */
export interface TokenizerOptions {
  /** The class of @huggingface/tokenizers. */
  readonly Tokenizer: TokenizerClass;
  /** The class of @huggingface/jinja, for chats. */
  readonly Template?: TemplateClass | undefined;
  /** The name of the GGUF file in the folder to read, instead of tokenizer.json. */
  readonly ggufFile?: string | undefined;
}

const kOptions = { Tokenizer: kFunction, Template: kFunction, ggufFile: kText };

/** Loads tokenizers. */
export const AutoTokenizer = {
  /**
   * Reads the tokenizer of a folder: tokenizer.json, or vocab.json and merges.txt in the layout of GPT-2, and where they exist tokenizer_config.json,
   * special_tokens_map.json, chat_template.jinja and chat_template.json; or that of a GGUF file. Pass in the classes of the libraries that interpret these files: `{ Tokenizer }` of
   * @huggingface/tokenizers, and for chats `{ Template }` of @huggingface/jinja.
   */
  async fromPretrained(
    source: ModelSource,
    options: TokenizerOptions,
  ): Promise<PreTrainedTokenizer> {
    checkOptions(kWhere, options ?? {}, kOptions);
    const { Tokenizer, Template } = options ?? {};
    if (Tokenizer === undefined) {
      const advice = "pass { Tokenizer } of @huggingface/tokenizers";
      fail("InvalidArgument", kWhere, `the class of the tokenizer is missing: ${advice}.`);
    }
    const { values, config, template } = await filesIn(source, options);
    const tokenizer = orFail("tokenizer.json", () => new Tokenizer(values, config));
    const templates = Template ? templatesOf(template, Template) : {};
    return new PreTrainedTokenizer({ tokenizer, config, templates, sections: values as Sections });
  },
};

/** What the files of a tokenizer say. */
interface Files {
  /** The values of tokenizer.json. */
  readonly values: ConfigValues;
  /** The values of tokenizer_config.json. */
  readonly config: ConfigValues;
  /** The chat template, or several with their names. */
  readonly template: unknown;
}

async function filesIn(source: ModelSource, options: TokenizerOptions): Promise<Files> {
  const file = await ggufIn(kWhere, source, options);
  if (file !== null) {
    try {
      const { readTokenizer } = await import("../files/gguf/index.js");
      const { tokenizer, config } = await readTokenizer(file);
      return { values: tokenizer, config, template: config.chat_template };
    } finally {
      await file.close();
    }
  }
  const folder = await eg.io.openFolder(source as eg.io.FolderSource);
  const config = await configIn(folder);
  const values =
    (await objectIn(folder, "tokenizer.json")) ?? (await gpt2Tokenizer(folder, config));
  if (values === null) {
    const message = "there is no tokenizer.json in the folder, nor vocab.json and merges.txt.";
    fail("InvalidArgument", kWhere, message);
  }
  return { values, config, template: await templateIn(folder, config) };
}

async function objectIn(folder: eg.io.Folder, name: string): Promise<ConfigValues | null> {
  const bytes = await folder.bytes(name);
  return bytes && parseObject(kWhere, name, bytes);
}

// Older files have the special tokens in a file of their own, which counts more than their tokenizer_config.json.
async function configIn(folder: eg.io.Folder): Promise<ConfigValues> {
  const own = (await objectIn(folder, "tokenizer_config.json")) ?? {};
  const special = (await objectIn(folder, "special_tokens_map.json")) ?? {};
  return Object.hasOwn(own, "added_tokens_decoder")
    ? { ...special, ...own }
    : { ...own, ...special };
}

async function gpt2Tokenizer(
  folder: eg.io.Folder,
  config: ConfigValues,
): Promise<ConfigValues | null> {
  const vocab = await objectIn(folder, "vocab.json");
  const merges = await folder.bytes("merges.txt");
  if (vocab === null || merges === null) return null;
  const added = (await objectIn(folder, "added_tokens.json")) ?? {};
  const { gpt2Layout } = await import("./gpt2_layout.js");
  return gpt2Layout({ vocab, merges: new TextDecoder().decode(merges), added, config });
}

async function templateIn(folder: eg.io.Folder, config: ConfigValues): Promise<unknown> {
  const bytes = await folder.bytes("chat_template.jinja");
  return (
    (bytes && new TextDecoder().decode(bytes)) ??
    (await objectIn(folder, "chat_template.json"))?.chat_template ??
    config.chat_template
  );
}

function templatesOf(found: unknown, Template: TemplateClass): Record<string, TemplateLike> {
  const named = Array.isArray(found) ? found : [{ name: "default", template: found }];
  return Object.fromEntries(
    named.flatMap(({ name, template }) =>
      typeof template === "string"
        ? [[String(name), orFail("the chat template", () => new Template(template))] as const]
        : [],
    ),
  );
}

// Converts what a library throws to an error of this package.
function orFail<T>(what: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    return fail("InvalidArgument", kWhere, `${what} cannot be read: ${(error as Error).message}.`);
  }
}
