// JavaScript values that C++ holds and functions that it calls. C++ refers to them by number.
//
// A native function that receives such a number takes ownership of it: C++ calls dropValue() when
// nothing refers to the value any more.

import { describeError } from "../errors/portable_error.js";

/** A function that C++ calls: its arguments and results are words of the call frame. */
export type FrameCallback = (words: readonly number[]) => readonly number[];

/** A value that is notified when C++ no longer refers to it. */
export abstract class Droppable {
  readonly #isOne = true;

  /** True for a Droppable. Any other value is the user's, and none of its properties is read. */
  static isOne(value: unknown): value is Droppable {
    return typeof value === "object" && value !== null && #isOne in value;
  }

  /** Called once, when C++ no longer refers to this value. */
  abstract onDrop(): void;
}

interface HeldFunction {
  readonly fn: FrameCallback;
  /** The name used in messages. */
  readonly name: string;
}

let values = new Map<number, unknown>();
let lastId = 0;

/** Registers a value, or a FrameCallback, for C++ and returns its number. */
export function holdValue(value: unknown): number {
  values.set(++lastId, value);
  return lastId;
}

/** Registers a function for C++ and returns its number. */
export function holdFunction(fn: FrameCallback, name = ""): number {
  return holdValue({ fn, name } satisfies HeldFunction);
}

/** Returns the function with a number. */
export function heldFunction(id: number): FrameCallback {
  return (values.get(id) as HeldFunction).fn;
}

/** Returns the value with a number. */
export function heldValue(id: number): unknown {
  return values.get(id);
}

/** Runs a function as if the code called it that has made an asynchronous call. */
export type InContext = <T>(fn: () => T) => T;

const contexts = new Map<number, InContext>();

/** Sets the context of the asynchronous call whose outcome the function with this number gets; undefined once it has ended. */
export function setContext(answer: number, inContext: InContext | undefined): void {
  if (inContext === undefined) contexts.delete(answer);
  else contexts.set(answer, inContext);
}

/** Returns the context of an asynchronous call. */
export function contextOf(answer: number): InContext | undefined {
  return contexts.get(answer);
}

/** True while C++ holds any value of this thread. */
export function holdsValues(): boolean {
  return values.size > 0;
}

/** Removes a value. */
export function dropValue(id: number): void {
  const value = values.get(id);
  values.delete(id);
  if (Droppable.isOne(value)) value.onDrop();
}

/** Removes all values, once the module that held them has stopped. */
export function dropAllValues(): void {
  values = new Map();
  contexts.clear();
}

/** Returns the name of a function for messages. */
export function functionName(id: number): string {
  return (values.get(id) as HeldFunction).name || "<anonymous>";
}

/** Returns what a function threw, serialized for other threads. */
export function describeThrown(id: number): string {
  return describeError(values.get(id));
}
