// What config.json says about the classes of a classifier.

import type { Config } from "./config.js";

/** The kinds of losses of a classifier. */
export const kProblemTypes = [
  "regression",
  "single_label_classification",
  "multi_label_classification",
] as const;

/** A kind of loss of a classifier. */
export type ProblemType = (typeof kProblemTypes)[number];

/** The classes and the kind of loss of a classifier. */
export interface Labels {
  readonly count: number;
  /** Null if it follows from the labels. */
  readonly problem: ProblemType | null;
}

/** Reads the number of classes and the kind of loss. */
export function labelsOf(config: Config): Labels {
  const names = config.raw("id2label");
  const count = typeof names === "object" && names !== null ? Object.keys(names).length : 2;
  const problem = config.has("problem_type") ? config.choice("problem_type", kProblemTypes) : null;
  return { count: config.size("num_labels", count), problem };
}
