// A client's control variate in SCAFFOLD: the mean of its gradients in the last round in which it took part.

import * as eg from "edgegrad";
import { controlOf, controlsIn } from "../update/control.js";
import { copyOf, free, mapState, type State } from "../update/state.js";

/** Corrects gradients while a client trains. */
export interface Correction {
  /** Takes the correction off; returns the means of the gradients that it has seen, by the names of the parameters. */
  end(): State;
}

/** The control variate of one client. */
export class ControlVariate {
  #own: State;

  /** Begins with what stateDict() has returned of this client before it was started again. */
  constructor(state: Readonly<State> = {}) {
    this.#own = mapState(copyOf(controlsIn(state)), eg.keep);
  }

  /** Returns a copy. */
  stateDict(): State {
    const copies = Object.entries(copyOf(this.#own));
    return Object.fromEntries(copies.map(([key, tensor]) => [controlOf(key), tensor]));
  }

  /** Begins to add `server` minus this client's own to the gradients of a module. */
  begin(module: eg.nn.Module, server: Readonly<State>): Correction {
    const sums: State = {};
    const calls = new Map<string, number>();
    const corrections: State = {};
    const handles: { remove(): void }[] = [];
    for (const [key, parameter] of module.namedParameters()) {
      const all = server[key];
      if (!parameter.requiresGrad || all === undefined) continue;
      const sum = eg.keep(eg.zeros([...parameter.shape], { dtype: parameter.dtype }));
      const own = this.#own[key];
      const correction = eg.keep(own === undefined ? all.clone() : all.sub(own));
      sums[key] = sum;
      corrections[key] = correction;
      handles.push(
        parameter.registerHook((gradient: eg.Tensor) => {
          calls.set(key, (calls.get(key) ?? 0) + 1);
          eg.noGrad(() => sum.add_(gradient.detach()));
          return gradient.add(correction);
        }),
      );
    }
    return {
      end() {
        for (const handle of handles) handle.remove();
        free(corrections);
        // A parameter without a gradient in a step has one of zero.
        const steps = Math.max(1, ...calls.values());
        for (const sum of Object.values(sums)) eg.noGrad(() => sum.div_(steps));
        return sums;
      },
    };
  }

  /** Returns what an update says of control variates: the coordinator's, plus how this client's would change. */
  changed(server: Readonly<State>, next: Readonly<State>): State {
    const entries = Object.entries(server).map(([key, all]) => {
      const made = next[key];
      const own = this.#own[key];
      const moved = made === undefined ? all.clone() : all.add(made);
      return [controlOf(key), own === undefined ? moved : moved.sub(own)];
    });
    return Object.fromEntries(entries);
  }

  /** Takes over the means of a round whose update was sent. */
  replace(next: State): void {
    free(this.#own);
    this.#own = next;
  }

  /** Frees the tensors. */
  free(): void {
    this.replace({});
  }
}
