// config.json: tracks which keys a family reads, and rejects unread keys that would change results.

import { describe, fail } from "../../errors/errors.js";
import { kDefaults, kWithoutEffect } from "./without_effect.js";

/** The values of a config.json. */
export type ConfigValues = Readonly<Record<string, unknown>>;

/** Returns the object in a JSON file. */
export function parseObject(where: string, name: string, bytes: Uint8Array): ConfigValues {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (error) {
    fail("InvalidArgument", where, `${name} is not JSON: ${(error as Error).message}.`);
  }
  if (!isObject(value)) fail("InvalidArgument", where, `${name} is not an object.`);
  return value;
}

const isObject = (value: unknown): value is ConfigValues =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const isNothing = (value: unknown) => value === undefined || value === null;

// The values of options that are not used.
const isOff = (value: unknown) =>
  isNothing(value) ||
  value === false ||
  (typeof value === "object" && Object.keys(value as object).length === 0);

/** Reads a config and tracks which keys were read. */
export class Config {
  readonly #values: ConfigValues;
  readonly #read = new Set<string>();
  readonly #parts = new Map<string, Config>();

  constructor(
    values: ConfigValues,
    private readonly path = "",
    private readonly file = "config.json",
  ) {
    this.#values = values;
  }

  /** The model family of the config. */
  get modelType(): string {
    return this.text("model_type", "");
  }

  /** The keys of the config. */
  get keys(): string[] {
    return Object.keys(this.#values);
  }

  /** Whether a key has a value other than null. */
  has(key: string): boolean {
    return !isNothing(this.raw(key));
  }

  /** Returns the value of a key as it is. */
  raw(key: string): unknown {
    this.#read.add(key);
    return Object.hasOwn(this.#values, key) ? this.#values[key] : undefined;
  }

  /** Returns an integer of at least 1. */
  size(key: string, fallback?: number): number {
    return this.#value(key, fallback, "a whole number from 1", (value) => {
      return Number.isSafeInteger(value) && (value as number) > 0 && (value as number) < 2 ** 31;
    });
  }

  /** Returns an integer of at least 1, or null. */
  sizeOrNull(key: string): number | null {
    return this.has(key) ? this.size(key) : null;
  }

  /** Returns an integer. */
  whole(key: string, fallback?: number): number {
    return this.#value(key, fallback, "a whole number", Number.isSafeInteger);
  }

  /** Returns a finite number. */
  number(key: string, fallback?: number): number {
    return this.#value(key, fallback, "a number", Number.isFinite);
  }

  /** Returns a finite number, or null. */
  numberOrNull(key: string): number | null {
    return this.has(key) ? this.number(key) : null;
  }

  /** Returns a fraction from 0 to 1. */
  share(key: string, fallback: number): number {
    return this.#value(key, fallback, "a number from 0 to 1", (value) => {
      return typeof value === "number" && value >= 0 && value <= 1;
    });
  }

  /** Returns true or false. */
  flag(key: string, fallback?: boolean): boolean {
    return this.#value(key, fallback, "true or false", (value) => typeof value === "boolean");
  }

  /** Returns a string. */
  text(key: string, fallback?: string): string {
    return this.#value(key, fallback, "a string", (value) => typeof value === "string");
  }

  /** Returns a list of strings, or null. */
  textsOrNull(key: string): readonly string[] | null {
    if (!this.has(key)) return null;
    return this.#value<readonly string[]>(key, undefined, "a list of strings", (value) => {
      return Array.isArray(value) && value.every((item) => typeof item === "string");
    });
  }

  /** Returns a list of integers of a given length, or null. */
  wholesOrNull(key: string, length: number): readonly number[] | null {
    if (!this.has(key)) return null;
    const expected = `${length} whole numbers`;
    return this.#value<readonly number[]>(key, undefined, expected, (value) => {
      return Array.isArray(value) && value.length === length && value.every(Number.isSafeInteger);
    });
  }

  /** Returns a list of positive numbers of a given length. */
  positives(key: string, length: number): readonly number[] {
    return this.#value<readonly number[]>(key, undefined, `${length} numbers above 0`, (value) => {
      const isPositive = (value: unknown) => Number.isFinite(value) && (value as number) > 0;
      return Array.isArray(value) && value.length === length && value.every(isPositive);
    });
  }

  /** Returns a string that must be one of `values`. */
  choice<T extends string>(key: string, values: readonly T[], fallback?: T): T {
    const value = this.text(key, fallback);
    if (!(values as readonly string[]).includes(value)) this.refuse(key, value, values);
    return value as T;
  }

  /** Throws unless a key is missing, null or `only`: other values are not implemented. */
  only(key: string, only: unknown): void {
    const value = this.raw(key);
    if (!isNothing(value) && value !== only) this.refuse(key, value, [only]);
  }

  /** Returns a nested config; `defaults` stand for the keys that it lacks. If `isOptional`, it may be missing itself. */
  part(key: string, isOptional = false, defaults: ConfigValues = {}): Config {
    const value = this.raw(key);
    if (!isObject(value) && !(isOptional && isNothing(value))) {
      this.#wrong(key, "an object", value);
    }
    const known = this.#parts.get(key);
    if (known !== undefined) return known;
    const values = { ...defaults, ...(isObject(value) && value) };
    const part = new Config(values, `${this.path}${key}.`, this.file);
    this.#parts.set(key, part);
    return part;
  }

  /** Throws for a value that is not implemented. */
  refuse(key: string, value: unknown, values: readonly unknown[]): never {
    return fail(
      "InvalidArgument",
      "fromPretrained",
      `${this.file}: ${this.path}${key} is ${describe(value)}, which is not implemented; it may be ${values.map(describe).join(", ")}.`,
    );
  }

  /** Throws for unread keys, unless they have no effect or are in `ignored`. */
  finish(family: string, ignored: readonly string[] = []): void {
    for (const part of this.#parts.values()) part.finish(family, ignored);
    const left = Object.entries(this.#values).filter(
      ([key, value]) =>
        !this.#read.has(key) &&
        !isOff(value) &&
        !kWithoutEffect.has(key) &&
        !(Object.hasOwn(kDefaults, key) && kDefaults[key] === value) &&
        !ignored.includes(this.path + key),
    );
    if (left.length === 0) return;
    const names = left.map(([key, value]) => `${this.path}${key} (${describe(value)})`).join(", ");
    fail(
      "InvalidArgument",
      "fromPretrained",
      `${this.file} has keys that the family "${family}" does not implement: ${names}. If they do not change what the model computes, ` +
        "name them in the option ignoreConfigKeys.",
    );
  }

  #value<T>(
    key: string,
    fallback: T | undefined,
    expected: string,
    accepts: (value: unknown) => boolean,
  ): T {
    const value = this.raw(key);
    if (isNothing(value) && fallback !== undefined) return fallback;
    if (!accepts(value)) this.#wrong(key, expected, value);
    return value as T;
  }

  #wrong(key: string, expected: string, value: unknown): never {
    const got = value === undefined ? "it is missing" : `got ${describe(value)}`;
    fail(
      "InvalidArgument",
      "fromPretrained",
      `${this.file}: ${this.path}${key}: expected ${expected}, ${got}.`,
    );
  }
}
