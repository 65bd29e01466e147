// A client's control variate in SCAFFOLD: the mean of its gradients in its last round.

import * as eg from "edgegrad";
import { controlOf, controlsIn } from "../update/control.js";
import { copyOf, free, mapState, type State } from "../update/state.js";

/** A correction of gradients that is active while a client trains. */
export interface Correction {
  /** Ends the correction; returns the mean gradients by the names of the parameters. */
  end(): State;
}

/** The control variate of one client. */
export class ControlVariate {
  #own: State;

  /** Begins with the state that stateDict() of this client returned before it was restarted. */
  constructor(state: Readonly<State> = {}) {
    this.#own = mapState(copyOf(controlsIn(state)), eg.keep);
  }

  /** Returns a copy. */
  stateDict(): State {
    const copies = Object.entries(copyOf(this.#own));
    return Object.fromEntries(copies.map(([key, tensor]) => [controlOf(key), tensor]));
  }

  /** Starts to add `server` minus this client's control variate to the gradients of a module. */
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
        // A parameter without a gradient in a step counts as zero.
        const steps = Math.max(1, ...calls.values());
        for (const sum of Object.values(sums)) eg.noGrad(() => sum.div_(steps));
        return sums;
      },
    };
  }

  /** Returns the control variates for an update: the coordinator's plus the change of this client's. */
  changed(server: Readonly<State>, next: Readonly<State>): State {
    const entries = Object.entries(server).map(([key, all]) => {
      const made = next[key];
      const own = this.#own[key];
      const moved = made === undefined ? all.clone() : all.add(made);
      return [controlOf(key), own === undefined ? moved : moved.sub(own)];
    });
    return Object.fromEntries(entries);
  }

  /** Replaces the control variate by the means of a round whose update was sent. */
  replace(next: State): void {
    free(this.#own);
    this.#own = next;
  }

  /** Frees the tensors. */
  free(): void {
    this.replace({});
  }
}
