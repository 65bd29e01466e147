// Calls from C++ to the functions of callbacks.ts; arguments and results are words in the call frame.

import { frameOf, takeWords } from "./bridge.js";
import { heldFunction, holdValue } from "./callbacks.js";

/** Calls a function for C++. Returns the number of result words or, if it threw, the negated number of the held error. */
export function callFunction(id: number, count: number): number {
  try {
    const words = takeWords(count);
    const results = heldFunction(id)(words);
    frameOf(results.length).set(results);
    return results.length;
  } catch (error) {
    return -holdValue(error);
  }
}
