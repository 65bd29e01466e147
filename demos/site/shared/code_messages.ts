// The messages between the page and the worker that runs a visitor's code.

/** One printed line and its kind. */
export interface Line {
  readonly kind: "log" | "warning" | "error";
  readonly text: string;
}

/** A point that the code plotted. */
export type Point = readonly [x: number, y: number];

/** The output of the code since the last message. */
export interface Output {
  readonly lines: readonly Line[];
  readonly points: readonly Point[];
}

/** A message from the worker: output, or that the module has ended. */
export type FromCode = Output | "ended";
