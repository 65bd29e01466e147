// Which wrapper a tensor has: when C++ returns a tensor that JavaScript has already, it is the same object.
//
// C++ tells the first handle of a tensor in this thread, and here wrappers are found by the slot of their handle. A wrapper must not
// stay alive because it can be found. A WeakRef for each would be slow, though, and would keep its wrapper until the running job ends
// even after dispose(). So a wrapper is held strongly at first, which costs nothing in a scope, because the scope holds it too; and
// those that no scope frees are held weakly from the end of the job in which they were made. Until then no finalizer could free
// their tensors anyway.

import { type Reference, weakly } from "../runtime/weak.js";
import type { Wrapper } from "./lifetime.js";

/** Handles are a generation and below it 24 bits of slot: see HandleTable in C++. */
const kSlots = 2 ** 24;

const kMinYoung = 1024;

// By slot. A wrapper is in one of the two.
let strong: (Wrapper | undefined)[] = [];
let weak: (Reference<Wrapper> | undefined)[] = [];

// The slots of wrappers that are to be held weakly; some may have been freed, or occur twice.
let young: number[] = [];
let mostYoung = kMinYoung;
let willWeaken = false;

// For such numbers, `%` is ten times as slow.
const slotOf = (handle: number): number => handle - Math.floor(handle / kSlots) * kSlots;

/** Makes a wrapper known by its handle. */
export function know(wrapper: Wrapper): void {
  strong[slotOf(wrapper.handle)] = wrapper;
}

/** Lets go of a wrapper that no scope holds, once the running job has ended. */
export function knowWeakly(wrapper: Wrapper): void {
  if (!willWeaken) queueMicrotask(weaken);
  willWeaken = true;
  young.push(slotOf(wrapper.handle));
  if (young.length > mostYoung) thin();
}

/** Forgets a wrapper whose handle is released. */
export function forget(wrapper: Wrapper, handle: number): void {
  const slot = slotOf(handle);
  if (strong[slot] === wrapper) strong[slot] = undefined;
  else if (slot < weak.length) weak[slot] = undefined;
}

/** Forgets the wrapper of a handle if it was garbage-collected; the slot may have another one by now. */
export function forgetCollected(handle: number): void {
  const slot = slotOf(handle);
  if (slot < weak.length && weak[slot]?.deref() === undefined) weak[slot] = undefined;
}

/** Forgets all, because the engine has ended. */
export function forgetAll(): void {
  strong = [];
  weak = [];
  young = [];
}

/** Returns the wrapper of a handle, if there is one. */
export function wrapperAt(handle: number): Wrapper | undefined {
  const slot = slotOf(handle);
  const wrapper = strong[slot] ?? weak[slot]?.deref();
  return wrapper?.handle === handle ? wrapper : undefined;
}

function weaken(): void {
  willWeaken = false;
  for (const slot of young) {
    const wrapper = strong[slot];
    if (wrapper === undefined) continue;
    weak[slot] = weakly(wrapper);
    strong[slot] = undefined;
  }
  young = [];
  mostYoung = kMinYoung;
}

// A loop that disposes of its tensors uses few slots again and again.
function thin(): void {
  young = [...new Set(young)].filter((slot) => strong[slot] !== undefined);
  mostYoung = Math.max(kMinYoung, 2 * young.length);
}
