// nn.utils.parametrize: parameters that are computed from others. The module has a part "parametrizations" with a list for each
// such name; the name itself is a property with a getter.

import { type Arguments, readArguments, readNothing } from "../../arguments/read.js";
import { boolean, functionOf, Rule, text } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { copy_ } from "../../generated/ops.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import { keep } from "../../tensor/scope.js";
import { Tensor } from "../../tensor/tensor.js";
import { ModuleDict } from "../containers/module_dict.js";
import { ModuleList } from "../containers/module_list.js";
import { Module } from "../module.js";
import { type Buffer, Parameter } from "../parameter.js";
import { defineComputed, likeMember, takeMember } from "./computed.js";

/** Computes a tensor from one, or from several that `rightInverse` returns. */
export interface Parametrization extends Module {
  forward(...originals: Tensor[]): Tensor;
  /** Returns the tensors that forward() computes `value` from; without it, nothing can be assigned. */
  rightInverse?(value: Tensor): Tensor | readonly Tensor[];
}

/** The parametrizations of one tensor, applied in order, and the tensors that they compute it from. */
export class ParametrizationList extends ModuleList<Parametrization> {
  /** The names of the original tensors: "original", or "original0" and so on. */
  readonly names: readonly string[];

  constructor(parametrization: Parametrization, original: Parameter | Buffer) {
    super([parametrization]);
    const value = inverseOf("registerParametrization", parametrization, original);
    if (value instanceof Tensor) {
      this.names = ["original"];
      const isSame = value === original || isLike(value, original);
      // The same object, because an optimizer may have it.
      if (isSame && value !== original) noGrad(() => copy_(original, value));
      Object.assign(this, { original: isSame ? original : likeMember(original, value) });
    } else {
      this.names = value.map((_, i) => `original${i}`);
      value.forEach((tensor, i) => {
        Object.assign(this, { [`original${i}`]: likeMember(original, tensor) });
      });
    }
  }

  /** The tensors that the parametrized tensor is computed from. */
  get originals(): Tensor[] {
    return this.names.map((name) => Reflect.get(this, name) as Tensor);
  }

  /** Returns the parametrized tensor. */
  override forward(): Tensor {
    const [first, ...rest] = this;
    let value = (first as Parametrization).call(...this.originals);
    for (const parametrization of rest) value = parametrization.call(value);
    return value;
  }

  /** Changes the original tensors so that the parametrized tensor becomes `value`. */
  rightInverse(value: Tensor): void {
    noGrad(() => {
      let inverse: Tensor | readonly Tensor[] = value;
      for (const parametrization of [...this].reverse()) {
        if (parametrization.rightInverse === undefined) {
          const message = `${parametrization.constructor.name} has no rightInverse(), so nothing can be assigned.`;
          fail("InvalidArgument", "ParametrizationList", message);
        }
        inverse = inverseOf("rightInverse", parametrization, inverse as Tensor);
      }
      const values = inverse instanceof Tensor ? [inverse] : inverse;
      const { originals } = this;
      if (values.length !== originals.length) {
        const message = `rightInverse() must return ${originals.length} tensors, as before, got ${values.length}.`;
        fail("InvalidArgument", "ParametrizationList", message);
      }
      originals.forEach((original, i) => {
        copy_(original, values[i] as Tensor);
      });
    });
  }
}

const functionRule = /* @__PURE__ */ functionOf<() => unknown>();

const kModule = new Rule<Module>("a module", (value) => value instanceof Module);

const kOptions = {
  /** Allow the parametrization to change dtype and shape; default false. */
  unsafe: boolean.or(false),
};

const kRegisterArguments = {
  module: kModule,
  tensorName: text,
  parametrization: kModule as Rule<Parametrization>,
  ...kOptions,
};

/**
 * Computes the parameter or buffer `tensorName` of a module by `parametrization` from then on, at each use; a further one for
 * the same name is applied to the result of those before. Returns the module.
 */
export function registerParametrization<M extends Module>(
  module: M,
  tensorName: string,
  parametrization: Parametrization,
  ...rest: Arguments<[unsafe: boolean], { unsafe?: boolean }>
): M {
  const where = "registerParametrization";
  const given = [module, tensorName, parametrization, ...rest];
  const { unsafe } = readArguments(where, kRegisterArguments, given);
  parametrization.train(module.training);
  const list = listOf(module, tensorName);
  if (list !== null) {
    if (!unsafe) noGrad(() => checkNext(where, list.call(), parametrization));
    list.append(keep(parametrization));
    return module;
  }
  const original = takeMember(where, module, tensorName);
  try {
    const made = new ParametrizationList(parametrization, original);
    if (!unsafe) noGrad(() => checkFirst(where, original, made));
    // The module may outlive the scope that this is called in.
    ensureDict(module).set(tensorName, keep(made));
  } catch (error) {
    Object.assign(module, { [tensorName]: original });
    throw error;
  }
  defineComputed(
    module,
    tensorName,
    function () {
      return computedBy(listOf(this, tensorName) as ParametrizationList);
    },
    function (value) {
      (listOf(this, tensorName) as ParametrizationList).rightInverse(value);
    },
  );
  return module;
}

/** Returns whether a module has parametrizations, or one of this tensor. */
export function isParametrized(module: Module, tensorName?: string | null, ...rest: []): boolean {
  const rules = { module: kModule, tensorName: text.orNull() };
  const own = readArguments("isParametrized", rules, [module, tensorName, ...rest]);
  if (own.tensorName !== null) return listOf(own.module, own.tensorName) !== null;
  return (dictOf(own.module)?.length ?? 0) > 0;
}

const kRemoveArguments = {
  module: kModule,
  tensorName: text,
  /** Keep the computed value of the tensor instead of that of the original; default true. */
  leaveParametrized: boolean.or(true),
};

/** Removes the parametrizations of a tensor, which becomes a parameter or buffer of the module again. */
export function removeParametrizations<M extends Module>(
  module: M,
  tensorName: string,
  ...rest: Arguments<[leaveParametrized: boolean], { leaveParametrized?: boolean }>
): M {
  const where = "removeParametrizations";
  const own = readArguments(where, kRemoveArguments, [module, tensorName, ...rest]);
  const list = listOf(module, tensorName);
  if (list === null) {
    fail(
      "InvalidArgument",
      where,
      `${module.constructor.name} has no parametrization of "${tensorName}".`,
    );
  }
  const [original, ...others] = list.originals as (Parameter | Buffer)[];
  if (!own.leaveParametrized && others.length > 0) {
    const message =
      "leaveParametrized: false needs one original tensor, but this one is computed from several.";
    fail("InvalidArgument", where, message);
  }
  const value = own.leaveParametrized ? noGrad(() => list.call()) : original;
  const dict = dictOf(module) as ModuleDict;
  dict.pop(tensorName);
  if (dict.length === 0) Reflect.deleteProperty(module, "parametrizations");
  Reflect.deleteProperty(module, tensorName);
  const member = original as Parameter | Buffer;
  Object.assign(module, {
    [tensorName]: value === original ? member : keep(likeMember(member, value as Tensor)),
  });
  return module;
}

function inverseOf(
  where: string,
  parametrization: Parametrization,
  value: Tensor,
): Tensor | readonly Tensor[] {
  if (parametrization.rightInverse === undefined) return value;
  const inverse: unknown = noGrad(() => parametrization.rightInverse?.(value));
  const isTensor = (value: unknown) => value instanceof Tensor;
  if (isTensor(inverse) || (Array.isArray(inverse) && inverse.every(isTensor))) {
    return inverse as Tensor | readonly Tensor[];
  }
  const message = `rightInverse() of ${parametrization.constructor.name} must return a tensor, or a list of tensors`;
  return fail("InvalidArgument", where, `${message}, got ${describe(inverse)}.`);
}

function dictOf(module: Module): ModuleDict<ParametrizationList> | null {
  const dict: unknown = Object.hasOwn(module, "parametrizations")
    ? Reflect.get(module, "parametrizations")
    : null;
  return dict instanceof ModuleDict ? dict : null;
}

function ensureDict(module: Module): ModuleDict<ParametrizationList> {
  const dict = dictOf(module) ?? new ModuleDict<ParametrizationList>();
  Object.assign(module, { parametrizations: dict });
  return dict;
}

function listOf(module: Module, tensorName: string): ParametrizationList | null {
  const dict = dictOf(module);
  return dict?.has(tensorName) ? dict.get(tensorName) : null;
}

// The first parametrization computes the tensor from the result of its inverse.
function checkFirst(where: string, original: Tensor, list: ParametrizationList): void {
  const [first] = list.originals;
  if (list.names[0] === "original" && first?.dtype !== original.dtype) {
    const message = `rightInverse() must keep the dtype ${original.dtype}, got ${first?.dtype}: set unsafe to allow that.`;
    fail("InvalidArgument", where, message);
  }
  checkLike(where, original, list.call());
}

// A further one changes neither the tensor nor its inverse.
function checkNext(where: string, before: Tensor, parametrization: Parametrization): void {
  const after = checkLike(where, before, parametrization.call(before));
  if (parametrization.rightInverse !== undefined) {
    checkLike(where, before, inverseOf(where, parametrization, after));
  }
}

function isLike(tensor: Tensor, other: Tensor): boolean {
  return tensor.dtype === other.dtype && String(tensor.shape) === String(other.shape);
}

function checkLike(where: string, before: Tensor, after: unknown): Tensor {
  if (!(after instanceof Tensor)) {
    const message = `a parametrization of a tensor and its rightInverse() must return a tensor, got ${describe(after)}`;
    fail("InvalidArgument", where, `${message}: set unsafe to allow that.`);
  }
  if (isLike(before, after)) return after;
  return fail(
    "InvalidArgument",
    where,
    `the parametrization changes the tensor from ${before.dtype} [${before.shape.join(", ")}] to ${after.dtype} ` +
      `[${after.shape.join(", ")}]: set unsafe to allow that.`,
  );
}

// The computed values by list while parametrize.cached() runs.
let cache: Map<ParametrizationList, Tensor> | null = null;

/**
 * Runs a synchronous function in which parametrized tensors are computed once instead of at each use: for modules that use one
 * often, such as recurrent ones. Parameters must not change in it. Returns the result of the function.
 */
export function cached<T>(fn: () => T, ...rest: []): T {
  functionRule.check("cached", "fn", fn);
  readNothing("cached", rest);
  const outer = cache;
  cache ??= new Map();
  try {
    return fn();
  } finally {
    cache = outer;
  }
}

function computedBy(list: ParametrizationList): Tensor {
  if (cache === null) return list.call();
  const known = cache.get(list);
  if (known !== undefined && !known.disposed) return known;
  const value = list.call();
  cache.set(list, value);
  return value;
}

/** Returns the class of a module, which parametrizations do not change. */
export function typeBeforeParametrizations(
  module: Module,
  ...rest: []
): new (
  ...given: never[]
) => Module {
  const where = "typeBeforeParametrizations";
  const checked = kModule.check(where, "module", module);
  readNothing(where, rest);
  return checked.constructor as new (
    ...given: never[]
  ) => Module;
}

const kTransferArguments = {
  fromModule: kModule,
  toModule: kModule,
  /** The name of the tensor; if left out, all that have parametrizations. */
  tensorName: text.orNull(),
};

/**
 * Gives a module the parametrizations and original tensors of another module, for one tensor or for all. Both modules then use
 * the same objects. A tensor that the module lacks is created. Returns the module.
 */
export function transferParametrizationsAndParams<M extends Module>(
  fromModule: Module,
  toModule: M,
  ...rest: Arguments<[tensorName: string | null], { tensorName?: string | null }>
): M {
  const where = "transferParametrizationsAndParams";
  const own = readArguments(where, kTransferArguments, [fromModule, toModule, ...rest]);
  const names = own.tensorName === null ? (dictOf(fromModule)?.keys() ?? []) : [own.tensorName];
  for (const name of names) {
    const list = listOf(fromModule, name);
    if (list === null) {
      fail("InvalidArgument", where, `fromModule has no parametrization of "${name}".`);
    }
    if (!(name in toModule)) Object.assign(toModule, { [name]: new Parameter(list.call()) });
    for (const parametrization of list) registerParametrization(toModule, name, parametrization);
    const originals = list.names.map((original) => [original, Reflect.get(list, original)]);
    Object.assign(listOf(toModule, name) as ParametrizationList, Object.fromEntries(originals));
  }
  return toModule;
}
