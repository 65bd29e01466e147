// Which wrapper a tensor has: when C++ returns a tensor that JavaScript has already, it is the same object.
//
// C++ tells the first handle of a tensor in this thread, and here the wrapper of that handle is found. Such searches are rare, but a
// wrapper is made for every result of an op: being found must cost nothing before there is a search. Wrappers in a scope are found
// there. Those that no scope frees must not stay alive because they can be found. They are held strongly until the job ends in which
// they were made, when most have been disposed (until then no finalizer could free their tensors anyway), and weakly afterwards.

import { type Reference, weakly } from "../runtime/host/weak.js";
import { openScopes } from "./scope_stack.js";
import type { Wrapper } from "./wrapper.js";

/** Handles are a generation and below it 24 bits of slot: see HandleTable in C++. */
const kSlots = 2 ** 24;

const kMinYoung = 1024;

// By slot; some may have been disposed.
let weak: (Reference<Wrapper> | undefined)[] = [];

// Those made in this job.
let young: Wrapper[] = [];
let mostYoung = kMinYoung;

// For such numbers, `%` is ten times as slow.
const slotOf = (handle: number): number => handle - Math.floor(handle / kSlots) * kSlots;

/** Makes a wrapper known that no scope holds. Returns true for the first one since endJob(), which must then be called. */
export function know(wrapper: Wrapper): boolean {
  const count = young.push(wrapper);
  if (count > mostYoung) thin();
  return count === 1;
}

/** Holds the wrappers weakly that were made in the job that ends, and returns them. */
export function endJob(): readonly Wrapper[] {
  // Wrappers inside vmap() have no handle.
  const made = young.filter(({ handle }) => handle > 0);
  for (const wrapper of made) weak[slotOf(wrapper.handle)] = weakly(wrapper);
  young = [];
  mostYoung = kMinYoung;
  return made;
}

/** Forgets all, because the engine has ended, and returns them. */
export function forgetAll(): Set<Wrapper> {
  const all = new Set([...young, ...openScopes().flatMap((scope) => scope.wrappers)]);
  // A table of slots has holes.
  for (const reference of Object.values(weak)) {
    const wrapper = reference?.deref();
    if (wrapper !== undefined) all.add(wrapper);
  }
  weak = [];
  young = [];
  return all;
}

/** Returns the wrapper of a handle, if there is one. */
export function wrapperAt(handle: number): Wrapper | undefined {
  const wrapper = weak[slotOf(handle)]?.deref();
  if (wrapper?.handle === handle) return wrapper;
  for (const wrappers of [young, ...openScopes().map((scope) => scope.wrappers)]) {
    const found = indexOf(wrappers).get(handle);
    if (found?.handle === handle) return found;
  }
  return undefined;
}

interface Index {
  readonly byHandle: Map<number, Wrapper>;
  /** How many wrappers of the list are in it. */
  count: number;
}

const indices = new WeakMap<readonly Wrapper[], Index>();

// Returns the wrappers of a list by their handles. Lists only grow, or become empty for good.
function indexOf(wrappers: readonly Wrapper[]): ReadonlyMap<number, Wrapper> {
  let index = indices.get(wrappers);
  if (index === undefined) {
    index = { byHandle: new Map(), count: 0 };
    indices.set(wrappers, index);
  }
  for (; index.count < wrappers.length; index.count++) {
    const wrapper = wrappers[index.count] as Wrapper;
    index.byHandle.set(wrapper.handle, wrapper);
  }
  return index.byHandle;
}

// A loop may make and dispose of any number of tensors in one job.
function thin(): void {
  young = young.filter((wrapper) => !wrapper.disposed);
  mostYoung = Math.max(kMinYoung, 2 * young.length);
}
