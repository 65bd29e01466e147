// The options of layers that look up vectors in a table.

import { boolean, number } from "../../arguments/rule.js";
import { formatFloat, type Printable } from "../module_text.js";

/** The declaration of options for the vectors that are looked up. */
export const kLookupOptions = {
  /** The largest norm: vectors with a larger one are scaled down in place when they are looked up. */
  maxNorm: number.orNull(),
  /** The order of that norm; default 2. */
  normType: number.or(2),
  /** Divide the gradient of a vector by how often it was looked up; default false. */
  scaleGradByFreq: boolean.or(false),
};

/** The declaration of `sparse`. */
export const kSparse = {
  /** Make the gradient of the table a sparse tensor of the vectors that were looked up, for SparseAdam, SGD or Adagrad; default false. */
  sparse: boolean.or(false),
};

/** What the declarations of tables share, with its documentation: what is spread from another file has none in a .d.ts. */
export type LookupRules = typeof kLookupOptions & typeof kSparse;

/** Options for the vectors that are looked up. */
export interface Lookup {
  readonly maxNorm: number | null;
  readonly normType: number;
  readonly scaleGradByFreq: boolean;
  readonly sparse: boolean;
}

/** Returns the options that a module's text shows: those that are not the defaults. */
export function printedLookup(lookup: Lookup): Record<string, Printable | undefined> {
  const { maxNorm, normType, scaleGradByFreq, sparse } = lookup;
  return {
    maxNorm: maxNorm === null ? undefined : formatFloat(maxNorm),
    normType: normType === 2 ? undefined : formatFloat(normType),
    scaleGradByFreq: scaleGradByFreq || undefined,
    sparse: sparse || undefined,
  };
}
