// The parts of tokenizer libraries that are used. Programs pass in their classes, so that a page without them builds and does not grow.

/** The class `Tokenizer` of @huggingface/tokenizers. */
export interface TokenizerClass {
  new (tokenizer: object, config: object): TokenizerLike;
}

/** A tokenizer of that class. */
export interface TokenizerLike {
  /** Returns the tokens of a text. */
  encode(
    text: string,
    options?: {
      text_pair?: string | null;
      add_special_tokens?: boolean;
      return_token_type_ids?: boolean;
    },
  ): {
    /** The token IDs. */
    ids: number[];
    /** The text of a pair that each token belongs to, if the post-processor says it. */
    token_type_ids?: number[];
  };
  /** Returns the text of tokens. */
  decode(ids: number[], options?: { skip_special_tokens?: boolean }): string;
  /** Returns the ID of a token; undefined if it does not exist. */
  token_to_id(token: string): number | undefined;
}

/** The class `Template` of @huggingface/jinja. */
export interface TemplateClass {
  new (text: string): TemplateLike;
}

/** A template of that class. */
export interface TemplateLike {
  /** Renders the template with values. */
  render(values: Record<string, unknown>): string;
}
