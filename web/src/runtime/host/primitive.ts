// The conversion of objects by JavaScript's operators. Operators cannot be overloaded: they convert an object to
// a number or a string first, so without an error `a > b` would compare strings and `a * 2` would be NaN.

import { fail } from "../errors/errors.js";

/** The type that an operator requests from an object. */
export type Hint = "string" | "number" | "default";

/** Returns the object as a string where one is requested, as in a template literal; throws with `advice` elsewhere. */
export function toPrimitive(object: object, hint: Hint, where: string, advice: string): string {
  if (hint === "string") return String(object.toString());
  fail(
    "InvalidArgument",
    where,
    `JavaScript's operators and Math do not support this object: ${advice}. ` +
      "To convert it to text, use String(value) or a template literal.",
  );
}
