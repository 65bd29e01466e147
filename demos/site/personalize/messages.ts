// What the page and its worker tell each other.

/** Pictures of [64, 64] pixels with red, green, blue and opacity from 0 to 255. */
export type Pixels = Uint8ClampedArray<ArrayBuffer>;

/** What is to be told apart. */
export interface Lesson {
  readonly names: readonly string[];
  readonly pictures: readonly Pixels[];
  /** For each picture the position of its name. */
  readonly labels: readonly number[];
}

/** What a lesson came to. */
export interface Learned {
  readonly milliseconds: number;
  /**
   * The share of pictures that are recognized by layers that have learned without them; null if there are too few pictures for that.
   */
  readonly accuracy: number | null;
}
