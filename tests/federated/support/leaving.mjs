// Who takes part in runs, as functions that end them: members.mjs calls them when the tests of a file are over.

const leaving = new Set();

/** Has a function called when the tests of a file are over; it may be called for one that has ended by itself. */
export function leaveAtEnd(leave) {
  leaving.add(leave);
}

/** Calls all of them. */
export const leaveAll = () => Promise.allSettled([...leaving].map((leave) => leave()));
