// What an object is to JavaScript's operators. They turn it into a number or a text and compute with
// that, so `a > b` would compare texts and `a * 2` be NaN; they cannot be overloaded.

import { fail } from "./errors.js";

/** What an operator asks an object for. */
export type Hint = "string" | "number" | "default";

/** Returns the text of an object where text is wanted, as in a template; throws `advice` elsewhere. */
export function toPrimitive(object: object, hint: Hint, where: string, advice: string): string {
  if (hint === "string") return String(object.toString());
  fail(
    "InvalidArgument",
    where,
    `JavaScript's operators and Math cannot compute with it: ${advice}. ` +
      "For its text, write String(value) or a template.",
  );
}
