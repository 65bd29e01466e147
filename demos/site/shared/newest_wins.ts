// Handles requests that arrive faster than they are processed.

/**
 * Calls `answer` for one value at a time; of the values that arrive meanwhile only the newest is kept. `busyChanged` is called when
 * the first value of a series arrives and when the last one has been processed.
 */
export function newestWins<T>(
  answer: (value: T) => Promise<void>,
  busyChanged: (isBusy: boolean) => void,
): (value: T) => void {
  let waiting: { value: T } | null = null;
  let isBusy = false;
  const setBusy = (value: boolean) => {
    isBusy = value;
    busyChanged(value);
  };
  const work = async () => {
    setBusy(true);
    try {
      while (waiting !== null) {
        const { value } = waiting;
        waiting = null;
        await answer(value);
      }
    } finally {
      setBusy(false);
    }
  };
  return (value) => {
    waiting = { value };
    if (!isBusy) void work();
  };
}
