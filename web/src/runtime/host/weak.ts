// References that do not keep their objects alive. Some runtimes for the edge do not have them, because they would reveal when
// garbage is collected.

/** What this package uses of a FinalizationRegistry. */
export interface Registry {
  register(object: WeakKey, value: number): void;
}

/** True where the garbage collector tells what it has collected. Elsewhere only scopes and dispose() free tensors. */
export const hasFinalizers = typeof FinalizationRegistry === "function";

/** Returns a FinalizationRegistry; where there is none, one that never calls `forget`. */
export function finalizers(forget: (value: number) => void): Registry {
  return hasFinalizers ? new FinalizationRegistry(forget) : { register: () => undefined };
}

/** A WeakRef, or a reference like it. */
export interface Reference<T> {
  deref(): T | undefined;
}

/** Returns a WeakRef to an object; where there is none, a reference that keeps it alive. */
export function weakly<T extends WeakKey>(object: T): Reference<T> {
  return typeof WeakRef === "function" ? new WeakRef(object) : { deref: () => object };
}
