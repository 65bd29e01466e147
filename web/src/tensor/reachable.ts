// Finding the tensors and nodes in a value that a program passed or returned. The search must be safe: a getter or a proxy of
// the program may throw, or create new objects without end.

import { isMap, isSet } from "../runtime/host/realm.js";
import { isWrapper } from "./lifetime.js";
import type { Wrapper } from "./wrapper.js";

/** The most getters that one search calls: some return a new object each time, which may have getters itself. */
const kMaxGetters = 1000;

/**
 * Returns the tensors and nodes reachable from a value through properties, elements and entries. A property whose getter
 * throws is skipped.
 */
export function wrappersIn(root: unknown): Set<Wrapper> {
  const wrappers = new Set<Wrapper>();
  const seen = new Set<object>();
  const pending: unknown[] = [root];
  let gettersLeft = kMaxGetters;
  while (pending.length > 0) {
    const value = pending.pop();
    if (!isContainer(value) || seen.has(value)) continue;
    seen.add(value);
    try {
      if (isWrapper(value)) {
        wrappers.add(value);
        pending.push(value.shown);
        continue;
      }
      const elements = Array.isArray(value) ? attempt(() => Object.values(value)) : undefined;
      if (elements !== undefined) {
        // One push(...elements) could exceed the limit on the number of arguments.
        for (const element of elements) pending.push(element);
      } else {
        for (const key of Object.keys(value)) {
          const property = Object.getOwnPropertyDescriptor(value, key);
          if (property?.get === undefined) pending.push(property?.value);
          else if (gettersLeft-- > 0) pending.push(attempt(() => property.get?.call(value)));
        }
        if (isMap(value)) for (const entry of value) pending.push(...entry);
        else if (isSet(value)) for (const item of value) pending.push(item);
      }
    } catch {
      // A proxy that throws is skipped.
    }
  }
  return wrappers;
}

/** Returns what `read` returns, or undefined if it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    // Code that reads the value itself will see the error.
    return undefined;
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}
