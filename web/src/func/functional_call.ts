// Modules as functions of their parameters: functionalCall() and stackModuleState().

import { isPlainObject, readOptions } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { stack } from "../generated/ops.js";
import { Module } from "../nn/module.js";
import { fail, refusal } from "../runtime/errors.js";
import { Tensor } from "../tensor/tensor.js";
import type { Tree } from "./pytree.js";

/** Tensors by the dotted names that a module has for its parameters and buffers. */
export type TensorsByName = Readonly<Record<string, Tensor>>;

const kOptions = {
  /** Parameters that a module has under several names are replaced under all. */
  tieWeights: boolean.or(true),
  /** All parameters and buffers have to be given, and no others. */
  strict: boolean.or(false),
};

/** Options of `functionalCall`. */
export type FunctionalCallOptions = Options<typeof kOptions>;

const kName = "functionalCall";

// A property of a module, with what it holds.
interface Slot {
  readonly owner: Module;
  readonly property: string;
  readonly held: Tensor;
}

/**
 * Calls a module with other tensors in place of its parameters and buffers, which it has again afterwards: a dictionary
 * by dotted name, or a list of such dictionaries. `args` is a list of arguments, or a single one that is no list;
 * `kwargs` an object of options that is handed on after them.
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
  const replaced: Slot[] = [];
  try {
    for (const [name, tensor] of Object.entries(tensors)) {
      for (const slot of slotsFor(name, slots, tieWeights)) {
        replaced.push(slot);
        place(slot, tensor, false);
      }
    }
    return (module.call as (...inputs: unknown[]) => Tree).apply(module, inputs);
  } finally {
    for (const slot of replaced) place(slot, slot.held, true);
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
          `${name} appears in multiple dictionaries; behavior of functional call is ambiguous.`,
        );
      }
      all[name] = tensor;
    }
  }
  return all;
}

function slotsOf(module: Module): Map<string, Slot> {
  const slots = new Map<string, Slot>();
  for (const [prefix, owner] of module.namedModules()) {
    for (const [property, held] of Object.entries(owner)) {
      const name = prefix === "" ? property : `${prefix}.${property}`;
      if (held instanceof Tensor) slots.set(name, { owner, property, held });
    }
  }
  return slots;
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
      `Missing key(s): ${missing.map((name) => `"${name}"`).join(", ")}.`,
    );
  }
}

// A stand-in is hidden from the module's look at its own properties, which would take it for a lost parameter.
function place({ owner, property }: Slot, value: Tensor, isOwn: boolean): void {
  Object.defineProperty(owner, property, {
    value,
    enumerable: isOwn,
    writable: true,
    configurable: true,
  });
}

/**
 * Returns [params, buffers] of models of one kind, stacked by name along a new first dimension, for vmap() over an
 * ensemble: `vmap((p, b, x) => functionalCall(base, [p, b], [x]), { inDims: [0, 0, null] })`. They are new leaves.
 */
export function stackModuleState(
  models: readonly Module[],
): [Record<string, Tensor>, Record<string, Tensor>] {
  const where = "stackModuleState";
  if (!Array.isArray(models) || models.length === 0) {
    fail("InvalidArgument", where, "Expected at least one model, got 0.");
  }
  models.forEach((model, i) => {
    if (model instanceof Module) return;
    fail("InvalidArgument", where, refusal(`models[${i}]`, "an nn.Module", model));
  });
  const [first] = models as [Module];
  if (models.some(({ training }) => training !== first.training)) {
    fail("InvalidArgument", where, "Expected all models to have the same training/eval mode.");
  }
  if (models.some((model) => model.constructor !== first.constructor)) {
    fail("InvalidArgument", where, "Expected all models to be of the same class.");
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
        const told = `Expected ${name} from each model to have the same .requires_grad.`;
        fail("InvalidArgument", where, told);
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
