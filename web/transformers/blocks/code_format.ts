// How the numbers of a matrix of few bits are stored.

/** The bits of a weight. */
export type Bits = 4 | 8;

/** The layout of a matrix of codes: a code stands for (code - 2^(bits - 1)) * scale + offset. */
export interface CodeFormat {
  readonly bits: Bits;
  /** The number of columns that share a scale, a multiple of 32; null for all. */
  readonly groupSize: number | null;
  /** Whether each group has an offset. */
  readonly hasOffset: boolean;
}

/** Rows of codes, with their scales and offsets. */
export interface CodeRows {
  /** [rows, bytes of a row] */
  readonly codes: Uint8Array;
  /** [rows, groups] */
  readonly scales: Float32Array;
  /** [rows, groups] */
  readonly offsets: Float32Array | null;
}
