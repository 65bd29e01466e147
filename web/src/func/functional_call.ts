// eg.func.functionalCall() and stackModuleState(): using modules as functions of their parameters.

import { isPlainObject, readOptions } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { stack } from "../generated/ops.js";
import { noteReplaced } from "../nn/members.js";
import { Module } from "../nn/module.js";
import { joinPath } from "../nn/module_paths.js";
import { fail, refusal } from "../runtime/errors/errors.js";
import { Tensor } from "../tensor/tensor.js";
import type { Tree } from "./pytree.js";

/** Tensors by the dotted names of a module's parameters and buffers. */
export type TensorsByName = Readonly<Record<string, Tensor>>;

const kOptions = {
  /** Whether a parameter that a module has under several names is replaced under all of them; default true. */
  tieWeights: boolean.or(true),
  /** Whether exactly the module's parameters and buffers must be passed; default false. */
  strict: boolean.or(false),
};

/** Options of `functionalCall`. */
export type FunctionalCallOptions = Options<typeof kOptions>;

const kName = "functionalCall";

// A property of a module and the tensor that it holds.
interface Slot {
  readonly owner: Module;
  readonly property: string;
  readonly held: Tensor;
}

/**
 * Calls a module with its parameters and buffers temporarily replaced by other tensors: an object by dotted name, or an
 * array of such objects. `args` is an array of arguments, or a single argument that is not an array; `kwargs` is an object
 * of options that is passed after them. A tensor that the module stores in the place of one of them (`this.steps = this.steps.add(1)`)
 * is stored in the object by name instead.
 */
export function functionalCall(
  module: Module,
  paramsAndBuffers: TensorsByName | readonly TensorsByName[],
  args: Tree = [],
  kwargs: Readonly<Record<string, unknown>> | null = null,
  ...rest: [options?: FunctionalCallOptions]
): Tree {
  if (!(module instanceof Module)) {
    fail("InvalidArgument", kName, refusal("module", "an nn.Module", module));
  }
  const { tieWeights, strict } = readOptions(kName, kOptions, rest);
  const tensors = merged(paramsAndBuffers);
  const slots = slotsOf(module);
  if (strict) checkStrict(tensors, slots);
  const given = Array.isArray(args) ? args : [args];
  const inputs = kwargs === null ? given : [...given, kwargs];
  const replacements = replacementsOf(tensors, slots, tieWeights);
  const replaced: [Slot, Replacement][] = [];
  try {
    for (const [slot, replacement] of replacements) {
      replaced.push([slot, replacement]);
      setProperty(slot, replacement.tensor, false);
    }
    return (module.call as (...inputs: unknown[]) => Tree).apply(module, inputs);
  } finally {
    for (const [slot, { name, tensor }] of replaced) {
      const stored: unknown = Reflect.get(slot.owner, slot.property);
      if (stored instanceof Tensor && stored !== tensor) {
        const named = [paramsAndBuffers].flat().find((tensors) => Object.hasOwn(tensors, name));
        Object.assign(named as TensorsByName, { [name]: stored });
      }
      setProperty(slot, slot.held, true);
    }
  }
}

function merged(given: TensorsByName | readonly TensorsByName[]): TensorsByName {
  const parts: readonly unknown[] = Array.isArray(given) ? given : [given];
  const all: Record<string, Tensor> = {};
  for (const part of parts) {
    if (!isPlainObject(part)) {
      fail("InvalidArgument", kName, refusal("paramsAndBuffers", "tensors by name", part));
    }
    for (const [name, tensor] of Object.entries(part)) {
      if (!(tensor instanceof Tensor)) {
        fail("InvalidArgument", kName, refusal(`paramsAndBuffers["${name}"]`, "a tensor", tensor));
      }
      if (Object.hasOwn(all, name)) {
        fail(
          "InvalidArgument",
          kName,
          `paramsAndBuffers: "${name}" is in more than one of the objects. Pass each tensor once.`,
        );
      }
      all[name] = tensor;
    }
  }
  return all;
}

// The slots by name. A module with several names has the same slots under all of them.
function slotsOf(module: Module): Map<string, Slot> {
  const slots = new Map<string, Slot>();
  const known = new Map<Module, Slot[]>();
  for (const [prefix, owner] of module.namedModules({ removeDuplicate: false })) {
    const own = known.get(owner) ?? slotsIn(owner);
    known.set(owner, own);
    for (const slot of own) slots.set(joinPath(prefix, slot.property), slot);
  }
  return slots;
}

function slotsIn(owner: Module): Slot[] {
  return Object.entries(owner).flatMap(([property, held]) =>
    held instanceof Tensor ? [{ owner, property, held }] : [],
  );
}

interface Replacement {
  /** The name under which the tensor was passed. */
  readonly name: string;
  readonly tensor: Tensor;
}

// Returns the tensor that replaces each slot; throws if two names of one slot have different tensors.
function replacementsOf(
  tensors: TensorsByName,
  slots: ReadonlyMap<string, Slot>,
  tieWeights: boolean,
): Map<Slot, Replacement> {
  const replacements = new Map<Slot, Replacement>();
  for (const [name, tensor] of Object.entries(tensors)) {
    for (const slot of slotsFor(name, slots, tieWeights)) {
      const other = replacements.get(slot);
      if (other !== undefined && other.tensor !== tensor) failOnTie(other.name, name, slots);
      replacements.set(slot, { name, tensor });
    }
  }
  return replacements;
}

function failOnTie(first: string, second: string, slots: ReadonlyMap<string, Slot>): never {
  const isOneModule = slots.get(first) === slots.get(second);
  const advice = isOneModule ? "" : ", or tieWeights: false to give each module its own";
  fail(
    "InvalidArgument",
    kName,
    `paramsAndBuffers: "${first}" and "${second}" are one tensor of the module, but have different ones here. Pass the same ` +
      `tensor for both, or only one of them${advice}.`,
  );
}

function slotsFor(name: string, slots: ReadonlyMap<string, Slot>, tieWeights: boolean): Slot[] {
  const slot = slots.get(name);
  if (slot === undefined) {
    return fail("InvalidArgument", kName, `the module has no parameter or buffer "${name}".`);
  }
  return tieWeights ? [...slots.values()].filter(({ held }) => held === slot.held) : [slot];
}

function checkStrict(tensors: TensorsByName, slots: ReadonlyMap<string, Slot>): void {
  const given = new Set(Object.keys(tensors).map((name) => slots.get(name)?.held));
  const missing = [...slots].filter(([, { held }]) => !given.has(held)).map(([name]) => name);
  if (missing.length > 0) {
    fail(
      "InvalidArgument",
      kName,
      `strict: true requires ${missing.map((name) => `"${name}"`).join(", ")}, which paramsAndBuffers lacks.`,
    );
  }
}

// A replacement is not enumerable: the module, which checks its own properties, would otherwise report it as an unregistered
// parameter.
function setProperty({ owner, property }: Slot, value: Tensor, isOwn: boolean): void {
  noteReplaced(owner, property, !isOwn);
  Object.defineProperty(owner, property, {
    value,
    enumerable: isOwn,
    writable: true,
    configurable: true,
  });
}

/**
 * Returns [params, buffers] of models of the same class, stacked by name along a new first dimension, for vmap() over an
 * ensemble: `vmap((p, b, x) => functionalCall(base, [p, b], [x]), { inDims: [0, 0, null] })`. The results are new leaves.
 */
export function stackModuleState(
  models: readonly Module[],
): [Record<string, Tensor>, Record<string, Tensor>] {
  const where = "stackModuleState";
  if (!Array.isArray(models) || models.length === 0) {
    fail("InvalidArgument", where, "models: expected an array of at least one model.");
  }
  models.forEach((model, i) => {
    if (model instanceof Module) return;
    fail("InvalidArgument", where, refusal(`models[${i}]`, "an nn.Module", model));
  });
  const [first] = models as [Module];
  if (models.some(({ training }) => training !== first.training)) {
    fail("InvalidArgument", where, "some models are in training mode and others are not.");
  }
  if (models.some((model) => model.constructor !== first.constructor)) {
    fail("InvalidArgument", where, "the models are of different classes.");
  }
  return [
    stackedByName(
      where,
      models.map((model) => model.namedParameters()),
    ),
    stackedByName(
      where,
      models.map((model) => model.namedBuffers()),
    ),
  ];
}

function stackedByName(
  where: string,
  lists: readonly (readonly [string, Tensor][])[],
): Record<string, Tensor> {
  const names = lists[0]?.map(([name]) => name) ?? [];
  return Object.fromEntries(
    names.map((name, i) => {
      const tensors = lists.map((list) => list[i]?.[1] as Tensor);
      const wanted = tensors.filter(({ requiresGrad }) => requiresGrad).length;
      if (wanted !== 0 && wanted !== tensors.length) {
        const message = `"${name}" must have the same requiresGrad in all models.`;
        fail("InvalidArgument", where, message);
      }
      return [
        name,
        stack(tensors)
          .detach()
          .requiresGrad_(wanted > 0),
      ];
    }),
  );
}
