// The base class of strategies, and the mean that most of them begin with.

import * as eg from "edgegrad";
import type { ClientSettings } from "../record.js";
import { at, isFloating, mapState, type State } from "../update/state.js";

/** A client's update, as strategies receive it. */
export interface Update {
  /** The name of the client. */
  readonly client: string;
  /** The number of samples that the client trained with. */
  readonly samples: number;
  /** The client's weights. Each access decodes them, so that a strategy that handles one update at a time needs little memory. */
  readonly weights: State;
}

/**
 * How updates become the next weights. For your own strategy, extend this class and override `aggregate`. State that it keeps between rounds
 * must be in `stateDict`, which is stored with the weights of each round.
 */
export abstract class Strategy {
  /** The minimum number of updates that it needs. */
  get fewestUpdates(): number {
    return 1;
  }

  /** Whether its result for the mean of updates equals that for the updates, which private runs need; default false. */
  get takesMean(): boolean {
    return false;
  }

  /** What clients do in addition to training; default nothing. */
  get client(): Pick<ClientSettings, "mu" | "control"> {
    return {};
  }

  /** Returns the initial state of the run, which clients receive and send: the weights and what else the strategy needs; default the weights. */
  stateOfRun(weights: State): State {
    return weights;
  }

  /** Returns the names of the tensors that a round trains; default null, for all. */
  keysOf(_global: Readonly<State>, _round: number): readonly string[] | null {
    return null;
  }

  /**
   * Returns the next weights: tensors of the same names, shapes and dtypes as `global`, the weights of the round (or those of keysOf()). It runs in
   * noGrad(), and the tensors that it creates are freed afterward, except results and those kept with `eg.keep`.
   */
  abstract aggregate(global: State, updates: readonly Update[], round: number): State;

  /** Returns the state that it keeps between rounds, in the form that `eg.io.save` takes; default nothing. */
  stateDict(): Record<string, unknown> {
    return {};
  }

  /** Loads the result of another instance's stateDict(). The state of an instance that has seen no round resets this one. */
  loadStateDict(_state: Record<string, unknown>): void {}

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/** The mean of weights, weighted by the samples of the updates; integer tensors are rounded. */
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

/** Returns a state whose floating-point tensors come from a function, and the others from `rest`. */
export function floatingBy(
  rest: State,
  make: (tensor: eg.Tensor, key: string) => eg.Tensor,
): State {
  return mapState(rest, (tensor, key) =>
    isFloating(tensor.dtype) ? make(tensor, key).to(tensor.dtype) : tensor,
  );
}
