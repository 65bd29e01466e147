// Calls from C++ to the functions of callbacks.ts; arguments and results are words in the call frame.

import { frameOf, takeWords } from "./bridge.js";
import { contextOf, heldFunction, holdValue } from "./callbacks.js";

/**
 * Calls a function for C++; in the context of an asynchronous call if `call` is not 0. Returns the number of result words or, if it
 * threw, the negated number of the held error.
 */
export function callFunction(id: number, count: number, call: number): number {
  try {
    const words = takeWords(count);
    const fn = heldFunction(id);
    const inContext = call === 0 ? undefined : contextOf(call);
    const results = inContext === undefined ? fn(words) : inContext(() => fn(words));
    frameOf(results.length).set(results);
    return results.length;
  } catch (error) {
    return -holdValue(error);
  }
}
