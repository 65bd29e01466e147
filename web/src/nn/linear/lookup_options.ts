// The options of layers that look up vectors in a table.

import { boolean, number, Rule } from "../../arguments/rule.js";
import { formatFloat, type Printable } from "../module_text.js";

export const kFalse = /* @__PURE__ */ new Rule<false>("false", (value) => value === false);

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
  /** Only false: gradients are dense. */
  sparse: kFalse.or(false).saying("Sparse gradients are not supported: omit this option."),
};

/** What the declarations of tables share, with its documentation: what is spread from another file has none in a .d.ts. */
export type LookupRules = typeof kLookupOptions & typeof kSparse;

/** Options for the vectors that are looked up. */
export interface Lookup {
  readonly maxNorm: number | null;
  readonly normType: number;
  readonly scaleGradByFreq: boolean;
}

/** Returns the options that a module's text shows: those that are not the defaults. */
export function printedLookup(lookup: Lookup): Record<string, Printable | undefined> {
  const { maxNorm, normType, scaleGradByFreq } = lookup;
  return {
    maxNorm: maxNorm === null ? undefined : formatFloat(maxNorm),
    normType: normType === 2 ? undefined : formatFloat(normType),
    scaleGradByFreq: scaleGradByFreq || undefined,
  };
}
