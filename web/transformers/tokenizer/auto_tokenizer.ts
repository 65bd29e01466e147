// Loads tokenizers from their files.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { type ConfigValues, parseObject } from "../config/config.js";
import { checkOptions, kFunction } from "../options.js";
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
}

/** Loads tokenizers. */
export const AutoTokenizer = {
  /**
   * Reads the tokenizer of a folder: tokenizer.json, or vocab.json and merges.txt in the layout of GPT-2, and where they exist tokenizer_config.json,
   * special_tokens_map.json, chat_template.jinja and chat_template.json. Pass in the classes of the libraries that interpret these files: `{ Tokenizer }` of
   * @huggingface/tokenizers, and for chats `{ Template }` of @huggingface/jinja.
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
    const config = await configIn(folder);
    const values =
      (await objectIn(folder, "tokenizer.json")) ?? (await gpt2Tokenizer(folder, config));
    if (values === null) {
      const message = "there is no tokenizer.json in the folder, nor vocab.json and merges.txt.";
      fail("InvalidArgument", kWhere, message);
    }
    const tokenizer = orFail("tokenizer.json", () => new Tokenizer(values, config));
    const templates = Template ? await templatesIn(folder, config, Template) : {};
    return new PreTrainedTokenizer({ tokenizer, config, templates, sections: values as Sections });
  },
};

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

async function templatesIn(
  folder: eg.io.Folder,
  config: ConfigValues,
  Template: TemplateClass,
): Promise<Record<string, TemplateLike>> {
  const bytes = await folder.bytes("chat_template.jinja");
  const found =
    (bytes && new TextDecoder().decode(bytes)) ??
    (await objectIn(folder, "chat_template.json"))?.chat_template ??
    config.chat_template;
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
