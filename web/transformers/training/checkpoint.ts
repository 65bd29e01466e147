// Checkpoints, from which training resumes.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";

/** The progress of training. */
export interface Progress {
  /** The number of optimizer steps. */
  readonly step: number;
  /** The pass over the data. */
  readonly epoch: number;
  /** The number of batches of that pass that have been used. */
  readonly batch: number;
  readonly stepsOfEpoch: number;
  readonly lossOfEpoch: number;
}

/** The states of the random number generators: that of the package, and that of a loader that has its own. */
export class Randomness {
  private constructor(
    readonly shared: eg.Tensor,
    readonly own: eg.Tensor | null,
  ) {}

  static of(loader: unknown): Randomness {
    const own = generatorOf(loader)?.getState() ?? null;
    return new Randomness(eg.keep(eg.random.getState()), own && eg.keep(own));
  }

  static from({ shared, own }: { shared: eg.Tensor; own: eg.Tensor | null }): Randomness {
    return new Randomness(shared, own);
  }

  /** Restores them. */
  apply(loader: unknown): void {
    const generator = generatorOf(loader);
    if ((generator === null) !== (this.own === null)) {
      fail(
        "InvalidArgument",
        "fit",
        "resume: the checkpoint and the loader differ in whether the loader has its own generator.",
      );
    }
    eg.random.setState(this.shared);
    if (this.own !== null) generator?.setState(this.own);
  }
}

function generatorOf(loader: unknown): eg.Generator | null {
  return loader instanceof eg.data.DataLoader ? loader.generator : null;
}

/** The contents of a checkpoint. */
export interface Checkpoint {
  readonly progress: Progress;
  readonly start: Randomness;
  readonly current: Randomness;
  readonly weights: Record<string, eg.Tensor>;
  readonly optimizer: unknown;
  readonly scheduler: unknown;
}

const kFormat = "edgegrad.fit/1";

const plain = ({ shared, own }: Randomness) => ({ shared, own });

/** Returns the bytes of a checkpoint. */
export function savedCheckpoint({ start, current, ...rest }: Checkpoint): eg.Bytes {
  return eg.io.save({ format: kFormat, start: plain(start), current: plain(current), ...rest });
}

/** Reads the bytes of a checkpoint. */
export function readCheckpoint(bytes: Uint8Array): Checkpoint {
  const read = eg.io.load(bytes) as {
    format?: unknown;
    start: { shared: eg.Tensor; own: eg.Tensor | null };
    current: { shared: eg.Tensor; own: eg.Tensor | null };
  } & Omit<Checkpoint, "start" | "current">;
  if (read.format !== kFormat) {
    fail("InvalidArgument", "fit", "resume: the bytes are not a checkpoint of fit().");
  }
  const { start, current, progress, weights, optimizer, scheduler } = read;
  return {
    progress,
    start: Randomness.from(start),
    current: Randomness.from(current),
    weights,
    optimizer,
    scheduler,
  };
}
