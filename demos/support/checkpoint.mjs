// Stores model, optimizer and step count in one safetensors file, from which training resumes exactly; in Node and in the
// pages.

import * as eg from "edgegrad";

const kModel = "model.";
const kOptimizer = "optimizer.";
const kSteps = "steps";

/** @typedef {Record<string, eg.Tensor>} Tensors */
/** @typedef {ReturnType<eg.optim.Adam["stateDict"]>} OptimizerState */

/**
 * The contents of a checkpoint.
 * @typedef {object} Learner
 * @property {eg.nn.Module} model
 * @property {{ stateDict(): OptimizerState, loadStateDict(saved: OptimizerState): void }} optimizer
 * @property {number} steps
 */

/**
 * Returns a file with the current values of tensors on any device, without blocking.
 * @param {Tensors} tensors
 * @returns {Promise<Uint8Array>}
 */
export async function fileOf(tensors) {
  const entries = Object.entries(tensors);
  const values = await Promise.all(entries.map(([, tensor]) => tensor.data()));
  return eg.scope(() => {
    const copies = entries.map(([name, { shape }], i) => [name, eg.tensor(values[i], { shape })]);
    return eg.io.saveSafetensors(Object.fromEntries(copies), { metadata: { format: "pt" } });
  });
}

/**
 * Returns a file with the weights of a model on the CPU in half their size; the model has them, too, afterwards.
 * @param {eg.nn.Module} model
 */
export function halfFile(model) {
  return eg.io.saveSafetensors(model.half().stateDict(), { metadata: { format: "pt" } });
}

/**
 * Returns a checkpoint.
 * @param {Learner} learner
 */
export function packCheckpoint({ model, optimizer, steps }) {
  /** @type {Tensors} */
  const tensors = { [kSteps]: eg.tensor(steps, { dtype: "int32" }) };
  for (const [name, tensor] of Object.entries(model.stateDict())) tensors[kModel + name] = tensor;
  for (const [i, state] of Object.entries(optimizer.stateDict().state)) {
    for (const [name, tensor] of Object.entries(state)) {
      tensors[`${kOptimizer}${i}.${name}`] = tensor;
    }
  }
  return fileOf(tensors);
}

/**
 * Restores a checkpoint; throws, without changing the model, if the file is something else.
 * @param {Learner} learner
 * @param {Uint8Array} file
 */
export function unpackCheckpoint(learner, file) {
  eg.scope(() => {
    const tensors = eg.io.loadSafetensors(file);
    const steps = tensors[kSteps];
    if (steps === undefined)
      throw new Error("This file is not a checkpoint: it has no step count.");
    learner.model.loadStateDict(below(kModel, tensors));
    /** @type {OptimizerState["state"]} */
    const state = {};
    for (const [name, tensor] of Object.entries(below(kOptimizer, tensors))) {
      const [i, part] = name.split(".");
      state[i] ??= {};
      state[i][part] = tensor;
    }
    learner.optimizer.loadStateDict({ ...learner.optimizer.stateDict(), state });
    learner.steps = Number(steps.item());
  });
}

/**
 * The tensors whose names start with `prefix`, by their names without it.
 * @param {string} prefix
 * @param {Tensors} tensors
 * @returns {Tensors}
 */
function below(prefix, tensors) {
  const found = Object.entries(tensors).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(found.map(([name, tensor]) => [name.slice(prefix.length), tensor]));
}
