// The lifetime of handles. A handle is released by whichever comes first (a second release is harmless):
//
//  - dispose(), or `using`;
//  - the end of the eg.scope() in which the wrapper was made;
//  - the garbage collector: a finalizer releases the handle of a wrapper that was collected, where there are finalizers.
//
// JavaScript engines collect garbage when their own heap grows, but a wrapper takes a hundred bytes however
// large its tensor is. So each time the engine's memory has grown by a certain amount, an untouched ArrayBuffer
// (the ballast) is attached to the newest wrapper: the garbage collector counts its size and starts.
//
// Finalizers only run between tasks of the event loop. Nothing can be freed for a loop that never returns to
// the event loop; it causes one warning that recommends eg.scope().

import { callFrame, epoch, isStarted, native, onEpoch } from "../runtime/bridge/bridge.js";
import { fail } from "../runtime/errors/errors.js";
import { queueMicrotask } from "../runtime/host/host.js";
import { nextTask } from "../runtime/host/next_task.js";
import { finalizers, hasFinalizers, type Registry } from "../runtime/host/weak.js";
import { endJob, forgetAll, know } from "./known.js";
import { currentScope, type Scope } from "./scope_stack.js";
import type { Wrapper } from "./wrapper.js";

/**
 * A property of every wrapper. structuredClone() and postMessage() reject symbols and show their text in the error;
 * without it they would create an object that contains the number of a handle.
 */
export const kUncloneable = Symbol(
  "edgegrad: a tensor or node cannot be cloned: send its data(), or the tensor itself with eg.spawn();",
);

/** True for a tensor or node. Checks for a property that only they have because their classes are in layers above this file. */
export function isWrapper(value: unknown): value is Wrapper {
  return (
    typeof value === "object" &&
    value !== null &&
    (value as Partial<Wrapper>).uncloneable === kUncloneable
  );
}

/** The handle of a wrapper whose engine has ended; no engine gives this number. */
const kStale = -2;

/** Throws for a wrapper whose engine has ended; has no effect for others. */
export function refuseStale(caller: string, { handle }: Wrapper): void {
  if (handle !== kStale) return;
  // Throws NotInitialized if there is no engine.
  native.memory();
  fail("Disposed", caller, "this object belongs to an engine that was shut down.");
}

/** The growth that justifies a garbage collection, which takes about a millisecond. */
const kGrowthPerBallast = 48 * 2 ** 20;

/**
 * Enough for V8 to start a collection at once, and above the size (32 MiB) from which the C library
 * takes zeroed pages from the system instead of zeroing memory itself.
 */
const kBallastBytes = 96 * 2 ** 20;

/** The most wrappers between two checks of the engine's memory. */
const kMaxPollInterval = 64;

/** The memory of a live handle or graph node apart from its data, which the engine does not count. */
const kObjectBytes = 300;

/** Code that does not return to the event loop may accumulate this much before the warning. */
const kMaxStretchBytes = 2 ** 30;
const kMaxStretchHandles = 100_000;

/** More tensors than a step makes: a scope that holds so many is around a loop. */
const kManyInScope = 5_000;

let pollInterval = 1;
let untilPoll = 1;
let polledBytes = 0;
let ballastedBytes = 0;
// The registries of engines that have stopped are retained; they are small. If a registry is collected while its callbacks are
// due, V8 stops calling all finalizers, including the program's (seen in Node 20: its task finds nothing to do and is never
// posted again).
const allReleasing: Registry[] = [];
let releasing = startReleasing();

// The registry holds only the handle; a token for unregistering would cost seven times as much.
function startReleasing(): Registry {
  const made = epoch;
  const registry = finalizers((handle) => {
    if (made === epoch) native.release(handle);
  });
  allReleasing.push(registry);
  return registry;
}

/** Registers a new wrapper so that its handle is released. */
export function track(wrapper: Wrapper): void {
  addToScope(wrapper, currentScope());
  // May throw whatever a user-defined console throws.
  if (--untilPoll === 0) interrupt(wrapper);
}

/** Adds a wrapper to a scope, and registers it with the garbage collector if the scope does not free it. */
export function addToScope(wrapper: Wrapper, scope: Scope | null): void {
  if (!scope?.frees) leaveToFinalizer(wrapper);
  scope?.add(wrapper);
}

/** Makes another wrapper leave scopes together with this one. */
export function leaveTogether(wrapper: Wrapper, other: Wrapper): void {
  (wrapper as { shown?: Wrapper }).shown ??= other;
}

/** Registers a wrapper so that its handle is released when the wrapper is garbage-collected. */
export function leaveToFinalizer(wrapper: Wrapper): void {
  if (know(wrapper)) queueMicrotask(registerMade);
}

// At the end of a job, when many of the wrappers made in it have been disposed.
function registerMade(): void {
  for (const wrapper of endJob()) releasing.register(wrapper, wrapper.handle);
}

/** Replaces the handle of a wrapper with another one, which the wrapper then owns. */
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
  // After shutdown() everything has been freed.
  if (isStarted()) native.release(handle);
}

// Wrappers of an engine that has ended must name nothing of the next one.
onEpoch(() => {
  releasing = startReleasing();
  for (const wrapper of forgetAll()) if (wrapper.handle > 0) wrapper.handle = kStale;
  polledBytes = 0;
  ballastedBytes = 0;
  stretch = null;
});

// The function to call when the next wrapper is made, and the value that untilPoll had before that call was scheduled.
let waiting: (() => void) | null = null;
let untilPollThen = 0;

/** Calls `fn` when the next wrapper is made; a later call replaces `fn`. */
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
  const scope = currentScope()?.ofProgram ?? null;
  if (scope !== null) watchScope(scope);
  watchStretch(bytes, handles, scope);
  const memory = bytes + kObjectBytes * (graphNodes + handles);
  const perWrapper = Math.max(1, (memory - polledBytes) / pollInterval);
  polledBytes = memory;
  // Large tensors need more frequent checks than small ones.
  pollInterval = Math.ceil(Math.min(kMaxPollInterval, kGrowthPerBallast / 4 / perWrapper));
  untilPoll = pollInterval;
  const growth = memory - ballastedBytes;
  if (growth < 0) ballastedBytes = memory;
  // In a scope that frees its tensors, the garbage collector has nothing to free.
  else if (growth >= kGrowthPerBallast && !currentScope()?.frees) {
    ballastedBytes = memory;
    attachBallast(wrapper);
  }
}

function gpuBytes(): number {
  return native.gpuMemory() > 0 ? (callFrame()[0] ?? 0) : 0;
}

function attachBallast(wrapper: Wrapper): void {
  try {
    wrapper.ballast = new ArrayBuffer(kBallastBytes);
  } catch {
    // No room for it: the garbage collector is under pressure already.
  }
}

// What was held when the code started that has not returned to the event loop since; null after it has.
let stretch: { bytes: number; handles: number } | null = null;
let hasWarned = false;

function watchScope(scope: Scope): void {
  const { wrappers } = scope;
  // Counted at doubling lengths only: many of the wrappers may be disposed, or be those of results that were kept.
  if (hasWarned || wrappers.length < Math.max(kManyInScope, 2 * scope.counted)) return;
  scope.counted = wrappers.length;
  const undisposed = wrappers.filter(({ disposed, isKept }) => !disposed && !isKept).length;
  if (undisposed < kManyInScope) return;
  hasWarned = true;
  console.warn(
    `edgegrad: one eg.scope() holds ${undisposed} tensors, which it frees when it ends. ${kInLoop}`,
  );
}

const kInLoop =
  "If it is around a loop, put it inside the loop: for (...) eg.scope(() => { ... }).";

function watchStretch(bytes: number, handles: number, scope: Scope | null): void {
  if (stretch === null) {
    stretch = { bytes, handles };
    // Without finalizers, returning to the event loop frees nothing.
    if (hasFinalizers) void nextTask().then(endStretch);
    return;
  }
  const newHandles = handles - stretch.handles;
  const newBytes = bytes - stretch.bytes;
  if (hasWarned || (newHandles < kMaxStretchHandles && newBytes < kMaxStretchBytes)) return;
  hasWarned = true;
  const made = `edgegrad: ${newHandles} tensors (${Math.round(newBytes / 2 ** 20)} MiB) were made `;
  const why = hasFinalizers
    ? "without returning to the event loop, so the garbage collector could free none of them. "
    : "and not freed: this JavaScript engine has no FinalizationRegistry, so only scopes and dispose() free them. ";
  const wait = hasFinalizers ? ", or await something now and then." : ".";
  const advice = scope === null ? `Wrap each step in eg.scope(() => { ... })${wait}` : kInLoop;
  console.warn(made + why + advice);
}

function endStretch(): void {
  stretch = null;
}
