// Node ends a process when nothing is scheduled any more. Work of the engine's threads does not
// count as scheduled, so a timer stands for it while somebody waits.

const kLongest = 2 ** 31 - 1; // ms

let waiting = 0;
let timer: ReturnType<typeof setInterval> | undefined;

/** Returns a promise for what `start` is told through its two functions; the process lives until then. */
export function untilSettled<T>(
  start: (resolve: (value: T) => void, reject: (error: unknown) => void) => void,
): Promise<T> {
  if (waiting++ === 0) timer = setInterval(() => undefined, kLongest);
  return new Promise<T>(start).finally(() => {
    if (--waiting === 0) clearInterval(timer);
  });
}
