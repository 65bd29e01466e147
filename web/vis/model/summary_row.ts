// The rows and totals of a summary.

/** One module of a summary. Numbers include those of its submodules. */
export interface SummaryRow {
  /** The dotted name of the module, "" for the root. */
  readonly path: string;
  /** The name of its class. */
  readonly type: string;
  /** Its nesting depth: 0 for the root. */
  readonly depth: number;
  /** The number of its calls. */
  readonly calls: number;
  /** The shapes of the input tensors of its last call. */
  readonly inputShapes: readonly (readonly number[])[];
  /** The shapes of the output tensors of its last call. */
  readonly outputShapes: readonly (readonly number[])[];
  /** The number of elements of its parameters. */
  readonly parameters: number;
  /** The number of elements of its parameters that require gradients. */
  readonly trainable: number;
  /** The number of multiply-adds in matrix products and convolutions. */
  readonly multiplyAdds: number;
  /** The bytes of its parameters and buffers. */
  readonly bytes: number;
}

/** The totals of a summary. */
export interface SummaryTotals {
  readonly parameters: number;
  readonly trainable: number;
  readonly multiplyAdds: number;
  readonly bytes: number;
  readonly inputBytes: number;
  readonly outputBytes: number;
}
