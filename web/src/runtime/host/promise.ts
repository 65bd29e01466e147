// Recognizing promises.

/** True for a promise or anything else that can be awaited. */
export function isPromise(value: unknown): value is Promise<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
