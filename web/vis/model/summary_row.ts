// What a summary says of each module, and in all.

/** One module of a summary. Numbers include those of its parts. */
export interface SummaryRow {
  /** The dotted name of the module, "" for the whole one. */
  readonly path: string;
  /** The name of its class. */
  readonly type: string;
  /** How deep it is inside other modules: 0 for the whole one. */
  readonly depth: number;
  /** How often it was called; 0 if it was not. */
  readonly calls: number;
  /** The shapes of the tensors that it got in its last call. */
  readonly inputShapes: readonly (readonly number[])[];
  /** The shapes of the tensors that it returned in its last call. */
  readonly outputShapes: readonly (readonly number[])[];
  /** The number of elements of its parameters. */
  readonly parameters: number;
  /** The number of those that require gradients. */
  readonly trainable: number;
  /** The number of multiplications that are added up, in matrix products and convolutions. */
  readonly multiplyAdds: number;
  /** The bytes of its parameters and buffers. */
  readonly bytes: number;
}

/** What a summary says in all. */
export interface SummaryTotals {
  readonly parameters: number;
  readonly trainable: number;
  readonly multiplyAdds: number;
  readonly bytes: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
}
