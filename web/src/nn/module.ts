// The base class of layers and models. Its members are found among its properties (members.ts); #private ones are not trained,
// moved or saved.

import {
  type Arguments,
  isPlainObject,
  readArguments,
  readNothing,
  readOptions,
} from "../arguments/read.js";
import { boolean, type Options, Rule } from "../arguments/rule.js";
import { checkFunction } from "../autograd/hooks.js";
import { type ZeroGradArguments, zeroGrads } from "../autograd/zero_grad.js";
import type { Target } from "../ops/to.js";
import { addGuard, type Guard, isCapturing } from "../runtime/bridge/live.js";
import { kCopy, kThisCopy } from "../runtime/errors/copy.js";
import { fail, refusal, refuseImitation } from "../runtime/errors/errors.js";
import { registerPublicMethods } from "../runtime/errors/own_frames.js";
import { type Hint, toPrimitive } from "../runtime/host/primitive.js";
import { type Device, type DType, deviceRule, isFloat } from "../tensor/dtype.js";
import { tensorRule } from "../tensor/rules.js";
import type { Tensor } from "../tensor/tensor.js";
import { convertState, emptyState } from "./convert_state.js";
import { anyHooks, copyHooks, HookedModule, moduleHooks, stateHooks } from "./hooked_module.js";
import { kLoadOptions, type LoadOptions, type LoadResult, loadInto } from "./load_state.js";
import { entriesOf, type Kind, Members, membersMade } from "./members.js";
import { type Copies, deepCopy } from "./module_clone.js";
import { nameLayer, namingLayer } from "./module_failure.js";
import { callWithHooks, globalHooks, keysOfHooks } from "./module_hooks.js";
import { joinPath, memberAt, withoutRepeats } from "./module_paths.js";
import { memberName, registerMember } from "./module_register.js";
import { formatModule } from "./module_text.js";
import { Buffer, type BufferOptions, Parameter } from "./parameter.js";
import {
  kStateDictOptions,
  loadWithHooks,
  type StateDictOptions,
  type StateNode,
  stateWithHooks,
} from "./state_hooks.js";

/** Tensors by name, as PyTorch saves them. */
export type StateDict = Record<string, Tensor>;

const kNamedOptions = {
  /** Whether to list what has several names only under the first; default true. */
  removeDuplicate: boolean.or(true),
};

/** Options of `namedParameters`, `namedBuffers` and `namedModules`. */
export type NamedOptions = Options<typeof kNamedOptions>;

/** A layer or model: assign parameters, buffers and modules as properties and define forward(). */
export class Module extends HookedModule {
  /** True in training mode, which layers such as Dropout depend on. */
  training = true;

  readonly #members = new Members(this, kindOf);

  /** Takes no arguments: a subclass stores its own, as in PyTorch. */
  constructor(...given: []) {
    super();
    readNothing(new.target.name, given);
  }

  /** Computes the module's output; each subclass defines it. */
  forward(..._inputs: never[]): unknown {
    fail("InvalidArgument", this.constructor.name, "this module does not define forward().");
  }

  /** Runs forward() and the hooks around it. */
  call<Inputs extends unknown[], Output>(
    this: { forward(...inputs: Inputs): Output },
    ...inputs: Inputs
  ): Output {
    const module = this as unknown as Module;
    if (!(#members in module)) refuseImitation(module, "module.clone()");
    module.#members.check();
    if (isCapturing()) addGuard(module.#guard());
    const hooks = (anyHooks && moduleHooks.get(module)) || globalHooks;
    const made = membersMade;
    try {
      if (hooks === null) return namingLayer(this.forward(...inputs), module);
      const forward = (...args: unknown[]) => this.forward(...(args as Inputs));
      return namingLayer(callWithHooks(module, hooks, inputs, forward) as Output, module);
    } catch (error) {
      nameLayer(error, module);
      throw error;
    } finally {
      if (made !== membersMade) module.#members.keepAll();
    }
  }

  /** Returns the parameters of this module and its parts, each once. */
  parameters(): Parameter[] {
    if (!(#members in this)) refuseImitation(this, "module.clone()");
    return this.namedParameters().map(([, parameter]) => parameter);
  }

  /** Returns the parameters with their dotted names, each once. */
  namedParameters(...rest: [options?: NamedOptions]): [string, Parameter][] {
    const all = this.#collect((members) => members.of("parameter"));
    return withoutDuplicates("namedParameters", all, rest);
  }

  /** Returns the buffers of this module and its parts, each once. */
  buffers(): Buffer[] {
    return this.namedBuffers().map(([, buffer]) => buffer);
  }

  /** Returns the buffers with their dotted names, each once. */
  namedBuffers(...rest: [options?: NamedOptions]): [string, Buffer][] {
    const all = this.#collect((members) => members.of("buffer"));
    return withoutDuplicates("namedBuffers", all, rest);
  }

  /** Returns the modules that are properties of this one. */
  children(): Module[] {
    return this.namedChildren().map(([, child]) => child);
  }

  /** Returns the modules that are properties of this one, with their names. */
  namedChildren(): [string, Module][] {
    return withoutRepeats(this.#look().of("module"));
  }

  /** Returns this module and all its parts, each once. */
  modules(): Module[] {
    return this.namedModules().map(([, module]) => module);
  }

  /** Returns this module, under the name "", and all its parts with their dotted names. */
  namedModules(...rest: [options?: NamedOptions]): [string, Module][] {
    return withoutDuplicates("namedModules", this.#tree(""), rest);
  }

  /** Returns the part with a dotted name: "layers.0"; "" is this module. */
  getSubmodule(target: string): Module {
    if (target === "") return this;
    return memberAt("getSubmodule", this, target, "module", kindOf);
  }

  /** Returns the parameter with a dotted name: "layers.0.weight". */
  getParameter(target: string): Parameter {
    return memberAt("getParameter", this, target, "parameter", kindOf);
  }

  /** Returns the buffer with a dotted name: "norm.running_mean". */
  getBuffer(target: string): Buffer {
    return memberAt("getBuffer", this, target, "buffer", kindOf);
  }

  /**
   * Returns a deep copy: tensors, parts, lists and plain objects are new, values that are shared within the module are
   * shared within the copy, hooks are the same functions. The constructor is not called: a class with #private members
   * must override clone().
   */
  clone(): this {
    return this.#copy(new Map());
  }

  /**
   * Returns parameters and persistent buffers by name; the tensors share their data with the module. One that the module has
   * under several names is one tensor under all of them. With `keepVars`, the tensors are the parameters and buffers themselves.
   */
  stateDict(...rest: [options?: StateDictOptions]): StateDict {
    if (!(#members in this)) refuseImitation(this, "module.clone()");
    const options = readOptions("stateDict", kStateDictOptions, rest);
    const detached = new Map<Tensor, Tensor>();
    const stateTensor = (tensor: Tensor) => {
      if (options.keepVars) return tensor;
      const own = detached.get(tensor) ?? tensor.detach();
      detached.set(tensor, own);
      return own;
    };
    if (this.#haveStateHooks()) return stateWithHooks(this.#stateNode(""), stateTensor, options);
    const { prefix } = options;
    return Object.fromEntries(
      this.#state().map(([name, tensor]) => [prefix + name, stateTensor(tensor)]),
    );
  }

  /**
   * Copies tensors into parameters and buffers. Unless `strict` is false, the state must have exactly their names; shapes
   * must always match. Nothing is copied if something is wrong. With `assign` parameters and buffers share the data of the
   * given tensors instead, for example when several threads train one model.
   */
  loadStateDict(
    state: Readonly<StateDict>,
    ...rest: Arguments<[strict: boolean, assign: boolean], LoadOptions>
  ): LoadResult {
    if (!isPlainObject(state)) {
      fail("InvalidArgument", "loadStateDict", refusal("state", "tensors by name", state));
    }
    const options = readArguments("loadStateDict", kLoadOptions, rest);
    const { name } = this.constructor;
    if (this.#haveStateHooks()) return loadWithHooks(name, this.#stateNode(""), state, options);
    return loadInto(name, new Map(this.#state()), state, options);
  }

  /** Sets training mode on this module and its parts. */
  train(mode = true): this {
    boolean.check("train", "mode", mode);
    for (const module of this.modules()) module.training = mode;
    return this;
  }

  /** Sets evaluation mode: train(false). */
  eval(): this {
    return this.train(false);
  }

  /**
   * Converts floating-point and complex parameters and buffers, with their gradients, to another dtype, and moves all to
   * another device. They remain the same objects.
   */
  to(...targets: Target[]): this {
    convertState(new Set([...this.parameters(), ...this.buffers()]), targets);
    return this;
  }

  /** Converts floating-point parameters and buffers to float32, with their gradients; complex ones are unchanged. */
  float(): this {
    return this.#toReal("float32");
  }

  /** Converts floating-point parameters and buffers to float64, with their gradients; complex ones are unchanged. */
  double(): this {
    return this.#toReal("float64");
  }

  /** Converts floating-point parameters and buffers to float16, with their gradients; complex ones are unchanged. */
  half(): this {
    return this.#toReal("float16");
  }

  /** Converts floating-point parameters and buffers to bfloat16, with their gradients; complex ones are unchanged. */
  bfloat16(): this {
    return this.#toReal("bfloat16");
  }

  #toReal(dtype: DType): this {
    const all = [...this.parameters(), ...this.buffers()];
    convertState(new Set(all.filter((tensor) => isFloat(tensor.dtype))), [dtype]);
    return this;
  }

  /** Moves parameters and buffers to the CPU, as `to("cpu")`. */
  cpu(): this {
    return this.to("cpu");
  }

  /** Moves parameters and buffers, with their gradients, to a device without their values, which are not set. */
  toEmpty(...rest: Arguments<[device: Device], { device: Device }>): this {
    const { device } = readArguments("toEmpty", kToEmpty, rest);
    emptyState(new Set([...this.parameters(), ...this.buffers()]), device);
    return this;
  }

  /**
   * Adds a buffer that shares the data of a tensor: `this.name = new Buffer(tensor)`. Throws if the name is taken.
   */
  registerBuffer(
    name: string,
    tensor: Tensor | null,
    ...rest: Arguments<[persistent: boolean], BufferOptions>
  ): void {
    const where = "registerBuffer";
    const own = readArguments(where, kRegisterBuffer, [name, tensor, ...rest]);
    const { persistent } = own;
    const buffer = own.tensor === null ? null : new Buffer(own.tensor, { persistent });
    registerMember(where, this, own.name, buffer, (value) => value instanceof Buffer);
  }

  /** Adds a parameter: `this.name = param`. Throws if the name is taken. */
  registerParameter(name: string, param: Parameter | null, ...rest: []): void {
    const own = readArguments("registerParameter", kRegisterParameter, [name, param, ...rest]);
    const isMember = (value: unknown) => value instanceof Parameter;
    registerMember("registerParameter", this, own.name, own.param, isMember);
  }

  /** Adds a module as a part of this one: `this.name = module`. Throws if the name is taken. */
  registerModule(name: string, module: Module | null, ...rest: []): void {
    const own = readArguments("registerModule", kRegisterModule, [name, module, ...rest]);
    const isMember = (value: unknown) => value instanceof Module;
    registerMember("registerModule", this, own.name, own.module, isMember);
  }

  /** Same as registerModule(). */
  addModule(name: string, module: Module | null, ...rest: []): void {
    this.registerModule(name, module, ...rest);
  }

  /** Removes the gradients of all parameters; with `setToNone` false it sets them to zeros instead. */
  zeroGrad(...given: ZeroGradArguments): void {
    zeroGrads(`${this.constructor.name}.zeroGrad`, this.parameters(), given);
  }

  /** Sets `requiresGrad` of all parameters. */
  requiresGrad_(value = true): this {
    for (const parameter of this.parameters()) parameter.requiresGrad = value;
    return this;
  }

  /** Calls `fn` with every part and then with this module. */
  apply(fn: (module: Module) => void): this {
    checkFunction("apply", fn);
    this.#tree("");
    this.#applyDown(fn);
    return this;
  }

  /** Returns the text between the parentheses of this module's text; subclasses may override it. */
  extraRepr(): string {
    return "";
  }

  /** Returns the text that PyTorch prints: the module and, indented, its parts. */
  override toString(): string {
    if (printed.has(this)) return `${this.constructor.name}(...)`;
    printed.add(this);
    try {
      const lines = partsOf(this).map(([name, part]) => `(${name}): ${part}`);
      return formatModule(this.constructor.name, this.extraRepr(), lines);
    } finally {
      printed.delete(this);
    }
  }

  /** Returns the text of this module in a template; throws for an operator. @internal */
  [Symbol.toPrimitive](hint: Hint): string {
    return toPrimitive(this, hint, this.constructor.name, "module.call(input) runs a module");
  }

  /** What console.log shows in Node. @internal */
  [Symbol.for("nodejs.util.inspect.custom")](): string {
    return this.toString();
  }

  // Checks the state that a captured call depends on, besides tensors and a user's own properties.
  #guard(): Guard {
    const { training } = this;
    const isSame = this.#members.comparison();
    const keysNow = () => [globalHooks, moduleHooks.get(this)].flatMap(keysOfHooks);
    const keys = keysNow();
    return () => {
      const now = keysNow();
      const hasSameHooks = now.length === keys.length && now.every((key, i) => key === keys[i]);
      if (this.training === training && isSame() && hasSameHooks) return null;
      return `the mode, parts or hooks of the ${this.constructor.name} in the function have changed`;
    };
  }

  #copy(copies: Copies): this {
    const copy = Reflect.construct(Module, [], this.constructor) as this;
    copies.set(this, copy);
    const copyOther = (value: object) => (value instanceof Module ? value.#copy(copies) : value);
    for (const [name, value] of entriesOf(this)) {
      Object.assign(copy, { [name]: deepCopy(value, copies, copyOther) });
    }
    for (const [name, property] of Object.entries(Object.getOwnPropertyDescriptors(this))) {
      if (property.get !== undefined) Object.defineProperty(copy, name, property);
    }
    copyHooks(this, copy);
    return copy;
  }

  #applyDown(fn: (module: Module) => void): void {
    for (const part of this.children()) part.#applyDown(fn);
    fn(this);
  }

  // In PyTorch's order: the module itself, then its parts.
  #tree(prefix: string, around: readonly Module[] = []): [string, Module][] {
    if (around.includes(this)) {
      const message = `the module is a part of itself, as "${prefix}": store a module that is not a part in a #private property.`;
      fail("InvalidArgument", this.constructor.name, message);
    }
    const parts = this.#look().of("module");
    const inner = [...around, this];
    const below = parts.flatMap(([name, part]) => part.#tree(joinPath(prefix, name), inner));
    return [[prefix, this], ...below];
  }

  #collect<T>(pick: (members: Members) => [string, T][]): [string, T][] {
    return this.#tree("").flatMap(([prefix, module]) =>
      pick(module.#members).map(([name, value]): [string, T] => [joinPath(prefix, name), value]),
    );
  }

  #state(): [string, Tensor][] {
    return this.#collect<Tensor>(savedOf);
  }

  #haveStateHooks(): boolean {
    return anyHooks && this.#tree("").some(([, module]) => stateHooks.has(module));
  }

  #stateNode(path: string): StateNode {
    return {
      module: this,
      path,
      hooks: stateHooks.get(this) ?? null,
      own: () => savedOf(this.#look()),
      children: () =>
        this.#look()
          .of("module")
          .map(([name, part]) => part.#stateNode(joinPath(path, name))),
    };
  }

  #look(): Members {
    this.#members.look();
    return this.#members;
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

registerPublicMethods(Module.prototype, HookedModule.prototype);

function withoutDuplicates<T>(
  where: string,
  all: [string, T][],
  rest: readonly unknown[],
): [string, T][] {
  const { removeDuplicate } = readOptions(where, kNamedOptions, rest);
  return removeDuplicate ? withoutRepeats(all) : all;
}

// What a state dict has of a module itself.
function savedOf(members: Members): [string, Tensor][] {
  return [
    ...members.of("parameter"),
    ...members.of("buffer").filter(([, buffer]) => buffer.persistent),
  ];
}

const kToEmpty = { device: deviceRule };

const kRegisterBuffer = {
  name: memberName,
  tensor: tensorRule.orNull(),
  persistent: boolean.or(true),
};

const kRegisterParameter = {
  name: memberName,
  param: new Rule<Parameter>("an nn.Parameter", (value) => value instanceof Parameter).orNull(),
};

const kRegisterModule = {
  name: memberName,
  module: new Rule<Module>("an nn.Module", (value) => value instanceof Module).orNull(),
};

// The modules that toString() is printing: a module that is a part of itself is not printed in full again.
const printed = new Set<Module>();

function kindOf(value: unknown): Kind | undefined {
  try {
    if (value instanceof Parameter) return "parameter";
    if (value instanceof Buffer) return "buffer";
    return value instanceof Module ? "module" : undefined;
  } catch {
    // A proxy whose prototype cannot be read.
    return undefined;
  }
}

// The parts of a module by name, including repeats.
function partsOf(module: Module): [string, Module][] {
  return entriesOf(module).filter((entry): entry is [string, Module] => {
    return kindOf(entry[1]) === "module";
  });
}
