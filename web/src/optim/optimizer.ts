// What all optimizers share: parameter groups, state per parameter, and PyTorch's state dict.

import { checked, native } from "../runtime/bridge.js";
import { describe, fail } from "../runtime/errors.js";
import { camelCase, snakeCase } from "../runtime/spelling.js";
import { handleOf } from "../tensor/info.js";
import { Tensor } from "../tensor/tensor.js";

/** Parameters with settings of their own; settings left out are the optimizer's. */
export type ParamGroup<Settings> = { params: Tensor[] } & Settings;

/** What an optimizer is made of: parameters, or groups of them. */
export type Params<Settings> = Iterable<Tensor> | Iterable<GroupOf<Settings>>;

/** A group as it is given. */
export type GroupOf<Settings> = { params: Iterable<Tensor> | Tensor } & Partial<Settings>;

/** PyTorch's structure: state by parameter number, settings by group, in PyTorch's spelling. */
export interface OptimizerState {
  state: Record<number, Record<string, Tensor>>;
  param_groups: ({ params: number[] } & Record<string, unknown>)[];
}

/** A group's parameters that have a gradient, with the gradients. */
export interface StepInputs {
  readonly params: readonly Tensor[];
  readonly grads: readonly Tensor[];
}

/** Changes parameters by their gradients. */
export abstract class Optimizer<Settings extends object, State extends object> {
  /** The groups; settings may be changed between steps. */
  readonly paramGroups: ParamGroup<Settings>[] = [];

  protected readonly state = new Map<Tensor, State>();

  constructor(
    params: Params<Settings>,
    protected readonly defaults: Settings,
  ) {
    const given = [...params];
    if (given.length === 0)
      fail("InvalidArgument", this.#name, "optimizer got an empty parameter list.");
    const groups: unknown[] = given.every(isTensor) ? [{ params: given }] : given;
    for (const group of groups) this.addParamGroup(group as GroupOf<Settings>);
  }

  /** Adds parameters, for example those of a layer that is to be trained from now on. */
  addParamGroup(group: GroupOf<Settings>): void {
    const name = this.#name;
    const { params: given } = group;
    if (typeof given !== "object" || given === null) {
      fail("InvalidArgument", name, "expected tensors, or groups { params, ...settings }.");
    }
    const params: readonly unknown[] = isTensor(given) ? [given] : [...given];
    const known = new Set(this.paramGroups.flatMap((one) => one.params));
    for (const param of params) {
      if (!isTensor(param)) {
        fail(
          "InvalidArgument",
          name,
          `optimizer can only optimize Tensors, but one is ${describe(param)}.`,
        );
      }
      if (!param.isLeaf) fail("InvalidArgument", name, "can't optimize a non-leaf Tensor.");
      if (known.has(param)) {
        fail("InvalidArgument", name, "some parameters appear in more than one parameter group.");
      }
      known.add(param);
    }
    const settings = { ...this.defaults, ...group, params: params as Tensor[] };
    this.checkSettings(settings);
    this.paramGroups.push(settings);
  }

  /** Takes the gradients off all parameters. */
  zeroGrad(): void {
    for (const { params } of this.paramGroups) for (const param of params) param.grad = null;
  }

  /** Changes every parameter that has a gradient. With `closure`, calls it first for the loss. */
  step(): undefined;
  step<T>(closure: () => T): T;
  step<T>(closure?: () => T): T | undefined {
    const loss = closure?.();
    for (const group of this.paramGroups) this.#stepGroup(group);
    return loss;
  }

  /** Returns the state and the settings in PyTorch's structure; the tensors are shared. */
  stateDict(): OptimizerState {
    const numbers = new Map<Tensor, number>();
    const groups = this.paramGroups.map(({ params, ...settings }) => {
      for (const param of params) numbers.set(param, numbers.size);
      const own = params.map((param) => numbers.get(param) ?? 0);
      const saved = Object.entries(settings).map(([key, value]) => [snakeCase(key), value]);
      return { ...Object.fromEntries(saved), params: own };
    });
    const state: OptimizerState["state"] = {};
    for (const [param, number] of numbers) {
      const own = this.state.get(param);
      if (own !== undefined) state[number] = this.saveState(own);
    }
    return { state, param_groups: groups };
  }

  /** Takes over what stateDict() returned, here or for the same parameters elsewhere. */
  loadStateDict({ state, param_groups: groups }: OptimizerState): void {
    const name = this.#name;
    if (groups.length !== this.paramGroups.length) {
      fail(
        "InvalidArgument",
        name,
        "loaded state dict has a different number of parameter groups.",
      );
    }
    const params = new Map<number, Tensor>();
    this.paramGroups.forEach((group, i) => {
      const own = groups[i]?.params ?? [];
      if (own.length !== group.params.length) {
        fail(
          "InvalidArgument",
          name,
          "loaded state dict contains a parameter group that doesn't match the size of optimizer's group.",
        );
      }
      own.forEach((number, k) => {
        params.set(number, group.params[k] as Tensor);
      });
    });
    const loaded = [...params].flatMap(([number, param]): [Tensor, State][] => {
      const own = state[number];
      return own === undefined ? [] : [[param, this.loadState(own, param)]];
    });
    this.#dropState();
    for (const [param, own] of loaded) this.state.set(param, own);
    this.paramGroups.forEach((group, i) => {
      // All of them: schedulers keep what they resume from among the settings.
      for (const [key, value] of Object.entries(groups[i] ?? {})) {
        if (key !== "params") Object.assign(group, { [camelCase(key)]: value });
      }
    });
  }

  /** Throws InvalidArgument for settings that make no sense. */
  protected abstract checkSettings(settings: Settings): void;

  /** Changes parameters that all have a gradient. */
  protected abstract update(settings: Settings, inputs: StepInputs): void;

  protected abstract saveState(state: State): Record<string, Tensor>;
  protected abstract loadState(saved: Readonly<Record<string, Tensor>>, param: Tensor): State;

  #stepGroup(group: ParamGroup<Settings>): void {
    const params: Tensor[] = [];
    const grads: Tensor[] = [];
    try {
      for (const param of group.params) {
        const grad = checked(native.grad(handleOf(param)));
        if (grad === 0) continue;
        params.push(param);
        grads.push(new Tensor(grad));
      }
      if (params.length > 0) this.update(group, { params, grads });
    } finally {
      for (const grad of grads) grad.dispose();
    }
  }

  #dropState(): void {
    for (const own of this.state.values()) {
      for (const value of Object.values(own)) if (value instanceof Tensor) value.dispose();
    }
    this.state.clear();
  }

  get #name(): string {
    return this.constructor.name;
  }
}

/** Throws InvalidArgument unless `value` is a number of at least `low` (and below `high`). */
export function checkRange(
  owner: string,
  name: string,
  value: number,
  low = 0,
  high = Infinity,
): void {
  if (typeof value === "number" && value >= low && value < high) return;
  fail("InvalidArgument", owner, `Invalid ${name}: ${describe(value)}.`);
}

function isTensor(value: unknown): value is Tensor {
  return value instanceof Tensor;
}
