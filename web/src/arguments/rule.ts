// Rules for arguments, from which declarations are built. A declaration lists every argument of a class or
// function once, in PyTorch's order:
//
//   const kArguments = { inFeatures: size, outFeatures: size, bias: boolean.or(true), ...kLayerArguments };
//
// read.ts checks a call against it and fills in the defaults; the types of options are derived from it.

import { adviceForModules, describe, fail, refusal } from "../runtime/errors/errors.js";

/** Returns the end of a message about a value: a space and a sentence, or an empty string. */
type Advice = (value: unknown) => string;

const kNoAdvice: Advice = () => "";

/** The values that one argument may have, and its default. */
export class Rule<T> {
  /** The type of the argument; only declared, the property does not exist at run time. */
  declare readonly type: T;

  constructor(
    /** What messages say is expected, such as "a whole number". */
    readonly expected: string,
    readonly accepts: (value: unknown) => boolean,
    private readonly fallback?: { readonly value: T },
    private readonly advice: Advice = kNoAdvice,
  ) {}

  /** Whether the argument may be left out. */
  get isOptional(): boolean {
    return this.fallback !== undefined;
  }

  /** Returns this rule with the default `value`. */
  or(value: T): Rule<T> {
    return new Rule(this.expected, this.accepts, { value }, this.advice);
  }

  /** Returns this rule, which then also accepts null and has null as its default. */
  orNull(): Rule<T | null> {
    const accepts = (value: unknown) => value === null || this.accepts(value);
    const fallback = { value: null };
    return new Rule<T | null>(`${this.expected} or null`, accepts, fallback, this.advice);
  }

  /** Returns this rule for an argument that may be left out and is then undefined. */
  optional(): Rule<T | undefined> {
    const fallback = { value: undefined };
    return new Rule<T | undefined>(this.expected, this.accepts, fallback, this.advice);
  }

  /** Returns this rule with a sentence at the end of its messages. */
  saying(advice: string): Rule<T> {
    return this.advising(() => ` ${advice}`);
  }

  /** Returns this rule with messages that end with the text that `advice` returns for the value. */
  advising(advice: Advice): Rule<T> {
    return new Rule(this.expected, this.accepts, this.fallback, advice);
  }

  /** Returns the end of a message about a value. */
  adviceFor(value: unknown): string {
    return this.advice(value);
  }

  /** Returns the value, or the default if it is undefined; throws InvalidArgument if the rule does not accept it. */
  check(where: string, name: string, value: unknown): T {
    if (value === undefined && this.fallback !== undefined) return this.fallback.value;
    if (value !== undefined && this.accepts(value)) return value as T;
    return fail(
      "InvalidArgument",
      where,
      refusal(name, this.expected, value) + this.adviceFor(value),
    );
  }
}

/** A declaration: the arguments of a class or function by name, in their order. */
export type Rules = Readonly<Record<string, Rule<unknown>>>;

/** The types of the arguments that a declaration describes. */
export type Values<R extends Rules> = {
  -readonly [Name in keyof R]: R[Name] extends Rule<infer T> ? T : never;
};

/** The values of arguments, in the order of their names. */
export type InOrder<R extends Rules, Names extends readonly (keyof R)[]> = {
  -readonly [I in keyof Names]: R[Names[I]] extends Rule<infer T> ? T : never;
};

/** The options that a declaration describes; each may be left out. */
export type Options<R extends Rules> = {
  [Name in keyof R]?: R[Name] extends Rule<infer T> ? T : never;
};

// More than the size of any dimension of a tensor in 4 GiB of memory.
const kMaxSize = 2 ** 31 - 1;

/** True or false; numbers are not accepted. */
export const boolean = new Rule<boolean>("true or false", (value) => typeof value === "boolean");

/** A string. */
export const text = new Rule<string>("a string", (value) => typeof value === "string");

/** A number other than NaN. */
export const number = new Rule<number>("a number", (value) => {
  return typeof value === "number" && !Number.isNaN(value);
});

/** A number above 0. */
export const positive = new Rule<number>("a number above 0", (value) => {
  return typeof value === "number" && value > 0;
});

/** A fraction from 0 to 1. */
export const share = new Rule<number>("a number from 0 to 1", (value) => {
  return typeof value === "number" && value >= 0 && value <= 1;
});

/** A value of an element; NaN is allowed. */
export const element = new Rule<number>("a number", (value) => typeof value === "number");

/** A safe integer. */
export const integer = new Rule<number>("a whole number", (value) => Number.isSafeInteger(value));

/** The size of a dimension, which may be 0. */
export const size = wholeFrom(0);

/** A count of at least 1. */
export const count = wholeFrom(1);

/** A whole number from `low` to the largest size. */
export function wholeFrom(low: number): Rule<number> {
  return new Rule<number>(`a whole number from ${low} to ${kMaxSize}`, (value) => {
    return Number.isInteger(value) && (value as number) >= low && (value as number) <= kMaxSize;
  });
}

/** A number that `rule` accepts, or an array of such numbers. */
export function oneOrMore(rule: Rule<number>): Rule<number | readonly number[]> {
  return new Rule<number | readonly number[]>(`${rule.expected}, or an array of them`, (value) => {
    return Array.isArray(value) ? value.length > 0 && isListOf(rule, value) : rule.accepts(value);
  });
}

// A loop also visits the holes of an array, which every() skips.
function isListOf<T>(rule: Rule<T>, value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  for (const item of value) if (!rule.accepts(item)) return false;
  return true;
}

/** An array of values that a rule accepts. */
export function listOf<T>(rule: Rule<T>): Rule<readonly T[]> {
  const expected = `an array, each element ${rule.expected}`;
  return new Rule<readonly T[]>(expected, (value) => isListOf(rule, value)).advising((value) => {
    if (!Array.isArray(value)) return "";
    const i = value.findIndex((item) => !rule.accepts(item));
    return ` The element at index ${i} is ${describe(value[i])}.`;
  });
}

/** Any value; the code that receives it does the checks. */
export function unchecked<T>(): Rule<T> {
  return new Rule<T>("a value", () => true);
}

/** One of several strings. */
export function oneOf<const T extends string>(...choices: readonly T[]): Rule<T> {
  const listed = choices.map((choice) => JSON.stringify(choice)).join(", ");
  return new Rule<T>(`one of ${listed}`, (value) => choices.includes(value as T));
}

/** A value that either of two rules accepts. */
export function either<A, B>(a: Rule<A>, b: Rule<B>): Rule<A | B> {
  return new Rule<A | B>(`${a.expected}, or ${b.expected}`, (value) => {
    return a.accepts(value) || b.accepts(value);
  });
}

/** A function. */
export function functionOf<F extends (...args: never[]) => unknown>(): Rule<F> {
  const rule = new Rule<F>("a function", (value) => typeof value === "function");
  return rule.advising(adviceForModules);
}
