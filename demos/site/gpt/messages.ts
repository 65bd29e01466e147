// What the worker tells the page.

/** A point of the loss chart: means over the steps since the point before, and on held-out text. */
export interface Point {
  readonly step: number;
  readonly loss: number;
  readonly heldOut: number;
}

/** Characters that were written: they begin a sample, or go on with the one before. */
export interface Written {
  readonly step: number;
  readonly begins: boolean;
  readonly text: string;
}

/** What happened since the report before. */
export interface Report {
  readonly step: number;
  readonly points: readonly Point[];
  readonly written: readonly Written[];
  /** Null where nothing is trained. */
  readonly tokensPerSecond: number | null;
  /** When the model was kept last, in milliseconds since 1970; null before, "never" where that is not possible. */
  readonly keptAt: number | "never" | null;
}
