// Matching the arguments of a call with its declaration.

import { describe, fail } from "../runtime/errors/errors.js";
import { isComplexNumber } from "./complex.js";
import { type Rule, type Rules, unchecked, type Values } from "./rule.js";
import { refuseOption } from "./unknown_option.js";

/**
 * Any number of arguments by position, then an object with the others by name. Editors show the names that `Positional` has: it is taken apart
 * from its end, because a type that is taken off the front of a tuple has no name. Each number of arguments is a form, so that TypeScript
 * compares a wrong call with the one it resembles, and names the option that was meant.
 */
export type Arguments<Positional extends readonly unknown[], Named> =
  | OrUndefined<Positional>
  | BeforeOptions<Positional, Named>
  | (Positional extends readonly [...infer Fewer, unknown] ? Arguments<Fewer, Named> : never);

/** Any number of arguments by position. */
export type Positions<Positional extends readonly unknown[]> = {
  [I in keyof Positional]?: Positional[I] | undefined;
};

/** At least one argument by position, then an object with the others by name. */
export type MixedArguments<
  Positional extends readonly unknown[],
  Named,
> = Positional extends readonly [...infer Fewer, unknown]
  ? BeforeOptions<Positional, Named> | MixedArguments<Fewer, Named>
  : never;

// A type of its own, because TypeScript 5.2 takes no spread of a type that a condition has narrowed.
type BeforeOptions<Positional extends readonly unknown[], Named> = [
  ...OrUndefined<Positional>,
  options: Named,
];

type OrUndefined<Values extends readonly unknown[]> = {
  [I in keyof Values]: Values[I] | undefined;
};

/**
 * The constructor of a class that takes `Required` and then arguments by position or by name. Its forms are overloads, because editors show
 * the parameters of an overload, but of a union of forms only its name.
 */
export interface Constructor<
  Required extends readonly unknown[],
  Positional extends readonly unknown[],
  Named,
  Made,
> {
  new (...given: [...Required, ...Positions<Positional>]): Made;
  new (...given: [...Required, ...MixedArguments<Positional, Named>]): Made;
  // Last, because TypeScript compares a call that fits no form with this one: it names the option that was meant.
  new (...given: [...Required, options?: Named]): Made;
}

/** Like `Arguments`, in as few forms as possible: for `Overloads`. */
export type Forms<Positional extends readonly unknown[], Named> =
  | Positions<Positional>
  | MixedArguments<Positional, Named>
  | [options?: Named];

/** The constructor of a class that takes one of several forms of arguments, as overloads: first those that do not end with options. */
export type Overloads<Given extends readonly unknown[], Made> = OverloadFor<
  Given extends unknown ? (EndsWithOptions<Given> extends true ? never : Given) : never,
  Made
> &
  OverloadFor<
    Given extends unknown ? (EndsWithOptions<Given> extends true ? Given : never) : never,
    Made
  >;

type EndsWithOptions<Form extends readonly unknown[]> =
  Required<Form> extends readonly [...unknown[], infer Last]
    ? Record<never, never> extends Last
      ? true
      : false
    : false;

type OverloadFor<Form extends readonly unknown[], Made> = (
  Form extends unknown
    ? (form: new (...given: Form) => Made) => void
    : never
) extends (forms: infer All) => void
  ? All
  : never;

/**
 * Returns the arguments of a call by name: from their positions, from one trailing object of options, or
 * the defaults of those left out. Throws InvalidArgument for an argument that is unknown, given twice,
 * one too many, missing or of the wrong kind.
 */
export function readArguments<R extends Rules>(
  where: string,
  rules: R,
  given: readonly unknown[],
): Values<R> {
  const names = Object.keys(rules);
  const positional = withoutTrailingGaps(given);
  const options = areOptions(positional[positional.length - 1]) ? positional.pop() : {};
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
 * Like readArguments() for the arguments after a first one that the caller checks itself. A plain object as the first argument
 * is not treated as options.
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

/** Like readArguments() for a function that takes all its arguments in one object. */
export function readOptions<R extends Rules>(
  where: string,
  rules: R,
  given: readonly unknown[],
): Values<R> {
  const [options = kNoOptions, ...rest] = withoutTrailingGaps(given);
  if (!isPlainObject(options)) {
    const message = `expected an object with the options ${optionsText(rules)}, got ${describe(options)}.`;
    fail("InvalidArgument", where, message);
  }
  if (rest.length > 0) {
    const message = `too many arguments: pass all options in one object ${optionsText(rules)}.`;
    fail("InvalidArgument", where, message);
  }
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(rules, name)) continue;
    refuseOption(where, name, Object.keys(rules), `Its options are ${optionsText(rules)}.`);
  }
  return valuesOf(where, rules, (name) => options[name]);
}

const kAnything = /* @__PURE__ */ unchecked<unknown>();

const kNoOptions: Readonly<Record<string, unknown>> = {};

/** Throws InvalidArgument when arguments are passed to a function that takes none, or no more. */
export function readNothing(where: string, given: readonly unknown[]): void {
  if (given.length > 0) readArguments(where, {}, given);
}

/**
 * True for a plain object, such as one with options: its prototype is null or Object.prototype, which may be that of another realm
 * (a frame, a context of node:vm).
 */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  const prototype: object | null = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) return true;
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf");
}

/** True for a plain object with options rather than a complex number. */
export function areOptions(value: unknown): value is Record<string, unknown> {
  return isPlainObject(value) && !isComplexNumber(value);
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
  // A loop is faster than fromEntries(), and training steps run this code.
  const values: Record<string, unknown> = {};
  for (const name of Object.keys(rules)) {
    values[name] = (rules[name] as Rule<unknown>).check(where, name, given(name));
  }
  return values as Values<R>;
}

function usage(where: string, rules: Rules): string {
  return `${where}(${namesOf(rules).join(", ")})`;
}

function optionsText(rules: Rules): string {
  return `{ ${namesOf(rules).join(", ")} }`;
}

function namesOf(rules: Rules): string[] {
  return Object.entries(rules).map(([name, rule]) => (rule.isOptional ? `${name}?` : name));
}
