// What the layers of tables of vectors take beside their sizes.

import { boolean, number, Rule } from "../../arguments/rule.js";
import { formatFloat, type Printable } from "../module_text.js";

export const kFalse = /* @__PURE__ */ new Rule<false>("false", (value) => value === false);

/** The declaration of what may be done to the vectors that are looked up. */
export const kLookupOptions = {
  /** The largest norm: vectors that are looked up are first scaled down to it, in place. */
  maxNorm: number.orNull(),
  /** The order of that norm; default 2. */
  normType: number.or(2),
  /** Divide the gradient of a vector by how often it was looked up; default false. */
  scaleGradByFreq: boolean.or(false),
};

/** The declaration of `sparse`. */
export const kSparse = {
  /** Nothing but false: gradients are dense. */
  sparse: kFalse.or(false).saying("There are no sparse gradients: leave it out."),
};

/** What the declarations of tables share, with its documentation: what is spread from another file has none in a .d.ts. */
export type LookupRules = typeof kLookupOptions & typeof kSparse;

/** What may be done to the vectors that are looked up. */
export interface Lookup {
  readonly maxNorm: number | null;
  readonly normType: number;
  readonly scaleGradByFreq: boolean;
}

/** Returns these options as a module's text has them: those that are not the defaults. */
export function printedLookup(lookup: Lookup): Record<string, Printable | undefined> {
  const { maxNorm, normType, scaleGradByFreq } = lookup;
  return {
    maxNorm: maxNorm === null ? undefined : formatFloat(maxNorm),
    normType: normType === 2 ? undefined : formatFloat(normType),
    scaleGradByFreq: scaleGradByFreq || undefined,
  };
}
