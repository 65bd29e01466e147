// Model states: tensors by name.

import * as eg from "edgegrad";
import { refuse } from "../../errors/errors.js";
import { isPlain } from "../../nats/options.js";

/** A module's state: its parameters and buffers by name. */
export type State = Record<string, eg.Tensor>;

/** The dtype and shape of a tensor. */
export interface TensorSpec {
  readonly dtype: eg.DType;
  readonly shape: readonly number[];
}

/** The names, dtypes and shapes that all states of a model share. */
export type StateSpec = ReadonlyMap<string, TensorSpec>;

/** Checks that an option is a state and returns it; throws InvalidArgument otherwise. */
export function stateFrom(where: string, option: string, value: unknown): State {
  const isState = isPlain(value) && Object.values(value).every((item) => item instanceof eg.Tensor);
  return isState ? (value as State) : refuse(where, option, "tensors by name", value);
}

/** Returns the spec of a state. */
export function specOf(state: Readonly<State>): StateSpec {
  return new Map(Object.entries(state).map(([key, { dtype, shape }]) => [key, { dtype, shape }]));
}

/** Whether a dtype is a floating-point one, whose tensors are trained; others, such as batch counters, are only copied. */
export function isFloating(dtype: eg.DType): boolean {
  return dtype.startsWith("float") || dtype.startsWith("bfloat");
}

/** Whether a tensor has neither NaN nor infinities. */
export function allFinite(tensor: eg.Tensor): boolean {
  return !isFloating(tensor.dtype) || Boolean(tensor.isfinite().all().item());
}

/** Maps the tensors of a state; also handles names such as "__proto__". */
export function mapState(
  state: Readonly<State>,
  make: (tensor: eg.Tensor, key: string) => eg.Tensor,
): State {
  return Object.fromEntries(Object.entries(state).map(([key, tensor]) => [key, make(tensor, key)]));
}

/** Returns the tensors of some names. */
export function pick(state: Readonly<State>, keys: readonly string[]): State {
  return Object.fromEntries(keys.map((key) => [key, at(state, key)]));
}

/** Returns a detached copy of a state. */
export function copyOf(state: Readonly<State>): State {
  return eg.scope(() => mapState(state, (tensor) => tensor.detach().clone()));
}

/** Returns a copy of a module's state. */
export function stateOf(module: eg.nn.Module): State {
  return eg.scope(() => copyOf(module.stateDict()));
}

/** Frees the tensors of a state. */
export function free(state: Readonly<State>): void {
  for (const tensor of Object.values(state)) tensor.dispose();
}

/** Returns state - from, in each tensor's dtype (int32 for bool). */
export function differenceOf(state: Readonly<State>, from: Readonly<State>): State {
  return mapState(state, (tensor, key) => numbers(tensor).sub(numbers(at(from, key))));
}

/** Returns from + difference, in the dtypes of `from`. */
export function sumOf(from: Readonly<State>, difference: Readonly<State>): State {
  return mapState(from, (tensor, key) => numbers(tensor).add(at(difference, key)).to(tensor.dtype));
}

/** Returns the tensor of a name, which every state of a model has. */
export function at(state: Readonly<State>, key: string): eg.Tensor {
  return state[key] as eg.Tensor;
}

/** The Euclidean norm of all floating-point tensors of a state together; not finite if an element is not. */
export function normOf(state: Readonly<State>): number {
  return eg.scope(() => {
    const squares = Object.values(state)
      .filter(({ dtype }) => isFloating(dtype))
      .map((tensor) => tensor.to("float64").square().sum());
    return squares.length === 0 ? 0 : Math.sqrt(eg.stack(squares).sum().item() as number);
  });
}

function numbers(tensor: eg.Tensor): eg.Tensor {
  return tensor.dtype === "bool" ? tensor.to("int32") : tensor;
}
