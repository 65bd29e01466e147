// The base class of all optimizers: parameter groups, state per parameter, and PyTorch's state dict.

import {
  type Arguments,
  isPlainObject,
  readAfter,
  readArguments,
  readOptions,
} from "../arguments/read.js";
import {
  functionOf,
  listOf,
  number,
  type Rule,
  type Rules,
  text,
  unchecked,
  type Values,
} from "../arguments/rule.js";
import type { HookHandle } from "../autograd/hooks.js";
import { type ZeroGradArguments, zeroGrads } from "../autograd/zero_grad.js";
import { checkStep_ } from "../generated/internal.js";
import { clone } from "../generated/ops.js";
import { isCapturing, runLive } from "../runtime/bridge/live.js";
import { kCopy, kThisCopy } from "../runtime/errors/copy.js";
import { describe, EdgeGradError, fail, refuseImitation } from "../runtime/errors/errors.js";
import { keysOf } from "../runtime/host/keys.js";
import { keep } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { callClosure } from "./closure.js";
import { type CollectedInputs, collectInputs } from "./collect_inputs.js";
import type {
  GroupOf,
  OptimizerState,
  ParamGroup,
  Params,
  PlannedStep,
  RateSettings,
  SettingRules,
  StepInputs,
} from "./groups.js";
import {
  globalHooks,
  kHookOptions,
  type OptimizerHook,
  type OptimizerHookOptions,
  OptimizerHooks,
  type OptimizerStateHook,
  type StepPostHook,
  type StepPreHook,
  throughHooks,
  withStepHooks,
} from "./hooks.js";
import { listState, readState } from "./optimizer_state.js";
import { formatOptimizer } from "./optimizer_text.js";
import { type AnyStep, quietStep } from "./own_step.js";
import { elementsOf, isParam, readGroupParams } from "./params.js";

/** Reads the settings after the parameters, by position in PyTorch's order or by name. */
export function readSettings<R extends Rules>(
  where: string,
  rules: R,
  rest: readonly unknown[],
): Values<R> {
  return readAfter(where, "params", rules, rest);
}

const kInsteadOfCopies = "a new optimizer, and loadStateDict(it.stateDict())";

/**
 * Updates parameters by their gradients. A class that extends this one implements step(), which runs without recording; the
 * closure that it is given records. What it stores in `state` by parameter is saved and loaded with the settings of the groups.
 */
export abstract class Optimizer<
  Settings extends object = RateSettings,
  State extends object = Record<string, Tensor | number>,
  Value = unknown,
> {
  /** The groups; settings may be changed between steps. */
  readonly paramGroups: ParamGroup<Settings>[] = [];

  protected readonly state = new Map<Tensor, State>();

  #undo: (() => void)[] = [];

  #hooks: OptimizerHooks | null = null;

  readonly #rules: SettingRules<Settings>;

  /** `defaults` are the settings, which groups may override; without `rules` they may have any value. */
  constructor(
    params: Params<Settings>,
    protected readonly defaults: Settings,
    rules?: SettingRules<Settings>,
  ) {
    const name = new.target.name;
    if (!isPlainObject(defaults)) {
      fail("InvalidArgument", name, "create an optimizer through a class that extends this one.");
    }
    this.#rules = rules ?? (mapped(defaults, () => kAnything) as SettingRules<Settings>);
    const given = elementsOf(name, params);
    if (given.length === 0) {
      fail("InvalidArgument", name, "params: expected at least one parameter, got an empty list.");
    }
    const groups: unknown[] = given.every(isParam) ? [{ params: given }] : given;
    for (const group of groups) this.addParamGroup(group as GroupOf<Settings>);
    const { step } = this;
    if (step !== Optimizer.prototype.step) this.#useOwnStep(step);
  }

  /** Adds parameters, for example those of a layer to be trained from now on. */
  addParamGroup(...rest: [group: GroupOf<Settings>]): void {
    const name = this.#name;
    const [group] = rest;
    if (!isPlainObject(group)) {
      const reason = `expected tensors, or groups { params, ...settings }, got ${describe(group)}.`;
      fail("InvalidArgument", name, reason);
    }
    const own = mapped(this.#rules, (rule: Rule<unknown>, key) => {
      return rule.or(this.defaults[key as keyof Settings]);
    });
    const rules = { ...kGroupRules, ...own };
    const { params: given, paramNames, initialLr, ...read } = readOptions(name, rules, rest);
    const { params, names } = readGroupParams(
      name,
      given,
      paramNames as string[] | undefined,
      this.paramGroups,
    );
    const settings: ParamGroup<Settings> = { ...(read as Settings), params };
    if (names !== undefined) settings.paramNames = names;
    if (initialLr !== undefined) Object.assign(settings, { initialLr });
    this.checkSettings(settings);
    this.paramGroups.push(settings);
  }

  /** Sets the gradients of all parameters to null, or with `setToNone: false` to zeros in place. */
  zeroGrad(...given: ZeroGradArguments): void {
    if (!(#undo in this)) refuseImitation(this, kInsteadOfCopies);
    const where = `${this.#name}.zeroGrad`;
    const params = this.#params();
    zeroGrads(where, params, given);
    if (!isCapturing()) return;
    // Every replay also clears the gradients of groups that were added later.
    const known = new Set(params);
    runLive(() => {
      const now = this.#params();
      const added = now.filter((param) => !known.has(param));
      if (now.length - added.length < known.size) {
        const reason =
          "a parameter was removed from the groups of the optimizer after the function was captured: capture it again.";
        fail("InvalidArgument", where, reason);
      }
      if (added.length > 0) zeroGrads(where, added, given);
    });
  }

  /** Updates every parameter that has a gradient. A `closure` is called first, and its result, the loss, is returned. */
  // biome-ignore lint/suspicious/noExplicitAny: a class that extends this one says what its step returns.
  step(...given: [closure?: () => any]): any {
    if (!(#undo in this)) refuseImitation(this, kInsteadOfCopies);
    if (globalHooks === null && this.#hooks === null) return this.#step(given);
    return withStepHooks(this, this.#hooks, (...args) => this.#step(args as typeof given), given);
  }

  #step(given: readonly [closure?: () => unknown]): unknown {
    // Skips reading the arguments of the usual call without any, because a small model has many steps per second.
    const loss = given.length === 0 ? undefined : this.#lossOf(given);
    // In a captured function, every replay looks up groups and gradients again.
    runLive(() => this.#runAll());
    return loss;
  }

  /** Calls `hook` with the arguments of step() before it; an array that it returns replaces them. */
  registerStepPreHook(hook: StepPreHook<this>): HookHandle {
    return this.#ensureHooks().add("stepPre", hook, false);
  }

  /** Calls `hook` with the arguments of step() after it. */
  registerStepPostHook(hook: StepPostHook<this>): HookHandle {
    return this.#ensureHooks().add("stepPost", hook, false);
  }

  /** Calls `hook` before stateDict() reads the state. */
  registerStateDictPreHook(
    hook: OptimizerHook<this>,
    ...rest: Arguments<[prepend: boolean], OptimizerHookOptions>
  ): HookHandle {
    return this.#addHook("registerStateDictPreHook", "statePre", hook, rest);
  }

  /** Calls `hook` with the result of stateDict(); one that it returns replaces it. */
  registerStateDictPostHook(
    hook: OptimizerStateHook<this, OptimizerState<Value>>,
    ...rest: Arguments<[prepend: boolean], OptimizerHookOptions>
  ): HookHandle {
    return this.#addHook("registerStateDictPostHook", "statePost", hook, rest);
  }

  /** Calls `hook` with a copy of the state dict before loadStateDict() reads it; one that it returns replaces it. */
  registerLoadStateDictPreHook(
    hook: OptimizerStateHook<this, OptimizerState<Value>>,
    ...rest: Arguments<[prepend: boolean], OptimizerHookOptions>
  ): HookHandle {
    return this.#addHook("registerLoadStateDictPreHook", "loadPre", hook, rest);
  }

  /** Calls `hook` after loadStateDict() has loaded the state. */
  registerLoadStateDictPostHook(
    hook: OptimizerHook<this>,
    ...rest: Arguments<[prepend: boolean], OptimizerHookOptions>
  ): HookHandle {
    return this.#addHook("registerLoadStateDictPostHook", "loadPost", hook, rest);
  }

  #addHook(
    where: string,
    list: Parameters<OptimizerHooks["add"]>[0],
    hook: unknown,
    rest: readonly unknown[],
  ): HookHandle {
    const { prepend } = readArguments(where, kHookOptions, rest);
    return this.#ensureHooks().add(list, hook, prepend);
  }

  #ensureHooks(): OptimizerHooks {
    this.#hooks ??= new OptimizerHooks();
    return this.#hooks;
  }

  /** Returns the state and the settings in PyTorch's structure; the tensors are shared. */
  stateDict(): OptimizerState<Value> {
    for (const hook of this.#hooks?.statePre ?? []) hook(this);
    const state = listState(this.paramGroups, (param) => {
      const own = this.state.get(param);
      return own && this.saveState(own);
    });
    return throughHooks(this.#hooks?.statePost ?? [], this, state);
  }

  /** Restores the state that stateDict() of this or another optimizer for the same parameters returned. */
  loadStateDict(saved: OptimizerState<Value>): void {
    const name = this.#name;
    const hooks = this.#hooks?.loadPre ?? [];
    const given = isPlainObject(saved) ? throughHooks(hooks, this, { ...saved }) : saved;
    const { settings, states } = readState<Settings, Value>(name, given, this.paramGroups);
    for (const group of settings) this.checkTypes(group);
    const loaded = states.map(([param, own]) => [param, this.loadState(own, param)] as const);
    this.#dropState();
    for (const [param, own] of loaded) this.state.set(param, keep(own));
    this.paramGroups.forEach((group, i) => {
      Object.assign(group, settings[i]);
    });
    for (const hook of this.#hooks?.loadPost ?? []) hook(this);
  }

  /** Returns the settings of all groups, in the format that PyTorch prints. */
  toString(): string {
    return formatOptimizer(this.#name, this.paramGroups);
  }

  /** Returns what console.log shows in Node. @internal */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  /** Throws InvalidArgument for invalid settings. */
  protected checkSettings(_settings: Settings): void {}

  /** Plans the update of parameters, all of which have a gradient. Changes nothing except through addState() and partOf(). */
  protected plan(_settings: Settings, _inputs: StepInputs): readonly PlannedStep[] {
    const reason = "a class that extends Optimizer must implement step().";
    return fail("InvalidArgument", this.#name, reason);
  }

  /** Plans the update of parameters whose gradients are sparse, like plan(). */
  protected planSparse(_settings: Settings, _inputs: StepInputs): readonly PlannedStep[] {
    const reason =
      "does not support sparse gradients. Use SparseAdam, SGD or Adagrad, or make the gradients dense: sparse: false.";
    return fail("InvalidArgument", this.#name, reason);
  }

  /** Sets the state of a parameter, which no scope frees. It is removed again if the current step fails. */
  protected addState(param: Tensor, own: State): State {
    this.state.set(param, keep(own));
    this.#undo.push(() => {
      this.state.delete(param);
      disposeState(own);
    });
    return own;
  }

  /** A part of a state, created at its first use, and removed again if the current step fails. */
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

  /** The state of one parameter in the form in which it is saved. */
  protected saveState(state: State): Record<string, Value> {
    return mapped(state, (value) => (value instanceof Tensor ? value.detach() : value)) as Record<
      string,
      Value
    >;
  }

  /** The state of one parameter, from the result of saveState(). */
  protected loadState(saved: Readonly<Record<string, Value>>, param: Tensor): State {
    const copied = (value: Value) => {
      return value instanceof Tensor ? clone(value.detach().to(param.device)) : value;
    };
    return mapped(saved, copied) as State;
  }

  // A step() that a program defines may store new tensors at any time in any property.
  #useOwnStep(step: AnyStep): void {
    const quiet = quietStep(`${this.#name}.step`, step);
    const keeping = (...given: Parameters<AnyStep>) => {
      try {
        return withStepHooks(this, this.#hooks, quiet as (...given: unknown[]) => unknown, given);
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

  // All groups are checked before the first parameter changes.
  #runAll(): void {
    this.#undo = [];
    const grads: Tensor[] = [];
    try {
      const inputs = this.paramGroups.map((group) => collectInputs(group.params, grads));
      const steps = this.paramGroups.flatMap((group, i) => {
        const { dense, sparse } = inputs[i] as CollectedInputs;
        if (dense.params.length > 0 || sparse.params.length > 0) this.checkTypes(group);
        return [
          ...(dense.params.length > 0 ? this.plan(group, dense) : []),
          ...(sparse.params.length > 0 ? this.planSparse(group, sparse) : []),
        ];
      });
      this.#inOwnName(() => {
        // A single planned step checks everything itself before it changes anything.
        if (steps.length > 1) {
          for (const { params, grads, states, isSparse } of steps)
            if (isSparse !== true) checkStep_(params, grads, states.flat());
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

  /**
   * Checks the types of settings, which may have been changed since they were read. As in PyTorch, ranges are not checked. Settings that
   * are undefined become those of the optimizer.
   */
  protected checkTypes(group: ParamGroup<Settings>): void {
    for (const key of keysOf(this.#rules)) {
      this.#rules[key].check(this.#name, key, group[key]);
      if (group[key] === undefined) Object.assign(group, { [key]: this.defaults[key] });
    }
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

  #dropState(): void {
    for (const own of this.state.values()) disposeState(own);
    this.state.clear();
  }

  get #name(): string {
    return this.constructor.name;
  }

  /** Where this class is. @internal */
  get [kCopy](): object {
    return kThisCopy;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

// Accepts anything: the optimizer checks parameters itself.
const kAnything = unchecked<unknown>().or(undefined);

// The properties of a group besides the settings of its optimizer.
const kGroupRules = {
  params: kAnything,
  paramNames: listOf(text).optional(),
  initialLr: number.optional(),
};

const kStepArguments = { closure: functionOf<() => never>().optional() };

function mapped<T extends object, U>(object: T, map: (value: T[keyof T], key: string) => U) {
  const entries = Object.entries(object).map(([key, value]) => [key, map(value, key)]);
  return Object.fromEntries(entries) as Record<keyof T & string, U>;
}

function disposeState(own: object): void {
  for (const value of Object.values(own)) {
    if (value instanceof Tensor) value.dispose();
    else if (typeof value === "object" && value !== null) disposeState(value);
  }
}
