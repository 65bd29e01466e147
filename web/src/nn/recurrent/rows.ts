// The steps of a sequence, and the states of those sequences of a batch that are still running. In a packed
// sequence fewer and fewer are; from the end, more and more.

import { cat, narrow, splitWithSizes, stack, unbind } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";

/** How a tensor is taken apart into steps, and put together again. */
export interface Steps {
  split(value: Tensor): Tensor[];
  join(steps: readonly Tensor[]): Tensor;
}

/** Steps of all sequences: [steps, batch, ...]. */
export const kEqualSteps: Steps = {
  split: (value) => unbind(value, 0),
  join: (steps) => stack(steps, 0),
};

/** Steps of so many sequences each: [sum of all, ...]. */
export function unequalSteps(sizes: readonly number[]): Steps {
  return { split: (value) => splitWithSizes(value, sizes, 0), join: (steps) => cat(steps, 0) };
}

/** The states of a batch of sequences, of which the first ones are running. */
export class Rows {
  /** The states of those that are running. */
  active: readonly Tensor[];
  // Those of the others, which begin where the running ones end.
  #resting: readonly Tensor[][];

  constructor(initial: readonly Tensor[]) {
    this.active = initial;
    this.#resting = initial.map(() => []);
  }

  /** Lets the first `count` sequences run. */
  resize(count: number): void {
    const running = this.active[0]?.shape[0] ?? 0;
    if (count === running) return;
    if (count > running) this.active = this.all();
    const all = this.active;
    const total = all[0]?.shape[0] ?? 0;
    this.active = all.map((state) => narrow(state, 0, 0, count));
    const rest = all.map((state) => narrow(state, 0, count, total - count));
    this.#resting = this.#resting.map((others, i) => {
      return count > running ? [rest[i] as Tensor] : [rest[i] as Tensor, ...others];
    });
  }

  /** The states of all sequences. */
  all(): readonly Tensor[] {
    return this.active.map((state, i) => {
      const others = this.#resting[i] as Tensor[];
      return others.length === 0 ? state : cat([state, ...others], 0);
    });
  }
}
