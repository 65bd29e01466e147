// Schedulers with a single formula.

import { count, number, positive, size } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import { type OptionsOf, type Order, scheduler } from "./declared.js";

const kStepLR = {
  /** The number of epochs between two changes. */
  stepSize: count,
  /** The factor; default 0.1. */
  gamma: number.or(0.1),
};

/** Options of `StepLR`. */
export type StepLROptions = OptionsOf<typeof kStepLR, "stepSize">;

/** Multiplies the rate by `gamma` every `stepSize` epochs. */
export class StepLR extends scheduler(
  kStepLR,
  {} as Order<[stepSize: "stepSize"], [gamma: "gamma"]>,
) {
  protected override nextLrs(): number[] {
    const isStep = this.lastEpoch !== 0 && this.lastEpoch % this.stepSize === 0;
    return this.groups.map(({ lr }) => (isStep ? lr * this.gamma : lr));
  }

  protected override closedFormLrs(): number[] {
    const factor = this.gamma ** Math.floor(this.lastEpoch / this.stepSize);
    return this.baseLrs.map((lr) => lr * factor);
  }
}

const kLinearLR = {
  /** The factor at the start; default 1/3. */
  startFactor: number.or(1 / 3),
  /** The factor at the end; default 1. */
  endFactor: number.or(1),
  /** The number of epochs from start to end; default 5. */
  totalIters: size.or(5),
};

/** Options of `LinearLR`. */
export type LinearLROptions = OptionsOf<typeof kLinearLR>;

/** Multiplies the initial rate by a factor that changes linearly from start to end. */
export class LinearLR extends scheduler(
  kLinearLR,
  {} as Order<[], [startFactor: "startFactor", endFactor: "endFactor", totalIters: "totalIters"]>,
) {
  protected override start(lastEpoch: number): void {
    if (!(this.startFactor > 0 && this.startFactor <= 1)) {
      fail(
        "InvalidArgument",
        "LinearLR",
        `startFactor: expected a number above 0, at most 1, got ${this.startFactor}.`,
      );
    }
    if (!(this.endFactor >= 0 && this.endFactor <= 1)) {
      fail(
        "InvalidArgument",
        "LinearLR",
        `endFactor: expected a number from 0 to 1, got ${this.endFactor}.`,
      );
    }
    super.start(lastEpoch);
  }

  protected override nextLrs(): number[] {
    const { startFactor, totalIters, lastEpoch } = this;
    const change = this.endFactor - startFactor;
    if (lastEpoch === 0) return this.groups.map(({ lr }) => lr * startFactor);
    if (lastEpoch > totalIters) return this.groups.map(({ lr }) => lr);
    const factor = 1 + change / (totalIters * startFactor + (lastEpoch - 1) * change);
    return this.groups.map(({ lr }) => lr * factor);
  }

  protected override closedFormLrs(): number[] {
    const { startFactor, endFactor, totalIters, lastEpoch } = this;
    const done = Math.min(totalIters, lastEpoch) / totalIters;
    return this.baseLrs.map((lr) => lr * (startFactor + (endFactor - startFactor) * done));
  }
}

const kCosineAnnealingLR = {
  /** The number of epochs from the highest rate to the lowest. */
  tMax: positive,
  /** The smallest rate; default 0. */
  etaMin: number.or(0),
};

/** Options of `CosineAnnealingLR`. */
export type CosineAnnealingLROptions = OptionsOf<typeof kCosineAnnealingLR, "tMax">;

/** Lowers the rate along half a cosine wave of `tMax` epochs, and raises it again afterwards. */
export class CosineAnnealingLR extends scheduler(
  kCosineAnnealingLR,
  {} as Order<[tMax: "tMax"], [etaMin: "etaMin"]>,
) {
  protected override nextLrs(): number[] {
    const { tMax, etaMin, lastEpoch, baseLrs } = this;
    if (lastEpoch === 0) return this.groups.map(({ lr }) => lr);
    // A scheduler that resumes has no previous rate to continue from.
    if (this.stepCount === 1) return this.closedFormLrs();
    if ((lastEpoch - 1 - tMax) % (2 * tMax) === 0) {
      // At the lowest point of the wave a ratio would divide by zero.
      const rise = (1 - Math.cos(Math.PI / tMax)) / 2;
      return this.groups.map(({ lr }, i) => lr + ((baseLrs[i] ?? lr) - etaMin) * rise);
    }
    const ratio = wave(lastEpoch / tMax) / wave((lastEpoch - 1) / tMax);
    return this.groups.map(({ lr }) => ratio * (lr - etaMin) + etaMin);
  }

  protected override closedFormLrs(): number[] {
    const { tMax, etaMin, lastEpoch } = this;
    return this.baseLrs.map((lr) => etaMin + ((lr - etaMin) * wave(lastEpoch / tMax)) / 2);
  }
}

// 1 + cos, which falls from 2 at position 0 to 0 at position 1.
function wave(position: number): number {
  return 1 + Math.cos(Math.PI * position);
}
