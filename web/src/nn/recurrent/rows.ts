// The steps of a sequence, and the states of the sequences of a batch that are still running. In a packed sequence their
// number falls from step to step; backwards, it rises.

import { cat, narrow, splitWithSizes, stack, unbind } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";

/** How a tensor is split into steps and joined again. */
export interface Steps {
  split(value: Tensor): Tensor[];
  join(steps: readonly Tensor[]): Tensor;
}

/** Steps of all sequences: [steps, batch, ...]. */
export const kEqualSteps: Steps = {
  split: (value) => unbind(value, 0),
  join: (steps) => stack(steps, 0),
};

/** Steps with these numbers of sequences: [sum of all, ...]. */
export function unequalSteps(sizes: readonly number[]): Steps {
  return { split: (value) => splitWithSizes(value, sizes, 0), join: (steps) => cat(steps, 0) };
}

/** The states of a batch of sequences, the first of which are running. */
export class Rows {
  /** The states of the running sequences. */
  active: readonly Tensor[];
  // The states of the others, which follow the running ones.
  #resting: readonly Tensor[][];

  constructor(initial: readonly Tensor[]) {
    this.active = initial;
    this.#resting = initial.map(() => []);
  }

  /** Makes the first `count` sequences the running ones. */
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
