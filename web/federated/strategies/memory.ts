// State that a strategy keeps for each floating-point tensor of the weights.

import * as eg from "edgegrad";
import { free, type State, stateFrom } from "../update/state.js";

/** Tensors by name that are kept between rounds. */
export class Memory {
  #tensors: State = Object.create(null);

  /** Returns the tensor of a name, which is initially filled with `start`. */
  of(key: string, like: eg.Tensor, start = 0): eg.Tensor {
    const found = this.#tensors[key];
    if (found !== undefined) return found;
    const made = eg.keep(eg.full([...like.shape], start, { dtype: like.dtype }));
    this.#tensors[key] = made;
    return made;
  }

  stateDict(): State {
    return { ...this.#tensors };
  }

  load(where: string, state: unknown): void {
    const given = stateFrom(where, "state", state ?? {});
    free(this.#tensors);
    this.#tensors = Object.create(null);
    for (const [key, tensor] of Object.entries(given)) {
      this.#tensors[key] = eg.keep(tensor.detach().clone());
    }
  }
}
