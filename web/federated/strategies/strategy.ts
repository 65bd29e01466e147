// What a strategy is, and the mean that most begin with.

import * as eg from "edgegrad";
import type { ClientSettings } from "../record.js";
import { at, isFloating, mapState, type State } from "../update/state.js";

/** A client's update, as a strategy gets it. */
export interface Update {
  /** The name of the client. */
  readonly client: string;
  /** How many samples the client trained with. */
  readonly samples: number;
  /** The client's weights. They are decoded at each access, so that a strategy can go from update to update in little memory. */
  readonly weights: State;
}

/**
 * How updates become the next weights. Extend it and override `aggregate` for a strategy of your own; what it remembers from round to
 * round must be in `stateDict`, which is stored with the weights of each round.
 */
export abstract class Strategy {
  /** The fewest updates of which it can make weights. */
  get fewestUpdates(): number {
    return 1;
  }

  /** Whether it gives the same result for the mean of updates as for the updates, which private runs need; default false. */
  get takesMean(): boolean {
    return false;
  }

  /** What clients do besides training; default nothing. */
  get client(): Pick<ClientSettings, "mu" | "control"> {
    return {};
  }

  /** Returns the run's state at first, which clients get and send: the weights, and what the strategy needs besides; default the weights. */
  stateOfRun(weights: State): State {
    return weights;
  }

  /** Returns the names of the tensors that a round is about; default null, for all. */
  keysOf(_global: Readonly<State>, _round: number): readonly string[] | null {
    return null;
  }

  /**
   * Returns the next weights: tensors of the same names, shapes and dtypes as `global`, the weights of the round (or those of keysOf()). It runs without
   * recording gradients, and tensors that it makes are freed afterwards, except results and what is kept with `eg.keep`.
   */
  abstract aggregate(global: State, updates: readonly Update[], round: number): State;

  /** Returns what it remembers, in the form that `eg.io.save` takes; default nothing. */
  stateDict(): Record<string, unknown> {
    return {};
  }

  /** Takes over what stateDict() of another instance has returned; of one that has seen no round, it forgets everything. */
  loadStateDict(_state: Record<string, unknown>): void {}

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** The mean of weights, each update counted by its samples; tensors of integers are rounded. */
export function meanOf(global: State, updates: readonly Update[]): State {
  const total = updates.reduce((sum, { samples }) => sum + samples, 0);
  const sums = mapState(global, ({ shape, dtype }) =>
    eg.zeros([...shape], { dtype: sumDType(dtype) }),
  );
  for (const update of updates) {
    eg.scope(() => {
      const { weights } = update;
      const share = update.samples / total;
      for (const [key, sum] of Object.entries(sums)) {
        sum.add_(at(weights, key).to(sum.dtype).mul(share));
      }
    });
  }
  return mapState(sums, (sum, key) => {
    const { dtype } = at(global, key);
    return (isFloating(dtype) ? sum : sum.round()).to(dtype);
  });
}

function sumDType(dtype: eg.DType): eg.DType {
  if (dtype === "float64") return dtype;
  return isFloating(dtype) ? "float32" : "float64";
}

/** Returns a state whose floating-point tensors are made by a function and whose others are taken from `rest`. */
export function floatingBy(
  rest: State,
  make: (tensor: eg.Tensor, key: string) => eg.Tensor,
): State {
  return mapState(rest, (tensor, key) =>
    isFloating(tensor.dtype) ? make(tensor, key).to(tensor.dtype) : tensor,
  );
}
