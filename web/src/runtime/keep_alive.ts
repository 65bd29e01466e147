// Outcomes that come later. Node ends a process when nothing is scheduled any more; work of the engine's threads does not
// count as scheduled, so a timer stands for it while somebody waits. And nobody is left waiting for an engine that has
// stopped.

const kLongest = 2 ** 31 - 1; // ms

interface Waiting {
  readonly caller: string;
  reject(error: unknown): void;
}

const waiting = new Set<Waiting>();
let timer: ReturnType<typeof setInterval> | undefined;

/**
 * Returns a promise for what `start` is told through its two functions; the process lives until then.
 * `caller` is the function that promised it.
 */
export function untilSettled<T>(
  caller: string,
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): Promise<T> {
  if (waiting.size === 0) timer = setInterval(() => undefined, kLongest);
  let entry: Waiting | undefined;
  return new Promise<T>((resolve, reject) => {
    entry = { caller, reject };
    waiting.add(entry);
    start(resolve, reject);
  }).finally(() => {
    waiting.delete(entry as Waiting);
    if (waiting.size === 0) clearInterval(timer);
  });
}

/** Rejects all that is waited for. */
export function rejectAll(errorFor: (caller: string) => unknown): void {
  for (const { caller, reject } of waiting) reject(errorFor(caller));
}

/** True while anything is waited for. */
export function isWaiting(): boolean {
  return waiting.size > 0;
}
