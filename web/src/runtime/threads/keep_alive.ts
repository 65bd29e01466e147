// Promises that the engine's threads settle later. Node exits when nothing is scheduled, and the work of the engine's threads does
// not count, so a timer keeps the process alive while a promise is pending. When the engine stops, all pending promises reject.

import type { AbortSignalLike } from "../host/abort.js";
import { clearInterval, setInterval } from "../host/host.js";

const kInterval = 1000; // ms

interface Waiting {
  readonly caller: string;
  reject(error: unknown): void;
}

const waiting = new Set<Waiting>();
let timer: ReturnType<typeof setInterval> | undefined;
let look = (): void => undefined;

/** Sets a function that is called every second while a promise is pending, to learn of failures that nothing else reports. */
export function whilePending(fn: () => void): void {
  look = fn;
}

/** How a signal ends a pending promise. */
export interface Ending<T> {
  readonly signal?: AbortSignalLike | undefined;
  /** Ends the work, once the promise has been rejected. */
  stop?(): void;
  /** Frees a value that comes after that. */
  discard?(value: T): void;
}

/**
 * Returns a promise that `start` settles through its two functions, and keeps the process alive until then.
 * `caller` is the name of the function that returns the promise.
 */
export function untilSettled<T>(
  caller: string,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
  { signal, stop, discard }: Ending<T> = {},
): Promise<T> {
  if (signal?.aborted) return Promise.reject(signal.reason);
  return new Promise<T>((resolve, reject) => {
    // Returns false if the promise has settled before.
    const settle = (): boolean => {
      if (!waiting.delete(entry)) return false;
      if (waiting.size === 0) clearInterval(timer);
      signal?.removeEventListener("abort", abort);
      return true;
    };
    const fail = (error: unknown) => {
      if (settle()) reject(error);
    };
    const succeed = (value: T) => {
      if (settle()) resolve(value);
      else discard?.(value);
    };
    const abort = () => {
      fail(signal?.reason);
      stop?.();
    };
    const entry: Waiting = { caller, reject: fail };
    if (waiting.size === 0) timer = setInterval(() => look(), kInterval);
    waiting.add(entry);
    signal?.addEventListener("abort", abort);
    try {
      start(succeed, fail);
    } catch (error) {
      fail(error);
    }
  });
}

/** Rejects all pending promises. */
export function rejectAll(errorFor: (caller: string) => unknown): void {
  for (const { caller, reject } of waiting) reject(errorFor(caller));
}

/** Allows Node to exit although a port or timer is open. */
export function unref(source: unknown): void {
  (source as { unref?: () => void }).unref?.();
}

/** True while any promise is pending. */
export function isWaiting(): boolean {
  return waiting.size > 0;
}
