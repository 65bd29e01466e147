// What an argument may be: the words that declarations are made of. A declaration names every argument
// of a class or function once, in PyTorch's order:
//
//   const kArguments = { inFeatures: size, outFeatures: size, bias: boolean.or(true), ...kLayerArguments };
//
// read.ts checks a call against it and fills in what was left out; the types of options follow from it.

import { adviceForModules, fail, refusal } from "../runtime/errors.js";

/** What messages about a value end with: a sentence after a space, or nothing. */
type Advice = (value: unknown) => string;

const kNoAdvice: Advice = () => "";

/** What one argument may be, and what it is when it is left out. */
export class Rule<T> {
  /** The type of the argument; there is no such property. */
  declare readonly type: T;

  constructor(
    /** What messages call it: "a whole number". */
    readonly expected: string,
    readonly accepts: (value: unknown) => boolean,
    private readonly fallback?: { readonly value: T },
    private readonly advice: Advice = kNoAdvice,
  ) {}

  /** Whether it may be left out. */
  get isOptional(): boolean {
    return this.fallback !== undefined;
  }

  /** The same, `value` when it is left out. */
  or(value: T): Rule<T> {
    return new Rule(this.expected, this.accepts, { value }, this.advice);
  }

  /** The same, or null, which it is when it is left out. */
  orNull(): Rule<T | null> {
    const accepts = (value: unknown) => value === null || this.accepts(value);
    const fallback = { value: null };
    return new Rule<T | null>(`${this.expected} or null`, accepts, fallback, this.advice);
  }

  /** The same, undefined when it is left out. */
  optional(): Rule<T | undefined> {
    const fallback = { value: undefined };
    return new Rule<T | undefined>(this.expected, this.accepts, fallback, this.advice);
  }

  /** The same; messages end with a sentence. */
  saying(advice: string): Rule<T> {
    return this.advising(() => ` ${advice}`);
  }

  /** The same; messages end with what a function says of the value, a sentence after a space or nothing. */
  advising(advice: Advice): Rule<T> {
    return new Rule(this.expected, this.accepts, this.fallback, advice);
  }

  /** What a message about a value ends with. */
  adviceFor(value: unknown): string {
    return this.advice(value);
  }

  /** Returns a value that keeps the rule; throws InvalidArgument for another. */
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

/** The arguments that a declaration describes. */
export type Values<R extends Rules> = {
  -readonly [Name in keyof R]: R[Name] extends Rule<infer T> ? T : never;
};

/** The options that a declaration describes: each may be left out. */
export type Options<R extends Rules> = {
  [Name in keyof R]?: R[Name] extends Rule<infer T> ? T : never;
};

// The longest side that any tensor can have in 4 GiB, and then some.
const kMaxSize = 2 ** 31 - 1;

/** True or false; no number stands for it. */
export const boolean = new Rule<boolean>("true or false", (value) => typeof value === "boolean");

export const text = new Rule<string>("a text", (value) => typeof value === "string");

/** A number; NaN is none. */
export const number = new Rule<number>("a number", (value) => {
  return typeof value === "number" && !Number.isNaN(value);
});

/** A number above 0. */
export const positive = new Rule<number>("a number above 0", (value) => {
  return typeof value === "number" && value > 0;
});

/** A part of a whole. */
export const share = new Rule<number>("a number from 0 to 1", (value) => {
  return typeof value === "number" && value >= 0 && value <= 1;
});

/** A value of an element, NaN too. */
export const element = new Rule<number>("a number", (value) => typeof value === "number");

/** A whole number that is exact. */
export const integer = new Rule<number>("a whole number", (value) => Number.isSafeInteger(value));

/** A size of a dimension, which may be 0. */
export const size = wholeFrom(0);

/** A number of things of which there must be one. */
export const count = wholeFrom(1);

/** A whole number from `low` to the largest size. */
export function wholeFrom(low: number): Rule<number> {
  return new Rule<number>(`a whole number from ${low} to ${kMaxSize}`, (value) => {
    return Number.isInteger(value) && (value as number) >= low && (value as number) <= kMaxSize;
  });
}

/** A number that keeps `rule`, or a list of such numbers. */
export function oneOrMore(rule: Rule<number>): Rule<number | readonly number[]> {
  return new Rule<number | readonly number[]>(`${rule.expected}, or a list of them`, (value) => {
    return Array.isArray(value) ? value.length > 0 && isListOf(rule, value) : rule.accepts(value);
  });
}

// A loop, which meets the holes of a list too.
function isListOf<T>(rule: Rule<T>, value: unknown): boolean {
  if (!Array.isArray(value)) return false;
  for (const one of value) if (!rule.accepts(one)) return false;
  return true;
}

/** A list of values that keep a rule. */
export function listOf<T>(rule: Rule<T>): Rule<readonly T[]> {
  return new Rule<readonly T[]>(`a list, each ${rule.expected}`, (value) => {
    return isListOf(rule, value);
  });
}

/** Anything: what it is passed to looks at it. */
export function unchecked<T>(): Rule<T> {
  return new Rule<T>("a value", () => true);
}

/** One of several texts. */
export function oneOf<const T extends string>(...choices: readonly T[]): Rule<T> {
  const listed = choices.map((choice) => JSON.stringify(choice)).join(", ");
  return new Rule<T>(`one of ${listed}`, (value) => choices.includes(value as T));
}

/** What either of two rules allows. */
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
