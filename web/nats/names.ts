// Names that become parts of subjects and of buckets.

import { refuse } from "../errors/errors.js";

const kName = /^[A-Za-z0-9_-]{1,64}$/;
const kExpected = "1 to 64 letters, digits, hyphens and underscores";

/** Checks that a name can be part of a subject and returns it; throws InvalidArgument otherwise. */
export function nameFrom(where: string, option: string, value: unknown): string {
  if (typeof value === "string" && kName.test(value)) return value;
  return refuse(where, option, kExpected, value);
}

/** Whether a string can be part of a subject. */
export function isName(text: string): boolean {
  return kName.test(text);
}
