// JavaScript values that C++ holds, and functions that it calls: it knows them by number.
//
// A number given to a native function belongs to C++ from then on, which calls dropValue() when
// nothing refers to it any more.

import { describeError } from "./portable_error.js";

/** A function that C++ calls with words and that answers with words. */
export type WordFunction = (words: readonly number[]) => readonly number[];

/** A value that wants to know when C++ has let go of it. */
export abstract class Droppable {
  readonly #isOne = true;

  /** True for such a value; any other is the user's, and is not touched. */
  static isOne(value: unknown): value is Droppable {
    return typeof value === "object" && value !== null && #isOne in value;
  }

  /** Called once, when nothing of C++ refers to this any more. */
  abstract onDrop(): void;
}

interface HeldFunction {
  readonly fn: WordFunction;
  /** How messages call it. */
  readonly name: string;
}

let values = new Map<number, unknown>();
let lastId = 0;

/** Makes a value, or a WordFunction, known to C++ and returns its number. */
export function holdValue(value: unknown): number {
  values.set(++lastId, value);
  return lastId;
}

/** Makes a function known to C++ and returns its number. */
export function holdFunction(fn: WordFunction, name = ""): number {
  return holdValue({ fn, name } satisfies HeldFunction);
}

/** Returns the function of a number. */
export function heldFunction(id: number): WordFunction {
  return (values.get(id) as HeldFunction).fn;
}

/** Returns the value of a number. */
export function heldValue(id: number): unknown {
  return values.get(id);
}

/** True while C++ holds anything of this thread. */
export function holdsValues(): boolean {
  return values.size > 0;
}

/** Forgets a value. */
export function dropValue(id: number): void {
  const value = values.get(id);
  values.delete(id);
  if (Droppable.isOne(value)) value.onDrop();
}

/** Forgets all values: the module that held them is gone. */
export function dropAllValues(): void {
  values = new Map();
}

/** Returns how messages call a function. */
export function functionName(id: number): string {
  return (values.get(id) as HeldFunction).name || "<anonymous>";
}

/** Returns what a function threw as text, for other threads. */
export function describeThrown(id: number): string {
  return describeError(values.get(id));
}
