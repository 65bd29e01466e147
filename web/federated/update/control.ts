// SCAFFOLD's control variates in states: each has the name of its tensor with a prefix.

import * as eg from "edgegrad";
import { isFloating, type State } from "./state.js";

const kPrefix = "control:";

/** The name of a tensor's control variate. */
export const controlOf = (key: string) => `${kPrefix}${key}`;

/** Returns control variates of zero for all floating-point tensors of a state. */
export function zeroControls(state: Readonly<State>): State {
  const floating = Object.entries(state).filter(([, { dtype }]) => isFloating(dtype));
  return Object.fromEntries(
    floating.map(([key, { shape, dtype }]) => [controlOf(key), eg.zeros([...shape], { dtype })]),
  );
}

/** Returns the tensors of a state without the control variates. */
export function withoutControls(state: Readonly<State>): State {
  return Object.fromEntries(Object.entries(state).filter(([key]) => !key.startsWith(kPrefix)));
}

/** Returns the control variates of a state, by the names of their tensors. */
export function controlsIn(state: Readonly<State>): State {
  const entries = Object.entries(state).filter(([key]) => key.startsWith(kPrefix));
  return Object.fromEntries(entries.map(([key, tensor]) => [key.slice(kPrefix.length), tensor]));
}
