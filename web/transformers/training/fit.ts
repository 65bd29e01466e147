// The training loop, which can resume exactly.

import * as eg from "edgegrad";
import { describe, fail } from "../../errors/errors.js";
import { type AbortSignalLike, kSignal } from "../generation/options.js";
import {
  checkOptions,
  kCount,
  kFunction,
  kObject,
  kPositive,
  type OptionRule,
  orNull,
} from "../options.js";
import { type Progress, Randomness, readCheckpoint, savedCheckpoint } from "./checkpoint.js";

const kWhere = "fit";

/** An iterable of batches, which is iterated once per epoch: a DataLoader or an array. */
type Batches<Batch> = AsyncIterable<Batch> | Iterable<Batch>;

type Model = eg.nn.Module & { forward(...inputs: never[]): unknown };

/** The part of an optimizer that is used. */
export interface OptimizerLike {
  /** Updates the parameters by their gradients. */
  step(): unknown;
  /** Removes the gradients of the parameters. */
  zeroGrad(): void;
  /** Returns the state of the optimizer. */
  stateDict(): unknown;
  /** Loads what stateDict() has returned. */
  loadStateDict(state: never): void;
  /** The groups of parameters with their settings. */
  readonly paramGroups: readonly {
    /** The learning rate. */
    readonly lr?: unknown;
  }[];
}

/** The part of a learning rate scheduler that is used. */
export interface SchedulerLike {
  /** Sets the next learning rates. */
  step(): void;
  /** Returns the state of the scheduler. */
  stateDict(): unknown;
  /** Loads what stateDict() has returned. */
  loadStateDict(state: never): void;
}

/** The argument of `onStep`. */
export interface StepReport {
  /** The number of optimizer steps so far. */
  readonly step: number;
  /** The pass over the data, from 0. */
  readonly epoch: number;
  /** The mean loss of the step. */
  readonly loss: number;
  /** The learning rate of the step. */
  readonly lr: number;
  /** The norm of the gradients before it was clipped, with `clipNorm`. */
  readonly gradNorm?: number;
}

/** Where and how often checkpoints are saved. */
export interface CheckpointOptions {
  /** The number of steps between two checkpoints; default: one at the end of each pass over the data. */
  readonly every?: number | undefined;
  /** Stores the bytes of a checkpoint, which `resume` takes. */
  save(bytes: eg.Bytes, step: number): void | Promise<void>;
}

/** The loss of a batch. */
export interface BatchLoss {
  /** The mean loss of the labels. */
  readonly loss: eg.Tensor;
  /** The number of labels, as a tensor: the weight of the batch among those of a step. */
  readonly lossCount?: eg.Tensor | undefined;
}

/** Options of `fit`. */
export interface FitOptions<Batch> {
  /** Updates the parameters after each batch, or after several with `gradientAccumulation`. */
  readonly optimizer: OptimizerLike;
  /** Stepped after each optimizer step. */
  readonly scheduler?: SchedulerLike | null | undefined;
  /** The number of passes over the data; default 1. */
  readonly epochs?: number | undefined;
  /** The number of batches per optimizer step, each weighted by its number of labels; default 1. */
  readonly gradientAccumulation?: number | undefined;
  /** The maximum norm of all gradients together; default: no clipping. */
  readonly clipNorm?: number | null | undefined;
  /**
   * Returns the loss of a batch, or an object { loss, lossCount } with the number of labels of which it is the mean (a tensor; default 1). Default: what
   * the model returns for batches { inputIds or pixelValues, ...options }, whose tensors are moved to the model's device.
   */
  readonly lossOf?: ((model: eg.nn.Module, batch: Batch) => eg.Tensor | BatchLoss) | undefined;
  /** Called after each step. */
  readonly onStep?: ((report: StepReport) => void | Promise<void>) | undefined;
  /** Called at the end of each pass, with the model in evaluation mode. */
  readonly evaluate?: ((model: eg.nn.Module, epoch: number) => unknown) | undefined;
  /** Where checkpoints go, and how often. */
  readonly checkpoint?: CheckpointOptions | undefined;
  /** The bytes of a checkpoint to resume from. */
  readonly resume?: Uint8Array | null | undefined;
  /** Stops after the current step, saves a checkpoint, and rejects with the signal's reason. */
  readonly signal?: AbortSignalLike | null | undefined;
}

/** The result of training. */
export interface FitResult {
  /** The number of optimizer steps. */
  readonly steps: number;
  /** The mean loss of the last pass. */
  readonly loss: number;
  /** The results of `evaluate`, one per pass. */
  readonly evaluations: readonly unknown[];
}

const kHasStep: OptionRule = {
  expected: "an object with step()",
  accepts: (value) => typeof (value as { step?: unknown } | null)?.step === "function",
};

const kOptions = {
  optimizer: kHasStep,
  scheduler: orNull(kHasStep),
  epochs: kCount,
  gradientAccumulation: kCount,
  clipNorm: orNull(kPositive),
  lossOf: kFunction,
  onStep: kFunction,
  evaluate: kFunction,
  checkpoint: kObject,
  resume: orNull({ expected: "bytes", accepts: (value) => value instanceof Uint8Array }),
  signal: kSignal,
};

/**
 * Trains a model on the batches of a loader. It resumes from a checkpoint as if it had not been interrupted: trained weights, optimizer, scheduler,
 * position in the data and random numbers are restored. The model is in training mode during training, and then returns to its previous mode.
 */
export async function fit<Batch>(
  model: Model,
  loader: Batches<Batch>,
  options: FitOptions<Batch>,
): Promise<FitResult> {
  if (!(model instanceof eg.nn.Module)) {
    fail("InvalidArgument", kWhere, `expected a module, got ${describe(model)}.`);
  }
  const hasBatches =
    kObject.accepts(loader) && (Symbol.asyncIterator in loader || Symbol.iterator in loader);
  if (!hasBatches) {
    fail("InvalidArgument", kWhere, `expected a loader of batches, got ${describe(loader)}.`);
  }
  checkOptions(kWhere, options, kOptions);
  if (options.optimizer === undefined) fail("InvalidArgument", kWhere, "optimizer is missing.");
  options.signal?.throwIfAborted();
  const modes = new Map(model.modules().map((module) => [module, module.training]));
  model.train();
  try {
    return await new Training(model, loader, options).run();
  } finally {
    for (const [module, training] of modes) module.training = training;
  }
}

class Training<Batch> {
  readonly #accumulation: number;
  readonly #parameters: readonly eg.nn.Parameter[];
  readonly #evaluations: unknown[] = [];
  #progress: Progress = { step: 0, epoch: 0, batch: 0, stepsOfEpoch: 0, lossOfEpoch: 0 };
  /** The random numbers at the beginning of this pass. */
  #start: Randomness | null = null;
  /** The random numbers of the checkpoint to resume from. */
  #resumed: Randomness | null = null;
  /** The losses of the batches since the last step, and their weights. */
  #losses: Weighted[] = [];

  constructor(
    private readonly model: Model,
    private readonly loader: Batches<Batch>,
    private readonly options: FitOptions<Batch>,
  ) {
    this.#accumulation = options.gradientAccumulation ?? 1;
    this.#parameters = model.parameters().filter(({ requiresGrad }) => requiresGrad);
    if (this.#parameters.length === 0) {
      fail("InvalidArgument", kWhere, "no parameter of the model requires a gradient.");
    }
  }

  async run(): Promise<FitResult> {
    const { epochs = 1, resume } = this.options;
    if (resume) this.#resume(resume);
    while (this.#progress.epoch < epochs) await this.#pass();
    const { step, lossOfEpoch, stepsOfEpoch } = this.#progress;
    return { steps: step, loss: lossOfEpoch / stepsOfEpoch, evaluations: this.#evaluations };
  }

  async #pass(): Promise<void> {
    const batches = await this.#begin();
    try {
      for (;;) {
        const { value, done } = await batches.next();
        if (done) break;
        await this.#backward(value);
        if (this.#losses.length === this.#accumulation) await this.#update();
      }
    } finally {
      await batches.return?.();
    }
    if (this.#losses.length > 0) await this.#update();
    if (this.#progress.batch === 0) {
      fail("InvalidArgument", kWhere, "the loader has no batches.");
    }
    await this.#evaluate();
    this.#progress = { ...this.#progress, epoch: this.#progress.epoch + 1, batch: 0 };
    const { checkpoint } = this.options;
    if (checkpoint && checkpoint.every === undefined) await this.#save();
  }

  // Returns the remaining batches of a pass. Those before a checkpoint are drawn again, with the same random numbers.
  async #begin(): Promise<Iterating<Batch>> {
    const resumed = this.#resumed;
    this.#resumed = null;
    if (resumed === null || this.#start === null || this.#progress.batch === 0) {
      if (resumed) resumed.apply(this.loader);
      this.#progress = { ...this.#progress, batch: 0, stepsOfEpoch: 0, lossOfEpoch: 0 };
      this.#start = Randomness.of(this.loader);
      return iterating(this.loader);
    }
    this.#start.apply(this.loader);
    const batches = iterating(this.loader);
    for (let i = 0; i < this.#progress.batch; i++) await batches.next();
    resumed.apply(this.loader);
    return batches;
  }

  async #backward(batch: Batch): Promise<void> {
    await eg.scope(async () => {
      const given = (this.options.lossOf ?? lossOfModel)(this.model, batch);
      const { loss, lossCount } = given instanceof eg.Tensor ? { loss: given } : Object(given);
      if (!(loss instanceof eg.Tensor)) {
        fail("InvalidArgument", kWhere, `lossOf: expected a tensor, got ${describe(given)}.`);
      }
      const weight =
        this.#accumulation === 1 || !(lossCount instanceof eg.Tensor)
          ? eg.ones([], { device: loss.device })
          : lossCount.float();
      // Relative to the first batch, so that gradients in half precision stay in their range.
      const [first] = this.#losses;
      await (first ? loss.mul(weight.div(first.weight)) : loss).backwardAsync();
      this.#losses.push({ loss: eg.keep(loss.detach()), weight: eg.keep(weight.detach()) });
    });
    this.#progress = { ...this.#progress, batch: this.#progress.batch + 1 };
  }

  // One optimizer step for the accumulated batches.
  async #update(): Promise<void> {
    const { optimizer, scheduler, clipNorm, onStep, checkpoint, signal } = this.options;
    const losses = this.#losses.splice(0);
    const lr = Number(optimizer.paramGroups[0]?.lr ?? Number.NaN);
    let norm: eg.Tensor | null = null;
    eg.scope(() => {
      if (losses.length > 1) this.#average(losses);
      if (clipNorm) norm = eg.keep(eg.nn.utils.clipGradNorm_([...this.#parameters], clipNorm));
      optimizer.step();
      optimizer.zeroGrad();
      scheduler?.step();
    });
    const loss = await meanOf(losses);
    const { step, stepsOfEpoch, lossOfEpoch } = this.#progress;
    this.#progress = {
      ...this.#progress,
      step: step + 1,
      stepsOfEpoch: stepsOfEpoch + 1,
      lossOfEpoch: lossOfEpoch + loss,
    };
    const gradNorm = norm === null ? undefined : Number(await (norm as eg.Tensor).itemAsync());
    await onStep?.({
      step: step + 1,
      epoch: this.#progress.epoch,
      loss,
      lr,
      ...(gradNorm !== undefined && { gradNorm }),
    });
    const isDue = checkpoint?.every !== undefined && (step + 1) % checkpoint.every === 0;
    if (isDue || (checkpoint && signal?.aborted)) await this.#save();
    signal?.throwIfAborted();
  }

  // Divides the gradients, which are sums relative to the first batch, by the sum of the weights.
  #average(losses: readonly Weighted[]): void {
    eg.noGrad(() => {
      const factor = (losses[0] as Weighted).weight.div(totalOf(losses));
      for (const { grad } of this.#parameters) grad?.mul_(factor.to(grad.dtype));
    });
  }

  async #evaluate(): Promise<void> {
    const { evaluate } = this.options;
    if (evaluate === undefined) return;
    this.model.eval();
    try {
      this.#evaluations.push(await evaluate(this.model, this.#progress.epoch));
    } finally {
      this.model.train();
    }
  }

  async #save(): Promise<void> {
    const { optimizer, scheduler, checkpoint } = this.options;
    const bytes = savedCheckpoint({
      progress: this.#progress,
      start: this.#start as Randomness,
      current: Randomness.of(this.loader),
      weights: trainedState(this.model),
      optimizer: optimizer.stateDict(),
      scheduler: scheduler?.stateDict() ?? null,
    });
    await checkpoint?.save(bytes, this.#progress.step);
  }

  #resume(bytes: Uint8Array): void {
    const { optimizer, scheduler } = this.options;
    const saved = readCheckpoint(bytes);
    const known = Object.keys(trainedState(this.model)).sort();
    if (String(known) !== String(Object.keys(saved.weights).sort())) {
      const message = "resume: the checkpoint is of a model with other trained parameters.";
      fail("InvalidArgument", kWhere, message);
    }
    if ((saved.scheduler === null) !== !scheduler) {
      fail("InvalidArgument", kWhere, "resume: the checkpoint and the call differ in scheduler.");
    }
    this.model.loadStateDict(saved.weights, { strict: false });
    optimizer.loadStateDict(saved.optimizer as never);
    scheduler?.loadStateDict(saved.scheduler as never);
    this.#progress = saved.progress;
    this.#start = saved.start;
    this.#resumed = saved.current;
  }
}

type Iterating<Batch> = AsyncIterator<Batch> | Iterator<Batch>;

const iterating = <Batch>(loader: Batches<Batch>): Iterating<Batch> =>
  Symbol.asyncIterator in loader ? loader[Symbol.asyncIterator]() : loader[Symbol.iterator]();

// Calls the model with the inputs of a batch, and everything else as options, on the device of its parameters; returns its loss.
function lossOfModel(model: eg.nn.Module, batch: unknown): BatchLoss {
  const device = model.parameters()[0]?.device ?? "cpu";
  const moved = Object.entries(batch as object).map(([name, value]: [string, unknown]) => {
    return [name, value instanceof eg.Tensor ? value.to(device) : value] as const;
  });
  const { inputIds, pixelValues, ...options } = Object.fromEntries(moved);
  const input = inputIds ?? pixelValues;
  if (!(input instanceof eg.Tensor)) {
    const expected = "batches { inputIds or pixelValues, labels, ... }, or the option lossOf";
    fail(
      "InvalidArgument",
      kWhere,
      `expected ${expected}, got ${describe(Object.keys(batch as object))}.`,
    );
  }
  const output = (model as Callable).call(input, options) as Partial<BatchLoss>;
  if (output.loss instanceof eg.Tensor) return output as BatchLoss;
  return fail("InvalidArgument", kWhere, "the model returned no loss: a batch has to have labels.");
}

type Callable = eg.nn.Module & { forward(input: eg.Tensor, options: object): unknown };

interface Weighted {
  readonly loss: eg.Tensor;
  readonly weight: eg.Tensor;
}

const totalOf = (losses: readonly Weighted[]) => eg.stack(losses.map(({ weight }) => weight)).sum();

async function meanOf(losses: readonly Weighted[]): Promise<number> {
  const mean = eg.scope(() => {
    const weighted = losses.map(({ loss, weight }) => loss.float().mul(weight));
    return eg.keep(eg.stack(weighted).sum().div(totalOf(losses)));
  });
  try {
    return Number(await mean.itemAsync());
  } finally {
    for (const tensor of [mean, ...losses.flatMap(({ loss, weight }) => [loss, weight])])
      tensor.dispose();
  }
}

// The part of a model's state that a checkpoint saves: what is trained, and the buffers that training changes.
function trainedState(model: eg.nn.Module): Record<string, eg.Tensor> {
  const frozen = new Set(
    model.namedParameters().flatMap(([name, { requiresGrad }]) => (requiresGrad ? [] : [name])),
  );
  return Object.fromEntries(
    Object.entries(model.stateDict()).filter(([name]) => !frozen.has(name)),
  );
}
