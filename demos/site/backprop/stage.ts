// What is on the screen below a chapter's text: moments that one steps through.

import type { Numbers } from "./inputs_view.js";

/** What is said at a moment. */
export interface Explanation {
  readonly title: string;
  readonly text: string;
}

export interface Stage {
  /** The number of the last moment; the first is 0. */
  readonly last: number;
  /** The numbers that a visitor has set. */
  readonly numbers: Readonly<Numbers>;
  /** Shows a moment and returns what is said there. */
  show(step: number): Explanation;
}
