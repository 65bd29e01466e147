// Calls that an AbortSignal ends. Their promises reject with its reason at once; what they have begun is ended or ignored, and no
// listener stays behind on a signal that outlives the call.

/** The part of AbortSignal that the package uses; a signal may come from another realm. */
export interface AbortSignalLike {
  /** Whether the signal has been given. */
  readonly aborted: boolean;
  /** What promises reject with. */
  readonly reason?: unknown;
  /** Calls a listener when the signal is given. */
  addEventListener(type: "abort", listener: () => void): void;
  /** Removes a listener. */
  removeEventListener(type: "abort", listener: () => void): void;
}

/** True for an AbortSignal of any realm. */
export function isAbortSignal(value: unknown): value is AbortSignalLike {
  if (typeof value !== "object" || value === null) return false;
  const { aborted, addEventListener, removeEventListener } = value as Partial<AbortSignalLike>;
  return [typeof aborted, typeof addEventListener, typeof removeEventListener].join() === kTypes;
}

const kTypes = "boolean,function,function";

/** Throws the reason of a signal that has been given. */
export function throwIfAborted(signal: AbortSignalLike | undefined): void {
  if (signal?.aborted) throw signal.reason;
}

/**
 * Settles as `work` does, or rejects with the signal's reason as soon as that is given; then calls `stop`, which must not
 * throw.
 */
export function unlessAborted<T>(
  signal: AbortSignalLike | undefined,
  work: Promise<T>,
  stop: () => void,
): Promise<T> {
  if (signal === undefined) return work;
  return new Promise<T>((resolve, reject) => {
    const abort = () => {
      removeListener();
      reject(signal.reason);
      stop();
    };
    const removeListener = () => signal.removeEventListener("abort", abort);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort);
    work.finally(removeListener).then(resolve, reject);
  });
}
