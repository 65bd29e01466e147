// The functions of nn.utils.prune.

import { isPlainObject, readArguments, readNothing } from "../../../arguments/read.js";
import { either, listOf, Rule, text } from "../../../arguments/rule.js";
import { noGrad } from "../../../autograd/grad_mode.js";
import { cat, detach, narrow, onesLike, reshape } from "../../../generated/ops.js";
import { fail, refusal } from "../../../runtime/errors/errors.js";
import { tensorRule } from "../../../tensor/rules.js";
import { scope } from "../../../tensor/scope.js";
import { Tensor } from "../../../tensor/tensor.js";
import { Module } from "../../module.js";
import {
  type AnyPruningClass,
  BasePruningMethod,
  methodOf,
  PruningContainer,
  pruneBy,
} from "./method.js";
import {
  CustomFromMask,
  Identity,
  kAmount,
  kNormed,
  kStructured,
  L1Unstructured,
  LnStructured,
  RandomStructured,
  RandomUnstructured,
} from "./methods.js";

const kScores = { importanceScores: tensorRule.orNull() };

const kPairs = /* @__PURE__ */ new Rule<readonly (readonly [Module, string])[]>(
  "a list of pairs of a module and the name of a parameter",
  (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.every(
      (pair) => Array.isArray(pair) && pair[0] instanceof Module && text.accepts(pair[1]),
    ),
);

const kMethodClass = /* @__PURE__ */ new Rule<AnyPruningClass>(
  "a class of pruning methods",
  (value) => typeof value === "function" && value.prototype instanceof BasePruningMethod,
);

const kScoresOfAll = /* @__PURE__ */ listOf(
  either(tensorRule, /* @__PURE__ */ new Rule<null>("null", (value) => value === null)),
).orNull();

/** Prepares a parameter for pruning without pruning anything. Returns the module. */
export function identity<M extends Module>(module: M, name: string, ...rest: []): M {
  readNothing("identity", rest);
  pruneBy("identity", Identity, module, name, [], null);
  return module;
}

/** Prunes random elements of a parameter. Returns the module. */
export function randomUnstructured<M extends Module>(
  module: M,
  name: string,
  ...given: [amount: number] | [options: { amount: number }]
): M {
  const own = readArguments("randomUnstructured", kAmount, given);
  pruneBy("randomUnstructured", RandomUnstructured, module, name, [own.amount], null);
  return module;
}

/** Prunes the elements of a parameter with the smallest absolute values, or those of `importanceScores`. Returns the module. */
export function l1Unstructured<M extends Module>(
  module: M,
  name: string,
  ...given:
    | [amount: number, importanceScores?: Tensor | null | { importanceScores?: Tensor | null }]
    | [options: { amount: number; importanceScores?: Tensor | null }]
): M {
  const own = readArguments("l1Unstructured", { ...kAmount, ...kScores }, given);
  pruneBy("l1Unstructured", L1Unstructured, module, name, [own.amount], own.importanceScores);
  return module;
}

/** Prunes random slices of a parameter along a dimension. Returns the module. */
export function randomStructured<M extends Module>(
  module: M,
  name: string,
  ...given: [amount: number, dim?: number] | [options: { amount: number; dim?: number }]
): M {
  const { amount, dim } = readArguments("randomStructured", kStructured, given);
  pruneBy("randomStructured", RandomStructured, module, name, [amount, dim], null);
  return module;
}

interface LnOptions {
  amount: number;
  n: number | "fro" | "nuc";
  dim?: number;
  importanceScores?: Tensor | null;
}

/** Prunes the slices of a parameter along a dimension with the smallest `n`-norms. Returns the module. */
export function lnStructured<M extends Module>(
  module: M,
  name: string,
  ...given:
    | [amount: number, n: number | "fro" | "nuc", dim?: number, importanceScores?: Tensor | null]
    | [options: LnOptions]
): M {
  const own = readArguments("lnStructured", { ...kNormed, ...kScores }, given);
  const args = [own.amount, own.n, own.dim];
  pruneBy("lnStructured", LnStructured, module, name, args, own.importanceScores);
  return module;
}

/** Prunes the elements for which a mask has zeros. Returns the module. */
export function customFromMask<M extends Module>(
  module: M,
  name: string,
  ...given: [mask: Tensor] | [options: { mask: Tensor }]
): M {
  pruneBy("customFromMask", CustomFromMask, module, name, given, null);
  return module;
}

/**
 * Prunes several parameters, given as pairs of a module and a name, as if they were one, by a class of methods that prune
 * elements. The options are the arguments of the class, and optionally `importanceScores`: a tensor or null for each parameter.
 */
export function globalUnstructured(
  parameters: readonly (readonly [module: Module, name: string])[],
  pruningMethod: AnyPruningClass,
  options: {
    importanceScores?: readonly (Tensor | null)[] | null;
    [argument: string]: unknown;
  } = {},
): void {
  const where = "globalUnstructured";
  const pairs = kPairs.check(where, "parameters", parameters);
  kMethodClass.check(where, "pruningMethod", pruningMethod);
  if (!isPlainObject(options)) {
    fail("InvalidArgument", where, refusal("options", "an object of options", options));
  }
  const { importanceScores, ...args } = options;
  kScoresOfAll.check(where, "importanceScores", importanceScores);
  if (importanceScores && importanceScores.length !== pairs.length) {
    const message = `importanceScores: expected ${pairs.length}, one for each parameter, got ${importanceScores.length}.`;
    fail("InvalidArgument", where, message);
  }
  const method = new pruningMethod(args);
  if (method.pruningType !== "unstructured") {
    const expected = 'a class of methods whose PRUNING_TYPE is "unstructured"';
    fail("InvalidArgument", where, refusal("pruningMethod", expected, pruningMethod));
  }
  // The masks of the modules are made outside the scope.
  const masks = scope(() =>
    noGrad(() => {
      const all = pairs.map(([module, name]) => tensorOf(where, module, name));
      const scores = all.map((tensor, i) => importanceScores?.[i] ?? tensor);
      const before = pairs.map(([module, name], i) => {
        return methodOf(module, name) === undefined
          ? onesLike(all[i] as Tensor)
          : (Reflect.get(module, `${name}_mask`) as Tensor);
      });
      const joined = (tensors: Tensor[]) =>
        cat(tensors.map((tensor) => reshape(detach(tensor), [-1])));
      const mask = new PruningContainer(method).computeMask(joined(scores), joined(before));
      let end = 0;
      return all.map(({ shape, numel }) => {
        end += numel;
        return reshape(narrow(mask, 0, end - numel, numel), shape);
      });
    }),
  );
  pairs.forEach(([module, name], i) => {
    customFromMask(module, name, masks[i] as Tensor);
  });
}

/** Makes the pruning of a parameter permanent: it becomes a plain parameter with zeros. Returns the module. */
export function remove<M extends Module>(module: M, name: string, ...rest: []): M {
  readNothing("remove", rest);
  const method = module instanceof Module ? methodOf(module, name) : undefined;
  if (method === undefined) {
    const message = `no parameter "${name}" of the module is pruned.`;
    fail("InvalidArgument", "remove", message);
  }
  method.remove(module);
  return module;
}

/** Returns whether a parameter of a module or of its parts is pruned. */
export function isPruned(module: Module, ...rest: []): boolean {
  readNothing("isPruned", rest);
  if (!(module instanceof Module)) {
    fail("InvalidArgument", "isPruned", refusal("module", "a module", module));
  }
  return module.modules().some((part) => {
    return Object.getOwnPropertyNames(part).some((name) => methodOf(part, name) !== undefined);
  });
}

function tensorOf(where: string, module: Module, name: string): Tensor {
  const value: unknown = module instanceof Module ? Reflect.get(module, name) : undefined;
  if (value instanceof Tensor) return value;
  const message = `parameters: expected pairs of a module and the name of a parameter, got the name "${String(name)}".`;
  return fail("InvalidArgument", where, message);
}
