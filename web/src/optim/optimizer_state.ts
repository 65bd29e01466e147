// The state dict of an optimizer: what its groups and the states of its parameters are called in PyTorch.

import { isPlainObject } from "../arguments/read.js";
import { describe, fail } from "../runtime/errors/errors.js";
import { camelCase, snakeCase } from "../runtime/host/spelling.js";
import type { Tensor } from "../tensor/tensor.js";
import type { OptimizerState, ParamGroup } from "./groups.js";

/** Lists groups, and the states of their parameters by number, in PyTorch's structure. */
export function listState<Value>(
  groups: readonly { readonly params: readonly Tensor[] }[],
  stateOf: (param: Tensor) => Record<string, Value> | undefined,
): OptimizerState<Value> {
  const numbers = new Map<Tensor, number>();
  const listed = groups.map(({ params, ...settings }) => {
    for (const param of params) numbers.set(param, numbers.size);
    const own = params.map((param) => numbers.get(param) ?? 0);
    const saved = Object.entries(settings).map(([key, value]) => [snakeCase(key), value]);
    return { ...Object.fromEntries(saved), params: own };
  });
  const state: OptimizerState<Value>["state"] = {};
  for (const [param, number] of numbers) {
    const own = stateOf(param);
    if (own !== undefined) state[number] = own;
  }
  return { state, param_groups: listed };
}

/** The settings of the groups, and the saved states of their parameters. */
interface SavedState<Settings extends object, Value> {
  readonly settings: readonly ParamGroup<Settings>[];
  readonly states: readonly (readonly [param: Tensor, state: Record<string, Value>])[];
}

/** Reads the result of listState() for these groups. Throws InvalidArgument for one of other groups. */
export function readState<Settings extends object, Value>(
  name: string,
  given: unknown,
  own: readonly ParamGroup<Settings>[],
): SavedState<Settings, Value> {
  if (!isPlainObject(given) || !isPlainObject(given.state) || !Array.isArray(given.param_groups)) {
    const expected = "the result of stateDict(), { state, param_groups }";
    return fail("InvalidArgument", name, `expected ${expected}, got ${describe(given)}.`);
  }
  const refuse = (expected: string, got: unknown): never =>
    fail("InvalidArgument", name, `state dict: expected ${expected}, got ${got}.`);
  const { state, param_groups: groups } = given;
  if (groups.length !== own.length) refuse(`${own.length} parameter groups`, groups.length);
  const params = new Map<number, Tensor>();
  const settings = own.map((group, i) => {
    const { params: saved, ...others } = isPlainObject(groups[i]) ? groups[i] : {};
    const numbers = Array.isArray(saved) ? saved : [];
    const count = group.params.length;
    if (numbers.length !== count) refuse(`${count} parameters in group ${i}`, numbers.length);
    numbers.forEach((number, k) => {
      params.set(number, group.params[k] as Tensor);
    });
    // Unknown settings, too, because schedulers store their initial rates among them.
    const read = Object.entries(others).map(([key, value]) => [camelCase(key), value] as const);
    return { ...group, ...Object.fromEntries(read) };
  });
  const states = [...params].flatMap(([number, param]): [Tensor, Record<string, Value>][] => {
    const saved: unknown = state[number];
    if (saved === undefined) return [];
    if (isPlainObject(saved)) return [[param, saved as Record<string, Value>]];
    return refuse(`an object as the state of parameter ${number}`, describe(saved));
  });
  return { settings, states };
}
