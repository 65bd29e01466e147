// The libraries that read texts, as far as they are used: programs pass their classes, so that a page without them builds and is not larger.

/** The class `Tokenizer` of @huggingface/tokenizers. */
export interface TokenizerClass {
  new (tokenizer: object, config: object): TokenizerLike;
}

/** A tokenizer of that class. */
export interface TokenizerLike {
  /** Returns the tokens of a text. */
  encode(
    text: string,
    options?: { text_pair?: string | null; add_special_tokens?: boolean },
  ): {
    /** The numbers of the tokens. */
    ids: number[];
  };
  /** Returns the text of tokens. */
  decode(ids: number[], options?: { skip_special_tokens?: boolean }): string;
  /** Returns the number of a token; undefined if there is none of that name. */
  token_to_id(token: string): number | undefined;
}

/** The class `Template` of @huggingface/jinja. */
export interface TemplateClass {
  new (text: string): TemplateLike;
}

/** A template of that class. */
export interface TemplateLike {
  /** Returns the text that the template makes of values. */
  render(values: Record<string, unknown>): string;
}
