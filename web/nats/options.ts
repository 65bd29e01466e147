// Checks of options: each function returns the value, or throws InvalidArgument with the name of the option.

import { fail, refuse } from "../errors/errors.js";

/** Options as they come from a caller. */
export type Given = Readonly<Record<string, unknown>>;

/** Whether a value is a plain object, such as options. */
export function isPlain(value: unknown): value is Given {
  if (typeof value !== "object" || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/** Returns the options of a call; throws for an option that is not in `known`. */
export function readOptions(where: string, known: readonly string[], given: unknown): Given {
  if (!isPlain(given)) refuse(where, "options", "an object", given);
  for (const name of Object.keys(given)) {
    if (known.includes(name)) continue;
    const plain = name.replaceAll("_", "").toLowerCase();
    const near = known.find((option) => option.toLowerCase() === plain);
    const advice = near === undefined ? `There are ${known.join(", ")}.` : `Write ${near}.`;
    fail("InvalidArgument", where, `there is no option "${name}". ${advice}`);
  }
  return given;
}

/** A range of numbers: `least` and `most` are included, `above` and `below` are not. */
export interface Range {
  readonly least?: number;
  readonly above?: number;
  readonly most?: number;
  readonly below?: number;
}

/** Returns a finite number in a range. */
export function numberFrom(
  where: string,
  option: string,
  value: unknown,
  range: Range = {},
): number {
  if (isWithin(value, range)) return value;
  return refuse(where, option, `a number ${textOf(range)}`.trim(), value);
}

/** Returns an integer in a range. */
export function integerFrom(
  where: string,
  option: string,
  value: unknown,
  range: Range = {},
): number {
  if (Number.isSafeInteger(value) && isWithin(value, range)) return value;
  return refuse(where, option, `a whole number ${textOf(range)}`.trim(), value);
}

function isWithin(value: unknown, range: Range): value is number {
  const { least = -Infinity, above = -Infinity, most = Infinity, below = Infinity } = range;
  const isNumber = typeof value === "number" && Number.isFinite(value);
  return isNumber && value >= least && value > above && value <= most && value < below;
}

function textOf({ least, above, most, below }: Range): string {
  const parts = [
    least === undefined ? "" : `of at least ${least}`,
    above === undefined ? "" : `above ${above}`,
    most === undefined ? "" : `of at most ${most}`,
    below === undefined ? "" : `below ${below}`,
  ];
  return parts.filter((part) => part !== "").join(" and ");
}

/** Returns true or false. */
export function booleanFrom(where: string, option: string, value: unknown): boolean {
  return typeof value === "boolean" ? value : refuse(where, option, "true or false", value);
}

/** Returns a function. */
export function functionFrom<F>(where: string, option: string, value: unknown): F {
  if (typeof value !== "function") refuse(where, option, "a function", value);
  return value as F;
}

/** Returns a function, or undefined if there is none. */
export function optionalFunction<F>(where: string, option: string, value: unknown): F | undefined {
  return value === undefined ? undefined : functionFrom<F>(where, option, value);
}

/** Returns an AbortSignal, which may come from another realm, or undefined if there is none. */
export function optionalSignal(where: string, value: unknown): AbortSignal | undefined {
  const { aborted, addEventListener } = Object(value) as Partial<AbortSignal>;
  const isSignal = typeof aborted === "boolean" && typeof addEventListener === "function";
  if (value === undefined || isSignal) return value as AbortSignal | undefined;
  return refuse(where, "signal", "an AbortSignal", value);
}
