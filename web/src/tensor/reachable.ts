// The tensors and nodes in a value that a program gave or returned. Looking must do no harm: a getter or a proxy of the
// program's may throw, or make new objects for ever.

import { isWrapper, type Wrapper } from "./lifetime.js";

/** Getters that one search calls at most: some make what they return, getters and all. */
const kMaxGetters = 1000;

/**
 * Returns the tensors and nodes reachable from a value through properties, elements and entries. What lies behind a
 * getter that throws is not reachable.
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
        // Not with one call: of a long list it would be one with too many arguments.
        for (const element of elements) pending.push(element);
      } else {
        for (const key of Object.keys(value)) {
          const property = Object.getOwnPropertyDescriptor(value, key);
          if (property?.get === undefined) pending.push(property?.value);
          else if (gettersLeft-- > 0) pending.push(attempt(() => property.get?.call(value)));
        }
        if (value instanceof Map) for (const entry of value) pending.push(...entry);
        else if (value instanceof Set) for (const one of value) pending.push(one);
      }
    } catch {
      // A proxy that refuses holds nothing that can be found.
    }
  }
  return wrappers;
}

/** Returns what `read` returns, undefined where it throws. */
export function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    // Whoever reads it for its own sake gets the error.
    return undefined;
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value);
}
