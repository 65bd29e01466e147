// Fragments of a model's state that are synchronized in turn.

import type { State } from "../update/state.js";

/** Returns the tensor names of a round's fragment. Each fragment is a range of the sorted names, with about the same number of elements. */
export function fragmentOf(global: Readonly<State>, fragments: number, round: number): string[] {
  // Not in the order of the state, which differs in a file.
  const entries = Object.entries(global)
    .map(([key, { numel }]) => ({ key, numel }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
  const count = Math.min(fragments, entries.length);
  const turn = (round - 1) % count;
  let left = entries.reduce((sum, { numel }) => sum + numel, 0);
  let next = 0;
  for (let part = 0; ; part++) {
    const first = next;
    const wanted = left / (count - part);
    let elements = 0;
    // Each fragment has at least one tensor, and leaves at least one for each fragment after it.
    while (next < entries.length - (count - part - 1)) {
      const { numel } = entries[next] as { numel: number };
      if (next > first && elements + numel / 2 > wanted) break;
      elements += numel;
      next++;
    }
    left -= elements;
    if (part === turn) return entries.slice(first, next).map(({ key }) => key);
  }
}
