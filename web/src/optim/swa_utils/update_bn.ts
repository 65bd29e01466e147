import { readArguments } from "../../arguments/read.js";
import { Rule } from "../../arguments/rule.js";
import { BatchNorm1d, type BatchNorm2d, type Module } from "../../nn/index.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import { type Device, deviceRule } from "../../tensor/dtype.js";
import { Tensor } from "../../tensor/tensor.js";
import { quietly } from "../quietly.js";
import { moduleRule } from "./averaged_model.js";

/** Batches: tensors, or lists whose first element is one. */
export type Batches = Iterable<Batch> | AsyncIterable<Batch>;

type Batch = Tensor | readonly unknown[];
type BatchNorm = BatchNorm1d | BatchNorm2d;

const kArguments = {
  loader: new Rule<Batches>("an iterable of batches", (value) => {
    const isObject = typeof value === "object" && value !== null && !(value instanceof Tensor);
    return isObject && (Symbol.asyncIterator in value || Symbol.iterator in value);
  }),
  model: moduleRule,
  device: deviceRule.orNull(),
};

/**
 * Sets the running statistics of all batch norms of a model to the means over the batches of `loader`. This is needed for
 * averaged weights, because averaging the statistics of the individual weights does not give the right ones.
 */
export async function updateBn(
  loader: Batches,
  model: Module,
  ...rest: [device?: Device | null | { device?: Device | null }]
): Promise<void> {
  const named = readArguments("updateBn", kArguments, [loader, model, ...rest]);
  const norms = named.model.modules().filter(isBatchNorm);
  if (norms.length === 0) return;
  const momenta = norms.map(({ momentum }) => momentum);
  const wasTraining = named.model.training;
  try {
    for (const norm of norms) {
      norm.resetRunningStats();
      setMomentum(norm, null);
    }
    named.model.train();
    for await (const batch of named.loader) {
      quietly(() => {
        const input = inputOf(batch).to(named.device ?? inputOf(batch).device);
        (named.model.call as (input: Tensor) => unknown).call(named.model, input);
      });
    }
  } finally {
    norms.forEach((norm, i) => {
      setMomentum(norm, momenta[i] ?? null);
    });
    named.model.train(wasTraining);
  }
}

// All batch norms extend the base class of BatchNorm1d.
function isBatchNorm(module: Module): module is BatchNorm {
  return module instanceof Object.getPrototypeOf(BatchNorm1d);
}

function setMomentum(norm: BatchNorm, momentum: number | null): void {
  Object.assign(norm, { momentum });
}

function inputOf(batch: Batch): Tensor {
  const input = batch instanceof Tensor ? batch : batch?.[0];
  if (input instanceof Tensor) return input;
  const reason = `loader: expected batches that are a tensor, or a list that begins with one, got ${describe(batch)}.`;
  return fail("InvalidArgument", "updateBn", reason);
}
