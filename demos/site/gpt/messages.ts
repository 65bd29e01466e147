// The messages from the worker to the page.

/** A point of the loss chart: the mean over the steps since the previous point, and the loss on held-out text. */
export interface Point {
  readonly step: number;
  readonly loss: number;
  readonly heldOut: number;
}

/** The training of a model: of an earlier visit, of the model that the page has, or none. */
export interface Past {
  readonly origin: "kept" | "shipped" | "new";
  readonly points: readonly Point[];
  /** What the shipped model writes. */
  readonly sample: string | null;
  /** How many it has. */
  readonly parameters: number | null;
}

/** Generated characters, which start a new sample or continue the current one. */
export interface Written {
  readonly step: number;
  readonly begins: boolean;
  readonly text: string;
}

/** The progress since the previous report. */
export interface Report {
  readonly step: number;
  readonly points: readonly Point[];
  readonly written: readonly Written[];
  /** Null if no training is running. */
  readonly tokensPerSecond: number | null;
  /** When the model was last saved, in milliseconds since 1970; null before that, "never" if saving is not possible. */
  readonly keptAt: number | "never" | null;
}
