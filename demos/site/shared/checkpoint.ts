// Model, optimizer and steps in one safetensors file, from which training goes on as if it had not stopped.

import * as eg from "edgegrad";

type Tensors = Record<string, eg.Tensor>;

const kModel = "model.";
const kOptimizer = "optimizer.";
const kSteps = "steps";

/** What a checkpoint holds. */
export interface Learner {
  readonly model: eg.nn.Module;
  readonly optimizer: { stateDict(): OptimizerState; loadStateDict(saved: OptimizerState): void };
  steps: number;
}

type OptimizerState = ReturnType<eg.optim.AdamW["stateDict"]>;

/** Returns a file of tensors as they are now, from any device, without blocking. */
export async function fileOf(tensors: Tensors): Promise<Uint8Array> {
  const entries = Object.entries(tensors);
  const values = await Promise.all(entries.map(([, tensor]) => tensor.data()));
  return eg.scope(() => {
    const copies = entries.map(([name, { shape }], i) => [
      name,
      eg.tensor(values[i] as Float32Array, { shape }),
    ]);
    return eg.io.saveSafetensors(Object.fromEntries(copies), { metadata: { format: "pt" } });
  });
}

/** Returns a checkpoint. */
export function packCheckpoint({ model, optimizer, steps }: Learner): Promise<Uint8Array> {
  const tensors: Tensors = { [kSteps]: eg.tensor(steps, { dtype: "int32" }) };
  for (const [name, tensor] of Object.entries(model.stateDict())) tensors[kModel + name] = tensor;
  for (const [i, state] of Object.entries(optimizer.stateDict().state)) {
    for (const [name, tensor] of Object.entries(state)) {
      tensors[`${kOptimizer}${i}.${name}`] = tensor;
    }
  }
  return fileOf(tensors);
}

/** Takes over a checkpoint; throws, with the model as it was, where the file is of something else. */
export function unpackCheckpoint(learner: Learner, file: Uint8Array): void {
  eg.scope(() => {
    const tensors = eg.io.loadSafetensors(file);
    const steps = tensors[kSteps];
    if (steps === undefined) throw new Error("This file is no checkpoint: it has no steps.");
    learner.model.loadStateDict(below(kModel, tensors));
    const state: OptimizerState["state"] = {};
    for (const [name, tensor] of Object.entries(below(kOptimizer, tensors))) {
      const [i, part] = name.split(".") as [string, string];
      const own = state[Number(i)] ?? {};
      own[part] = tensor;
      state[Number(i)] = own;
    }
    learner.optimizer.loadStateDict({ ...learner.optimizer.stateDict(), state });
    learner.steps = Number(steps.item());
  });
}

function below(prefix: string, tensors: Tensors): Tensors {
  const found = Object.entries(tensors).filter(([name]) => name.startsWith(prefix));
  return Object.fromEntries(found.map(([name, tensor]) => [name.slice(prefix.length), tensor]));
}
