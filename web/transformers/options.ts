// Checks of options.

import { describe, fail } from "../errors/errors.js";

type Check = (value: unknown) => boolean;

/** A rule for an option: the expected value for messages, and a check. */
export interface OptionRule {
  readonly expected: string;
  readonly accepts: Check;
}

const rule = (expected: string, accepts: Check): OptionRule => ({ expected, accepts });

/** True or false. */
export const kFlag = rule("true or false", (value) => typeof value === "boolean");
/** An integer that may be 0. */
export const kWhole = rule("a whole number from 0", (value) => isWhole(value));
/** An integer of at least 1. */
export const kCount = rule("a whole number from 1", (value) => isWhole(value) && value !== 0);
/** A number above 0. */
export const kPositive = rule("a number above 0", (value) => isNumber(value) && value > 0);
/** A fraction above 0 and at most 1. */
export const kShare = rule("a number above 0 and up to 1", (value) => {
  return isNumber(value) && value > 0 && value <= 1;
});
/** A fraction from 0 to 1. */
export const kShareOrNothing = rule("a number from 0 to 1", (value) => {
  return isNumber(value) && value >= 0 && value <= 1;
});
/** A number. */
export const kFinite = rule("a number", (value) => isNumber(value));
/** A string. */
export const kText = rule("a string", (value) => typeof value === "string");
/** A function. */
export const kFunction = rule("a function", (value) => typeof value === "function");
/** An object. */
export const kObject = rule("an object", (value) => typeof value === "object" && value !== null);

/** A list. */
export const kList = rule("a list", (value) => Array.isArray(value));

/** One of several values. */
export function oneOf(...values: readonly unknown[]): OptionRule {
  return rule(values.map(describe).join(" or "), (value) => values.includes(value));
}

/** A value that a rule accepts, or null. */
export function orNull({ expected, accepts }: OptionRule): OptionRule {
  return rule(`${expected} or null`, (value) => value === null || accepts(value));
}

const isNumber = (value: unknown): value is number => Number.isFinite(value);

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

/** Throws InvalidArgument unless `options` is an object of the options in `rules`; an undefined option counts as omitted. */
export function checkOptions(
  where: string,
  options: unknown,
  rules: Readonly<Record<string, OptionRule>>,
): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    fail("InvalidArgument", where, `expected an object of options, got ${describe(options)}.`);
  }
  for (const [name, value] of Object.entries(options)) {
    const found = Object.hasOwn(rules, name) ? rules[name] : undefined;
    if (found === undefined) {
      const names = Object.keys(rules).join(", ");
      fail("InvalidArgument", where, `unknown option "${name}"; the options are ${names}.`);
    }
    if (value !== undefined && !found.accepts(value)) {
      fail(
        "InvalidArgument",
        where,
        `${name}: expected ${found.expected}, got ${describe(value)}.`,
      );
    }
  }
}
