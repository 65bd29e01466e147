// The loop of a training, from which it resumes exactly.

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

/** What gives batches pass by pass: a DataLoader, or an array. */
type Batches<Batch> = AsyncIterable<Batch> | Iterable<Batch>;

type Model = eg.nn.Module & { forward(...inputs: never[]): unknown };

/** An optimizer, as far as it is used. */
export interface OptimizerLike {
  /** Changes the parameters by their gradients. */
  step(): unknown;
  /** Removes the gradients of the parameters. */
  zeroGrad(): void;
  /** Returns what the optimizer remembers. */
  stateDict(): unknown;
  /** Takes over what stateDict() has returned. */
  loadStateDict(state: never): void;
  /** The groups of parameters with their settings. */
  readonly paramGroups: readonly {
    /** The learning rate. */
    readonly lr?: unknown;
  }[];
}

/** A schedule of learning rates, as far as it is used. */
export interface SchedulerLike {
  /** Sets the next learning rates. */
  step(): void;
  /** Returns what the schedule remembers. */
  stateDict(): unknown;
  /** Takes over what stateDict() has returned. */
  loadStateDict(state: never): void;
}

/** What `onStep` is told. */
export interface StepReport {
  /** The number of steps of the optimizer so far. */
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

/** Where and how often a training is saved. */
export interface CheckpointOptions {
  /** The number of steps between two checkpoints; default: one at the end of each pass over the data. */
  readonly every?: number | undefined;
  /** Stores the bytes, with which `resume` goes on. */
  save(bytes: eg.Bytes, step: number): void | Promise<void>;
}

/** Options of `fit`. */
export interface FitOptions<Batch> {
  /** Changes the parameters after each batch, or after several with `gradientAccumulation`. */
  readonly optimizer: OptimizerLike;
  /** Is stepped after each step of the optimizer. */
  readonly scheduler?: SchedulerLike | null | undefined;
  /** The number of passes over the data; default 1. */
  readonly epochs?: number | undefined;
  /** The number of batches whose gradients make one step; default 1. */
  readonly gradientAccumulation?: number | undefined;
  /** The largest norm of all gradients together. */
  readonly clipNorm?: number | null | undefined;
  /**
   * Returns the loss of a batch; default: that of the model for batches { inputIds or pixelValues, ...options }, whose tensors are moved to the
   * model's device.
   */
  readonly lossOf?: ((model: eg.nn.Module, batch: Batch) => eg.Tensor) | undefined;
  /** Is called after each step. */
  readonly onStep?: ((report: StepReport) => void | Promise<void>) | undefined;
  /** Is called at the end of each pass, with the model in evaluation mode. */
  readonly evaluate?: ((model: eg.nn.Module, epoch: number) => unknown) | undefined;
  /** Where checkpoints go, and how often. */
  readonly checkpoint?: CheckpointOptions | undefined;
  /** The bytes of a checkpoint to go on from. */
  readonly resume?: Uint8Array | null | undefined;
  /** Stops after the step that is running, saves a checkpoint and rejects with the signal's reason. */
  readonly signal?: AbortSignalLike | null | undefined;
}

/** What a training came to. */
export interface FitResult {
  /** The number of steps of the optimizer. */
  readonly steps: number;
  /** The mean loss of the last pass. */
  readonly loss: number;
  /** What `evaluate` has returned, pass by pass. */
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
 * Trains a model on the batches of a loader. With checkpoints it goes on as if it had not been interrupted: weights that are trained, optimizer, schedule,
 * place in the data and random numbers are those of the checkpoint. The model is in training mode meanwhile, and afterwards as it was.
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
  /** Those of a checkpoint to go on with. */
  #resumed: Randomness | null = null;
  /** The losses of the batches that the next step is for. */
  #losses: eg.Tensor[] = [];

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

  // Returns the batches of a pass that are left. Those before a checkpoint are drawn again, with the random numbers of then.
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
      const loss = (this.options.lossOf ?? lossOfModel)(this.model, batch);
      if (!(loss instanceof eg.Tensor)) {
        fail("InvalidArgument", kWhere, `lossOf: expected a tensor, got ${describe(loss)}.`);
      }
      await loss.div(this.#accumulation).backwardAsync();
      this.#losses.push(eg.keep(loss.detach()));
    });
    this.#progress = { ...this.#progress, batch: this.#progress.batch + 1 };
  }

  // One step of the optimizer for the batches that have been read.
  async #update(): Promise<void> {
    const { optimizer, scheduler, clipNorm, onStep, checkpoint, signal } = this.options;
    const losses = this.#losses.splice(0);
    const lr = Number(optimizer.paramGroups[0]?.lr ?? Number.NaN);
    let norm: eg.Tensor | null = null;
    eg.scope(() => {
      if (losses.length < this.#accumulation) this.#rescale(this.#accumulation / losses.length);
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

  #rescale(factor: number): void {
    eg.noGrad(() => {
      for (const { grad } of this.#parameters) grad?.mul_(factor);
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

// The loss of a model that is called with its inputs, and everything else as options, on the device of its parameters.
function lossOfModel(model: eg.nn.Module, batch: unknown): eg.Tensor {
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
  const { loss } = (model as Callable).call(input, options) as { loss?: unknown };
  if (loss instanceof eg.Tensor) return loss;
  return fail("InvalidArgument", kWhere, "the model returned no loss: a batch has to have labels.");
}

type Callable = eg.nn.Module & { forward(input: eg.Tensor, options: object): unknown };

async function meanOf(losses: readonly eg.Tensor[]): Promise<number> {
  let sum = 0;
  for (const loss of losses) {
    sum += Number(await loss.itemAsync());
    loss.dispose();
  }
  return sum / losses.length;
}

// What a checkpoint has of a model: what is trained, and the state that training changes.
function trainedState(model: eg.nn.Module): Record<string, eg.Tensor> {
  const frozen = new Set(
    model.namedParameters().flatMap(([name, { requiresGrad }]) => (requiresGrad ? [] : [name])),
  );
  return Object.fromEntries(
    Object.entries(model.stateDict()).filter(([name]) => !frozen.has(name)),
  );
}
