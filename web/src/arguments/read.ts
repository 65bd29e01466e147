// A call against its declaration.

import { describe, fail } from "../runtime/errors.js";
import { type Rule, type Rules, unchecked, type Values } from "./rule.js";
import { refuseOption } from "./unknown_option.js";

/** Arguments by position, as many as wanted, and the others in one object after them. */
export type Arguments<Positional extends readonly unknown[], Named> = Positional extends [
  infer First,
  ...infer Rest,
]
  ? [] | [options: Named] | [value: First | undefined, ...rest: Arguments<Rest, Named>]
  : [] | [options: Named];

/**
 * Returns the arguments of a call by name: those given by position, then the options of one trailing
 * object, then what was left out. Throws InvalidArgument for one that is unknown, given twice, too many,
 * missing or of the wrong kind.
 */
export function readArguments<R extends Rules>(
  where: string,
  rules: R,
  given: readonly unknown[],
): Values<R> {
  const names = Object.keys(rules);
  const positional = withoutTrailingGaps(given);
  const options = isPlainObject(positional[positional.length - 1]) ? positional.pop() : {};
  if (positional.length > names.length) {
    fail("InvalidArgument", where, `too many arguments: it is called as ${usage(where, rules)}.`);
  }
  const values = new Map(positional.map((value, i) => [names[i] as string, value]));
  for (const [name, value] of Object.entries(options as object)) {
    if (!Object.hasOwn(rules, name)) {
      refuseOption(where, name, names, `It is called as ${usage(where, rules)}.`);
    }
    if (value !== undefined && values.get(name) !== undefined) {
      fail("InvalidArgument", where, `"${name}" was given twice, by position and by name.`);
    }
    if (value !== undefined) values.set(name, value);
  }
  return valuesOf(where, rules, (name) => values.get(name));
}

/**
 * Like readArguments() for what follows a first argument that the caller looks at itself: a plain object in its place
 * is not taken for options.
 */
export function readAfter<R extends Rules>(
  where: string,
  first: string,
  rules: R,
  rest: readonly unknown[],
): Values<R> {
  const values = readArguments(where, { [first]: kAnything, ...rules }, [true, ...rest]);
  const { [first]: _, ...others } = values as Record<string, unknown>;
  return others as Values<R>;
}

/** Like readArguments() for a function whose options cannot be given by position. */
export function readOptions<R extends Rules>(
  where: string,
  rules: R,
  given: readonly unknown[],
): Values<R> {
  const [options = kNoOptions, ...rest] = withoutTrailingGaps(given);
  if (!isPlainObject(options)) {
    const told = `expected an object with the options ${listed(rules)}, got ${describe(options)}.`;
    fail("InvalidArgument", where, told);
  }
  if (rest.length > 0) {
    const told = `too many arguments: all options go into one object ${listed(rules)}.`;
    fail("InvalidArgument", where, told);
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(rules, name)) continue;
    refuseOption(where, name, Object.keys(rules), `Its options are ${listed(rules)}.`);
  }
  return valuesOf(where, rules, (name) => options[name]);
}

const kAnything = /* @__PURE__ */ unchecked<unknown>();

const kNoOptions: Readonly<Record<string, unknown>> = {};

/** Throws InvalidArgument when a function that takes no more arguments was given some. */
export function readNothing(where: string, given: readonly unknown[]): void {
  if (given.length > 0) readArguments(where, {}, given);
}

/** True for an object that is nothing but its properties, as options are. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function withoutTrailingGaps(given: readonly unknown[]): unknown[] {
  const values = [...given];
  while (values.length > 0 && values[values.length - 1] === undefined) values.pop();
  return values;
}

function valuesOf<R extends Rules>(
  where: string,
  rules: R,
  given: (name: string) => unknown,
): Values<R> {
  // A loop, not fromEntries(): steps of training pass here.
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(rules)) {
    values[name] = (rules[name] as Rule<unknown>).check(where, name, given(name));
  }
  return values as Values<R>;
}

function usage(where: string, rules: Rules): string {
  return `${where}(${namesOf(rules).join(", ")})`;
}

function listed(rules: Rules): string {
  return `{ ${namesOf(rules).join(", ")} }`;
}

function namesOf(rules: Rules): string[] {
  return Object.entries(rules).map(([name, rule]) => (rule.isOptional ? `${name}?` : name));
}
