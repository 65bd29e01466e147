// Requests that come faster than they are answered.

/** Calls `answer` for one value at a time; of those that come meanwhile only the newest is kept. */
export function newestWins<T>(answer: (value: T) => Promise<void>): (value: T) => void {
  let waiting: { value: T } | null = null;
  let isBusy = false;
  const work = async () => {
    isBusy = true;
    try {
      while (waiting !== null) {
        const { value } = waiting;
        waiting = null;
        await answer(value);
      }
    } finally {
      isBusy = false;
    }
  };
  return (value) => {
    waiting = { value };
    if (!isBusy) void work();
  };
}
