// Who frees a handle. Three ways, the first that happens counts (a second release is harmless):
//
//  - dispose(), or `using`;
//  - the end of the eg.scope() in which the wrapper was made;
//  - the garbage collector: a finalizer releases the handle of a wrapper that is gone.
//
// JavaScript engines collect when their own heap grows, and a wrapper is a hundred bytes whatever
// stands behind it. So each time the engine's memory has grown by some amount, an untouched ArrayBuffer
// is hung on the newest wrapper: the garbage collector counts its size, and starts.
//
// Finalizers run between tasks of the event loop, so a loop that never returns to it cannot be
// helped: it gets one warning that names eg.scope().

import { callFrame, epoch, isStarted, native } from "../runtime/bridge.js";
import { currentScope, type Scope } from "./scope_stack.js";

/** What owns a handle: a tensor, or a node of the backward graph. */
export interface Wrapper {
  /** 0 once it is freed. */
  handle: number;
  /** Memory that stands for the engine's in the eyes of the garbage collector. */
  ballast: ArrayBuffer | null;
  /** True when no scope frees it. */
  isKept: boolean;
  /** See kUncloneable. */
  readonly uncloneable: symbol;
  readonly disposed: boolean;
  /** What leaves scopes together with it: what a wrapper without a handle of its own shows, or see leaveTogether(). */
  readonly shown?: Wrapper;
}

/**
 * What every wrapper has among its properties: structuredClone() and postMessage() refuse symbols, with their
 * text, where they would make an object with the number of a handle.
 */
export const kUncloneable = Symbol(
  "edgegrad: a tensor or node cannot be cloned: send its data(), or the tensor itself with eg.spawn();",
);

/** True for a tensor or node: not by their classes, which stand above this file, but by what only they have. */
export function isWrapper(value: unknown): value is Wrapper {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as Partial<Wrapper>).uncloneable === kUncloneable
  );
}

/** Growth that is worth a collection, which takes about a millisecond. */
const kGrowthPerBallast = 48 * 2 ** 20;

/**
 * Enough for V8 to start a collection at once, and above the size (32 MiB) from which the C library
 * takes zeroed pages from the system instead of zeroing memory itself.
 */
const kBallastBytes = 96 * 2 ** 20;

/** Wrappers from one look at the engine's memory to the next, at most. */
const kMaxPollInterval = 64;

/** What a live handle or graph node takes beside its data; the engine does not count it. */
const kObjectBytes = 300;

/** A stretch without the event loop may pile up this much before the warning. */
const kMaxStretchBytes = 2 ** 30;
const kMaxStretchHandles = 100_000;

let pollInterval = 1;
let untilPoll = 1;
let polledBytes = 0;
let ballastedBytes = 0;
let born = epoch;
// Those of engines that have ended stay, small as they are: when a registry is collected while calls of its are due, V8 calls
// no finalizer any more, of this program's neither (seen in Node 20: its task finds nothing to do and is never posted again).
const allFinalizers: FinalizationRegistry<number>[] = [];
let finalizers = makeFinalizers();

// The registry holds the handle only: a token to unregister with would cost seven times as much.
function makeFinalizers(): FinalizationRegistry<number> {
  const made = epoch;
  const registry = new FinalizationRegistry<number>((handle) => {
    if (made === epoch) native.release(handle);
  });
  allFinalizers.push(registry);
  return registry;
}

/** Takes charge of a new wrapper. */
export function track(wrapper: Wrapper): void {
  if (born !== epoch) startOver();
  entrust(wrapper, currentScope());
  // May throw what a console of the user's throws.
  if (--untilPoll === 0) interrupt(wrapper);
}

/** Leaves a wrapper to a scope, and to the garbage collector where the scope does not free it. */
export function entrust(wrapper: Wrapper, scope: Scope | null): void {
  if (!scope?.frees) finalizers.register(wrapper, wrapper.handle);
  scope?.add(wrapper);
}

/** Has a wrapper take another along where it leaves a scope. */
export function leaveTogether(wrapper: Wrapper, other: Wrapper): void {
  (wrapper as { shown?: Wrapper }).shown ??= other;
}

/** Leaves a wrapper to the garbage collector. */
export function leaveToFinalizer(wrapper: Wrapper): void {
  finalizers.register(wrapper, wrapper.handle);
}

/** Gives a wrapper another handle, which it owns from then on. */
export function replaceHandle(wrapper: Wrapper, handle: number): void {
  native.release(wrapper.handle);
  wrapper.handle = handle;
  leaveToFinalizer(wrapper);
}

/** Frees a wrapper's handle now. */
export function release(wrapper: Wrapper): void {
  const { handle } = wrapper;
  if (handle === 0) return;
  wrapper.handle = 0;
  wrapper.ballast = null;
  // After shutdown() there is nothing left to free.
  if (isStarted()) native.release(handle);
}

function startOver(): void {
  born = epoch;
  finalizers = makeFinalizers();
  polledBytes = 0;
  ballastedBytes = 0;
  stretch = null;
}

// What the next wrapper interrupts the count for, and what is left of the count then.
let waiting: (() => void) | null = null;
let untilPollThen = 0;

/** Calls `fn` when the next wrapper is made; only the last one that was given. */
export function beforeNextWrapper(fn: () => void): void {
  if (waiting === null) {
    untilPollThen = untilPoll;
    untilPoll = 1;
  }
  waiting = fn;
}

function interrupt(wrapper: Wrapper): void {
  if (waiting !== null) {
    const fn = waiting;
    waiting = null;
    untilPoll = untilPollThen - 1;
    fn();
    if (untilPoll > 0) return;
  }
  poll(wrapper);
}

function poll(wrapper: Wrapper): void {
  untilPoll = pollInterval;
  if (native.memory() < 0) return;
  const [, , cpuBytes = 0, , , graphNodes = 0, handles = 0] = callFrame();
  const bytes = cpuBytes + gpuBytes();
  watchStretch(bytes, handles);
  const held = bytes + kObjectBytes * (graphNodes + handles);
  const perWrapper = Math.max(1, (held - polledBytes) / pollInterval);
  polledBytes = held;
  // Large tensors need a closer look than small ones.
  pollInterval = Math.ceil(Math.min(kMaxPollInterval, kGrowthPerBallast / 4 / perWrapper));
  untilPoll = pollInterval;
  const growth = held - ballastedBytes;
  if (growth < 0) ballastedBytes = held;
  // Nothing is left to the garbage collector in a scope that frees.
  else if (growth >= kGrowthPerBallast && !currentScope()?.frees) {
    ballastedBytes = held;
    hangBallast(wrapper);
  }
}

function gpuBytes(): number {
  return native.gpuMemory() > 0 ? (callFrame()[0] ?? 0) : 0;
}

function hangBallast(wrapper: Wrapper): void {
  try {
    wrapper.ballast = new ArrayBuffer(kBallastBytes);
  } catch {
    // No room for it: the garbage collector is under pressure already.
  }
}

// A stretch of code that has not returned to the event loop, with what was held at its start.
let stretch: { bytes: number; handles: number } | null = null;
let hasWarned = false;

function watchStretch(bytes: number, handles: number): void {
  if (stretch === null) {
    stretch = { bytes, handles };
    const timer: unknown = setTimeout(endStretch, 0);
    // Node: a timer that only watches must not keep the process alive.
    if (typeof timer === "object") (timer as { unref(): void }).unref();
    return;
  }
  const newHandles = handles - stretch.handles;
  const newBytes = bytes - stretch.bytes;
  if (hasWarned || (newHandles < kMaxStretchHandles && newBytes < kMaxStretchBytes)) return;
  hasWarned = true;
  console.warn(
    `edgegrad: ${newHandles} tensors (${Math.round(newBytes / 2 ** 20)} MiB) were made without returning to the ` +
      "event loop, so the garbage collector could free none of them. " +
      "Wrap each step in eg.scope(() => { ... }), or await something now and then.",
  );
}

function endStretch(): void {
  stretch = null;
}
