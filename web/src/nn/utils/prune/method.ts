// The base of all pruning methods. A parameter gets another name and a mask; its own name becomes a property that computes
// their product at each use.

import { readNothing } from "../../../arguments/read.js";
import { text } from "../../../arguments/rule.js";
import { noGrad } from "../../../autograd/grad_mode.js";
import { axisOf } from "../../../composites/shapes.js";
import { toDtype } from "../../../generated/internal.js";
import { clone, copy_, detach, mul, onesLike } from "../../../generated/ops.js";
import { type Index, slice } from "../../../ops/indexing.js";
import { fail, refusal } from "../../../runtime/errors/errors.js";
import { scope } from "../../../tensor/scope.js";
import { Tensor } from "../../../tensor/tensor.js";
import { Module } from "../../module.js";
import { Buffer, Parameter } from "../../parameter.js";
import { defineComputed } from "../computed.js";

/**
 * What a method considers after another method: the elements that are left ("unstructured"), the slices along its `dim` that
 * have some left ("structured"), or everything ("global").
 */
export type PruningType = "unstructured" | "structured" | "global";

/** A class of pruning methods. */
export interface PruningClass<Args extends readonly unknown[]> {
  new (...args: Args): BasePruningMethod;
}

/** Any class of pruning methods; its constructor checks its arguments. */
// biome-ignore lint/suspicious/noExplicitAny: with any arguments.
export type AnyPruningClass = PruningClass<any>;

/** A way to choose the elements of a parameter to prune, which subclasses define in `computeMask`. */
export abstract class BasePruningMethod {
  /** Which elements it chooses from if another method has already pruned some. */
  static readonly PRUNING_TYPE: PruningType = "unstructured";

  /** The name of the parameter that it prunes. */
  tensorName = "";

  constructor(...given: []) {
    readNothing(new.target.name, given);
  }

  /** Which elements it chooses from if another method has already pruned some. */
  get pruningType(): PruningType {
    return (this.constructor as typeof BasePruningMethod).PRUNING_TYPE;
  }

  /** Returns the mask of a tensor, 0 for elements to prune; `defaultMask` has zeros for those that are pruned already. */
  abstract computeMask(t: Tensor, defaultMask: Tensor): Tensor;

  /** Returns the pruned tensor of a module: the learned tensor times the mask. */
  applyMask(module: Module): Tensor {
    const { original, mask } = partsOf(module, this.tensorName);
    return scope(() => mul(toDtype(mask, original.dtype), original));
  }

  /** Returns a tensor with pruned elements set to 0; the method ranks `importanceScores` instead of the tensor if given. */
  prune(t: Tensor, defaultMask?: Tensor | null, importanceScores?: Tensor | null): Tensor {
    const where = `${this.constructor.name}.prune`;
    checkMasked(where, t, defaultMask ?? undefined);
    const scores = scoresFor(where, t, importanceScores);
    return scope(() => {
      const mask = noGrad(() => this.computeMask(scores, defaultMask ?? onesLike(t)));
      return mul(t, toDtype(mask, t.dtype));
    });
  }

  /** Makes the pruning of a module's parameter permanent: it becomes a plain parameter with zeros. */
  remove(module: Module): void {
    const { tensorName } = this;
    const { original } = partsOf(module, tensorName);
    scope(() => noGrad(() => copy_(original, this.applyMask(module))));
    for (const name of [tensorName, `${tensorName}_orig`, `${tensorName}_mask`]) {
      Reflect.deleteProperty(module, name);
    }
    // Makes the module notice that they are gone, so that their names may be used for other members.
    module.children();
    Object.assign(module, { [tensorName]: original });
  }

  /** Prunes a module's parameter by a new method of this class with these arguments; returns the method. */
  static apply<Args extends readonly unknown[]>(
    this: PruningClass<Args>,
    module: Module,
    name: string,
    ...args: Args
  ): BasePruningMethod {
    // biome-ignore lint/complexity/noThisInStatic: the subclass that it is called on.
    return pruneBy(`${this.name}.apply`, this, module, name, args, null);
  }
}

/** Several methods that are applied to one parameter in order. */
export class PruningContainer extends BasePruningMethod {
  private readonly methods: BasePruningMethod[] = [];

  constructor(...methods: BasePruningMethod[]) {
    super();
    this.tensorName = methods[0]?.tensorName ?? "";
    for (const method of methods) this.addPruningMethod(method);
  }

  /** Adds a method for the same parameter. */
  addPruningMethod(method: BasePruningMethod): void {
    const where = "PruningContainer.addPruningMethod";
    if (!(method instanceof BasePruningMethod)) {
      fail("InvalidArgument", where, refusal("method", "a pruning method", method));
    }
    if (this.methods.length > 0 && method.tensorName !== this.tensorName) {
      const message = `method: expected a method for "${this.tensorName}", got one for "${method.tensorName}".`;
      fail("InvalidArgument", where, message);
    }
    this.tensorName = method.tensorName;
    this.methods.push(method);
  }

  /** The number of methods. */
  get length(): number {
    return this.methods.length;
  }

  /** Returns a method by position; negative positions count from the end. */
  at(index: number): BasePruningMethod | undefined {
    return this.methods.at(index);
  }

  /** Iterates over the methods. */
  [Symbol.iterator](): IterableIterator<BasePruningMethod> {
    return this.methods.values();
  }

  /** Returns `defaultMask` with additional zeros by the last method. */
  override computeMask(t: Tensor, defaultMask: Tensor): Tensor {
    checkMasked("PruningContainer.computeMask", t, defaultMask);
    const method = this.methods.at(-1);
    return method === undefined ? defaultMask : combinedMask(method, t, defaultMask);
  }
}

function combinedMask(method: BasePruningMethod, t: Tensor, mask: Tensor): Tensor {
  return scope(() => {
    const left = leftFor(method, t, mask);
    const part = method.computeMask(t.at(...left), mask.at(...left));
    return clone(toDtype(mask, t.dtype)).set_(left, toDtype(part, t.dtype));
  });
}

// The indices of the elements that the method considers.
function leftFor(method: BasePruningMethod, t: Tensor, mask: Tensor): Index[] {
  switch (method.pruningType) {
    case "unstructured":
      return [mask.eq(1)];
    case "structured": {
      const { dim } = method as BasePruningMethod & { readonly dim?: unknown };
      const where = method.constructor.name;
      if (typeof dim !== "number") fail("InvalidArgument", where, refusal("dim", "a number", dim));
      const axis = axisOf(where, dim, t.ndim);
      const others = t.shape.flatMap((_, d) => (d === axis ? [] : [d]));
      return [...t.shape.slice(0, axis).map(() => slice()), mask.sum(others).ne(0)];
    }
    default:
      return ["..."];
  }
}

/** The method that prunes a parameter of a module, or undefined. */
export function methodOf(module: Module, name: string): BasePruningMethod | undefined {
  const getter = Object.getOwnPropertyDescriptor(module, name)?.get;
  return getter && methodsOfGetters.get(getter);
}

// Keyed by the functions that compute pruned parameters, which copies of a module share.
const methodsOfGetters = /* @__PURE__ */ new WeakMap<() => unknown, BasePruningMethod>();

/** Prunes a module's parameter by a new method of a class, after its present methods; returns the resulting method. */
export function pruneBy(
  where: string,
  Method: AnyPruningClass,
  module: Module,
  name: string,
  args: readonly unknown[],
  importanceScores: Tensor | null,
): BasePruningMethod {
  if (!(module instanceof Module)) {
    fail("InvalidArgument", where, refusal("module", "a module", module));
  }
  text.check(where, "name", name);
  const own = new Method(...args);
  own.tensorName = name;
  const before = methodOf(module, name);
  if (before === undefined) {
    const parameter = parameterOf(where, module, name);
    const scores = scoresFor(where, parameter, importanceScores);
    const mask = maskOf(where, own, scores, onesLike(parameter));
    Reflect.deleteProperty(module, name);
    Object.assign(module, { [`${name}_orig`]: parameter, [`${name}_mask`]: mask });
    return setMethod(module, own);
  }
  const earlier = before instanceof PruningContainer ? [...before] : [before];
  const container = new PruningContainer(...earlier, own);
  const { mask: old } = partsOf(module, name);
  const pruned = before.applyMask(module);
  try {
    const scores = scoresFor(where, pruned, importanceScores);
    const mask = maskOf(where, container, scores, old);
    Object.assign(module, { [`${name}_mask`]: mask });
  } finally {
    pruned.dispose();
  }
  return setMethod(module, container);
}

function setMethod(module: Module, method: BasePruningMethod): BasePruningMethod {
  const name = method.tensorName;
  const message = `${name} is computed from ${name}_orig and ${name}_mask: change ${name}_orig, or call prune.remove() first.`;
  function compute(this: Module): Tensor {
    return method.applyMask(this);
  }
  const getter = defineComputed(module, name, compute, function () {
    fail("InvalidArgument", this.constructor.name, message);
  });
  methodsOfGetters.set(getter, method);
  return method;
}

function maskOf(
  where: string,
  method: BasePruningMethod,
  scores: Tensor,
  defaultMask: Tensor,
): Buffer {
  const mask = scope(() => noGrad(() => method.computeMask(detach(scores), clone(defaultMask))));
  if (!(mask instanceof Tensor) || String(mask.shape) !== String(scores.shape)) {
    const got = mask instanceof Tensor ? `one of the shape [${mask.shape}]` : "something else";
    const message = `computeMask() must return a mask of the shape [${scores.shape}], but returned ${got}.`;
    fail("ShapeMismatch", where, message);
  }
  return new Buffer(mask);
}

function parameterOf(where: string, module: Module, name: string): Parameter {
  const value: unknown = Object.hasOwn(module, name) ? Reflect.get(module, name) : undefined;
  if (value instanceof Parameter) return value;
  const own = module.namedParameters().flatMap(([known]) => (known.includes(".") ? [] : [known]));
  const message = `${module.constructor.name} has no parameter "${name}"; it has ${own.join(", ") || "none"}.`;
  return fail("InvalidArgument", where, message);
}

function partsOf(module: Module, name: string): { original: Tensor; mask: Tensor } {
  const original: unknown = Reflect.get(module, `${name}_orig`);
  const mask: unknown = Reflect.get(module, `${name}_mask`);
  if (original instanceof Tensor && mask instanceof Tensor) return { original, mask };
  const message = `${module.constructor.name} has no pruned parameter "${name}".`;
  return fail("InvalidArgument", "prune", message);
}

function checkMasked(where: string, t: unknown, mask: unknown): void {
  if (!(t instanceof Tensor)) fail("InvalidArgument", where, refusal("t", "a tensor", t));
  if (mask !== undefined) checkAlike(where, "defaultMask", mask, t);
}

function scoresFor(where: string, t: Tensor, scores: Tensor | null | undefined): Tensor {
  if (scores === null || scores === undefined) return t;
  checkAlike(where, "importanceScores", scores, t);
  return scores;
}

function checkAlike(where: string, name: string, value: unknown, t: Tensor): void {
  if (!(value instanceof Tensor)) fail("InvalidArgument", where, refusal(name, "a tensor", value));
  if (String(value.shape) === String(t.shape)) return;
  const message = `${name}: expected the shape [${t.shape}] of the parameter, got [${value.shape}].`;
  fail("ShapeMismatch", where, message);
}
