// Calls near the end of JavaScript's stack.

/** Calls `fn` at every third depth from the end of the stack upwards, until it has returned three times. */
export function nearStackEnd(fn) {
  let depth = 0;
  let left = 3;
  const climb = () => {
    try {
      climb();
    } catch (error) {
      if (!isOverflow(error)) throw error;
    }
    if (left === 0 || ++depth % 3 !== 0) return;
    try {
      fn();
      left--;
    } catch (error) {
      if (!isOverflow(error)) throw error;
    }
  };
  climb();
}

/** Calls `fn` at every depth until the stack overflows. */
export function untilOverflow(fn) {
  const descend = () => {
    fn();
    descend();
  };
  try {
    descend();
  } catch (error) {
    if (!isOverflow(error)) throw error;
  }
}

// Even a regular expression needs more stack.
function isOverflow(error) {
  return error instanceof RangeError && error.message.includes("call stack");
}
