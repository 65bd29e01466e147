// Calls from C++ to the functions of callbacks.ts, with words in the call frame.

import { frameOf, takeWords } from "./bridge.js";
import { heldFunction, holdValue } from "./callbacks.js";

/** Calls a function for C++. What it throws stays here under a number, which is returned negated. */
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
