// What all optimizers share: parameter groups, state per parameter, and PyTorch's state dict.

import { isPlainObject, readAfter, readArguments, readOptions } from "../arguments/read.js";
import {
  functionOf,
  number,
  type Rule,
  type Rules,
  unchecked,
  type Values,
} from "../arguments/rule.js";
import { type ZeroGradArguments, zeroGrads } from "../autograd/zero_grad.js";
import { checkStep_ } from "../generated/internal.js";
import { clone } from "../generated/ops.js";
import { checked, native } from "../runtime/bridge.js";
import { describe, EdgeGradError, fail } from "../runtime/errors.js";
import { isCapturing, runLive } from "../runtime/live.js";
import { camelCase, snakeCase } from "../runtime/spelling.js";
import { handleOf } from "../tensor/info.js";
import { keep } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { callClosure } from "./closure.js";

/** Parameters with settings of their own; settings left out are the optimizer's. */
export type ParamGroup<Settings> = { params: Tensor[] } & Settings;

/** What an optimizer is made of: parameters, or groups of them. */
export type Params<Settings> = Iterable<Tensor> | Iterable<GroupOf<Settings>>;

/** A group as it is given. */
export type GroupOf<Settings> = GroupParts & Partial<Settings>;

/** What a group has besides the settings of its optimizer. */
export interface GroupParts {
  /** The parameters. */
  params: Iterable<Tensor> | Tensor;
  /** The rate that schedulers begin with when training is resumed. */
  initialLr?: number;
}

/** The declaration of an optimizer's settings. */
export type SettingRules<Settings> = { readonly [Name in keyof Settings]: Rule<Settings[Name]> };

/** PyTorch's structure: state by parameter number, settings by group, in PyTorch's spelling. */
export interface OptimizerState<Value = Tensor> {
  /** What is remembered of each parameter, by its number. */
  state: Record<number, Record<string, Value>>;
  /** The settings of each group, and the numbers of its parameters. */
  param_groups: ({ params: number[] } & Record<string, unknown>)[];
}

/** A group's parameters that have a gradient, with the gradients. */
export interface StepInputs {
  readonly params: readonly Tensor[];
  readonly grads: readonly Tensor[];
}

/** A change of parameters that is going to be made: what it reads and writes, and the making. */
export interface PlannedStep extends StepInputs {
  /** State as lists of one tensor per parameter. */
  readonly states: readonly (readonly Tensor[])[];
  readonly run: () => void;
}

/** Reads the settings after the parameters, by position in PyTorch's order or by name. */
export function readSettings<R extends Rules>(
  where: string,
  rules: R,
  rest: readonly unknown[],
): Values<R> {
  return readAfter(where, "params", rules, rest);
}

/** Changes parameters by their gradients. */
export abstract class Optimizer<Settings extends object, State extends object, Value = Tensor> {
  /** The groups; settings may be changed between steps. */
  readonly paramGroups: ParamGroup<Settings>[] = [];

  protected readonly state = new Map<Tensor, State>();

  #undo: (() => void)[] = [];

  readonly #rules: SettingRules<Settings>;

  /** `defaults` are settings that groups can have otherwise; without `rules` they can be anything. */
  constructor(
    params: Params<Settings>,
    protected readonly defaults: Settings,
    rules?: SettingRules<Settings>,
  ) {
    const name = new.target.name;
    if (!isPlainObject(defaults)) {
      fail("InvalidArgument", name, "an optimizer is made by a class that extends this one.");
    }
    this.#rules = rules ?? (mapped(defaults, () => kAnything) as SettingRules<Settings>);
    const given = listOf(name, params);
    if (given.length === 0) {
      fail("InvalidArgument", name, "optimizer got an empty parameter list.");
    }
    const groups: unknown[] = given.every(isTensor) ? [{ params: given }] : given;
    for (const group of groups) this.addParamGroup(group as GroupOf<Settings>);
    if (this.step !== Optimizer.prototype.step) this.#keepStateOfOwnStep();
  }

  /** Adds parameters, for example those of a layer that is to be trained from now on. */
  addParamGroup(...rest: [group: GroupOf<Settings>]): void {
    const name = this.#name;
    const [group] = rest;
    if (!isPlainObject(group)) {
      const told = `expected tensors, or groups { params, ...settings }, got ${describe(group)}.`;
      fail("InvalidArgument", name, told);
    }
    const own = mapped(this.#rules, (rule: Rule<unknown>, key) => {
      return rule.or(this.defaults[key as keyof Settings]);
    });
    const rules = { params: kAnything, initialLr: number.optional(), ...own };
    const { params: given, initialLr, ...read } = readOptions(name, rules, rest);
    const params = isTensor(given) ? [given] : listOf(name, given);
    this.#checkParams(params);
    const settings = { ...(read as Settings), params };
    if (initialLr !== undefined) Object.assign(settings, { initialLr });
    this.checkSettings(settings);
    this.paramGroups.push(settings);
  }

  /** Takes the gradients off all parameters; with `setToNone` false they stay the tensors they are and become zeros. */
  zeroGrad(...given: ZeroGradArguments): void {
    const where = `${this.#name}.zeroGrad`;
    const params = this.#params();
    zeroGrads(where, params, given);
    if (!isCapturing()) return;
    // Parameters of groups that are added later have theirs in every replay.
    const known = new Set(params);
    runLive(() => {
      const now = this.#params();
      const added = now.filter((param) => !known.has(param));
      if (now.length - added.length < known.size) {
        const told =
          "a parameter was taken out of the groups of the optimizer since the function was captured: capture it again.";
        fail("InvalidArgument", where, told);
      }
      if (added.length > 0) zeroGrads(where, added, given);
    });
  }

  /** Changes every parameter that has a gradient. With `closure`, calls it first for the loss. */
  step(): undefined;
  step<T>(closure: () => T): T;
  step<T>(...given: [closure?: () => T]): T | undefined {
    // Most steps are called without anything, and a small model has many of them a second.
    const loss = given.length === 0 ? undefined : this.#lossOf(given);
    // In a captured function it finds groups and gradients anew each time.
    runLive(() => this.#runAll());
    return loss;
  }

  /** Returns the state and the settings in PyTorch's structure; the tensors are shared. */
  stateDict(): OptimizerState<Value> {
    const numbers = new Map<Tensor, number>();
    const groups = this.paramGroups.map(({ params, ...settings }) => {
      for (const param of params) numbers.set(param, numbers.size);
      const own = params.map((param) => numbers.get(param) ?? 0);
      const saved = Object.entries(settings).map(([key, value]) => [snakeCase(key), value]);
      return { ...Object.fromEntries(saved), params: own };
    });
    const state: OptimizerState<Value>["state"] = {};
    for (const [param, number] of numbers) {
      const own = this.state.get(param);
      if (own !== undefined) state[number] = this.saveState(own);
    }
    return { state, param_groups: groups };
  }

  /** Takes over what stateDict() returned, here or for the same parameters elsewhere. */
  loadStateDict(saved: OptimizerState<Value>): void {
    const name = this.#name;
    if (
      !isPlainObject(saved) ||
      !isPlainObject(saved.state) ||
      !Array.isArray(saved.param_groups)
    ) {
      const told = `expected what stateDict() returns, { state, param_groups }, got ${describe(saved)}.`;
      fail("InvalidArgument", name, told);
    }
    const { state, param_groups: groups } = saved;
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
    for (const [param, own] of loaded) this.state.set(param, keep(own));
    this.paramGroups.forEach((group, i) => {
      // All of them: schedulers keep what they resume from among the settings.
      for (const [key, value] of Object.entries(groups[i] ?? {})) {
        if (key !== "params") Object.assign(group, { [camelCase(key)]: value });
      }
    });
  }

  /** Throws InvalidArgument for settings that make no sense. */
  protected checkSettings(_settings: Settings): void {}

  /** Plans the change of parameters that all have a gradient; changes nothing but newState(). */
  protected plan(_settings: Settings, _inputs: StepInputs): readonly PlannedStep[] {
    const told = "a class that extends Optimizer says in a method step() what its step does.";
    return fail("InvalidArgument", this.#name, told);
  }

  /** Gives a parameter its state, which no scope frees; it is taken back when the step that it is made for fails. */
  protected addState(param: Tensor, own: State): State {
    this.state.set(param, keep(own));
    this.#undo.push(() => {
      this.state.delete(param);
      disposeState(own);
    });
    return own;
  }

  /** A part of a state, made when it is first wanted, and taken back in the same way. */
  protected partOf<Key extends keyof State>(
    own: State,
    key: Key,
    make: () => NonNullable<State[Key]>,
  ): NonNullable<State[Key]> {
    const known = own[key];
    if (known !== undefined && known !== null) return known;
    const made = keep(make());
    own[key] = made;
    this.#undo.push(() => {
      delete own[key];
      disposeState({ made });
    });
    return made;
  }

  /** What is saved of the state of one parameter. */
  protected saveState(state: State): Record<string, Value> {
    return mapped(state, (value) => (value instanceof Tensor ? value.detach() : value)) as Record<
      string,
      Value
    >;
  }

  /** The state of one parameter, from what saveState() returned. */
  protected loadState(saved: Readonly<Record<string, Value>>, param: Tensor): State {
    const copied = (value: Value) => {
      return value instanceof Tensor ? clone(value.detach().to(param.device)) : value;
    };
    return mapped(saved, copied) as State;
  }

  // A step() of a program's own may put new tensors into its state at any time, and anywhere.
  #keepStateOfOwnStep(): void {
    const { step } = this;
    const keeping = (...given: Parameters<typeof step>) => {
      try {
        return step.apply(this, given);
      } finally {
        const { paramGroups: _, state, ...own } = this;
        keep([own, ...state.values()]);
      }
    };
    Object.defineProperty(this, "step", { value: keeping, writable: true, configurable: true });
  }

  #lossOf<T>(given: readonly [closure?: () => T]): T | undefined {
    const where = `${this.#name}.step`;
    const { closure } = readArguments(where, kStepArguments, given);
    return closure && callClosure(where, closure);
  }

  // All that can be wrong in any group is found before the first parameter changes.
  #runAll(): void {
    this.#undo = [];
    const grads: Tensor[] = [];
    try {
      const inputs = this.paramGroups.map((group) => collectInputs(group.params, grads));
      const steps = this.paramGroups.flatMap((group, i) => {
        const own = inputs[i] as StepInputs;
        if (own.params.length === 0) return [];
        this.checkTypes(group);
        return this.plan(group, own);
      });
      this.#inOwnName(() => {
        // One alone looks at all it has before it changes anything.
        if (steps.length > 1) {
          for (const { params, grads, states } of steps) checkStep_(params, grads, states.flat());
        }
        for (const planned of steps) planned.run();
      });
    } catch (error) {
      for (const undo of this.#undo.reverse()) undo();
      throw error;
    } finally {
      for (const grad of grads) grad.dispose();
    }
  }

  /** Settings may have been changed since they were read; only their kind is looked at, as in PyTorch. */
  protected checkTypes(group: ParamGroup<Settings>): void {
    for (const key in this.#rules) this.#rules[key].check(this.#name, key, group[key]);
  }

  #inOwnName(work: () => void): void {
    try {
      work();
    } catch (error) {
      if (!EdgeGradError.isOne(error)) throw error;
      throw new EdgeGradError(
        error.code,
        `[${this.#name}] ${error.message.replace(/^\[\w+\] /, "")}`,
      );
    }
  }

  #params(): Tensor[] {
    return this.paramGroups.flatMap((group) => group.params);
  }

  #checkParams(params: unknown[]): asserts params is Tensor[] {
    const name = this.#name;
    const known = new Set(this.#params());
    for (const param of params) {
      if (!isTensor(param)) {
        const told = `optimizer can only optimize Tensors, but one is ${describe(param)}.`;
        fail("InvalidArgument", name, told);
      }
      if (!param.isLeaf) fail("InvalidArgument", name, "can't optimize a non-leaf Tensor.");
      if (known.has(param)) {
        fail("InvalidArgument", name, "some parameters appear in more than one parameter group.");
      }
      known.add(param);
    }
  }

  #dropState(): void {
    for (const own of this.state.values()) disposeState(own);
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

// The optimizer itself says what is wrong with parameters.
const kAnything = unchecked<unknown>().or(undefined);

const kStepArguments = { closure: functionOf<() => never>().optional() };

function mapped<T extends object, U>(object: T, map: (value: T[keyof T], key: string) => U) {
  const entries = Object.entries(object).map(([key, value]) => [key, map(value, key)]);
  return Object.fromEntries(entries) as Record<keyof T & string, U>;
}

// The parameters or groups that an optimizer was given.
function listOf(name: string, given: unknown): unknown[] {
  const module = given as { parameters?: unknown } | null | undefined;
  if (typeof module?.parameters === "function") {
    fail(
      "InvalidArgument",
      name,
      `expected parameters, got ${describe(given)}: pass .parameters() of it.`,
    );
  }
  const isIterable = typeof given === "object" && given !== null && Symbol.iterator in given;
  if (!isIterable || isTensor(given)) {
    const advice = typeof given === "function" ? " Call it: model.parameters()." : "";
    const told = `params argument given to the optimizer should be an iterable of Tensors or groups, but got ${describe(given)}.${advice}`;
    fail("InvalidArgument", name, told);
  }
  return [...(given as Iterable<unknown>)];
}

function disposeState(own: object): void {
  for (const value of Object.values(own)) {
    if (value instanceof Tensor) value.dispose();
    else if (typeof value === "object" && value !== null) disposeState(value);
  }
}

// The parameters that have a gradient; the gradients are also added to `all`, for their owner.
function collectInputs(params: readonly Tensor[], all: Tensor[]): StepInputs {
  const inputs = { params: [] as Tensor[], grads: [] as Tensor[] };
  for (const param of params) {
    const handle = checked(native.grad(handleOf(param)));
    if (handle === 0) continue;
    const grad = new Tensor(handle);
    // Whoever makes the step frees it, which may be made again later (runtime/live.ts).
    grad.isKept = true;
    all.push(grad);
    inputs.params.push(param);
    inputs.grads.push(grad);
  }
  return inputs;
}

function isTensor(value: unknown): value is Tensor {
  return value instanceof Tensor;
}
