// What the page and the worker of a visitor's code say to each other.

/** One printed line, and whether it is worse than ordinary. */
export interface Line {
  readonly kind: "log" | "warning" | "error";
  readonly text: string;
}

/** A point that the code plotted. */
export type Point = readonly [x: number, y: number];

/** What the code did since the last message. */
export interface Output {
  readonly lines: readonly Line[];
  readonly points: readonly Point[];
}

/** From the worker: output, or that the module ran to its end. */
export type FromCode = Output | "ended";
