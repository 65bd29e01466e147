// What a page whose last layer learns and its worker tell each other.

/** What is to be told apart. */
export interface Lesson<Example> {
  readonly names: readonly string[];
  readonly examples: readonly Example[];
  /** For each example the position of its name. */
  readonly labels: readonly number[];
}

/** What a lesson came to. */
export interface Learned {
  readonly milliseconds: number;
  /**
   * The share of examples that are recognized by layers that have learned without them; null if there are too few examples for that.
   */
  readonly accuracy: number | null;
}
