import { readArguments } from "../../arguments/read.js";
import {
  element,
  integer,
  number,
  type Options,
  oneOf,
  oneOrMore,
  Rule,
  size,
  type Values,
} from "../../arguments/rule.js";
import { isCapturing } from "../../runtime/bridge/live.js";
import { fail } from "../../runtime/errors/errors.js";
import { Tensor } from "../../tensor/tensor.js";
import { BaseScheduler } from "./base.js";
import { declared, type Order } from "./declared.js";
import { perGroup } from "./per_group.js";

const kOptions = {
  /** Whether a lower metric is better, "min", or a higher one, "max"; default "min". */
  mode: oneOf("min", "max").or("min"),
  /** The factor by which the rate is multiplied, below 1; default 0.1. */
  factor: new Rule<number>("a number below 1", (value) => {
    return typeof value === "number" && value < 1;
  }).or(0.1),
  /** The number of epochs without improvement that are tolerated; default 10. */
  patience: size.or(10),
  /** The smallest change that counts as an improvement; default 1e-4. */
  threshold: number.or(1e-4),
  /** Whether the threshold is relative to the best metric, "rel", or absolute, "abs"; default "rel". */
  thresholdMode: oneOf("rel", "abs").or("rel"),
  /** The number of epochs after a reduction that are ignored; default 0. */
  cooldown: size.or(0),
  /** The smallest rate, for all groups or per group; default 0. */
  minLr: oneOrMore(number).or(0),
  /** Smaller changes of a rate are not made; default 1e-8. */
  eps: number.or(1e-8),
};

const kStepArguments = {
  metrics: new Rule<number | Tensor>("a number or a tensor of one element", (value) => {
    return element.accepts(value) || (value instanceof Tensor && value.numel === 1);
  }),
  epoch: integer.optional(),
};

/** Options of `ReduceLROnPlateau`. */
export type ReduceLROnPlateauOptions = Options<typeof kOptions>;

/** Lowers the rates when a metric has not improved for some epochs. */
export class ReduceLROnPlateau extends declared(
  BaseScheduler,
  kOptions,
  {} as Order<
    [],
    [
      mode: "mode",
      factor: "factor",
      patience: "patience",
      threshold: "threshold",
      thresholdMode: "thresholdMode",
      cooldown: "cooldown",
      minLr: "minLr",
      eps: "eps",
    ]
  >,
) {
  declare mode: "min" | "max";
  declare factor: number;
  declare patience: number;
  declare threshold: number;
  declare thresholdMode: "rel" | "abs";
  declare cooldown: number;
  /** The remaining epochs of the cooldown. */
  declare cooldownCounter: number;
  declare minLrs: number[];
  declare eps: number;
  /** The best metric so far. */
  declare best: number;
  /** The number of epochs since then. */
  declare numBadEpochs: number;
  /** A value that every metric improves on. */
  declare modeWorse: number;

  /** @internal */
  protected override setUp({ minLr, ...fields }: Values<typeof kOptions>): void {
    super.setUp(fields);
    this.cooldownCounter = 0;
    this.numBadEpochs = 0;
    this.minLrs = perGroup(this.constructor.name, "minLr", minLr, this.groups.length);
    this.modeWorse = this.mode === "min" ? Infinity : -Infinity;
    this.best = this.modeWorse;
    this.lastEpoch = 0;
    this.noteLrs();
  }

  /** Records the metric of an epoch, and lowers the rates if it has not improved for too long. */
  override step(...given: [metrics: number | Tensor, epoch?: number]): void {
    const { metrics, epoch } = readArguments("ReduceLROnPlateau.step", kStepArguments, given);
    if (isCapturing()) {
      const reason =
        "cannot be captured, because its step depends on a value that it reads. Call it outside.";
      fail("InvalidArgument", "ReduceLROnPlateau.step", reason);
    }
    const current = typeof metrics === "number" ? metrics : Number(metrics.item());
    this.#checkGroups();
    this.lastEpoch = epoch ?? this.lastEpoch + 1;
    if (this.#isBetter(current)) {
      this.best = current;
      this.numBadEpochs = 0;
    } else {
      this.numBadEpochs++;
    }
    if (this.cooldownCounter > 0) {
      this.cooldownCounter--;
      this.numBadEpochs = 0;
    }
    if (this.numBadEpochs > this.patience) {
      this.#reduce();
      this.cooldownCounter = this.cooldown;
      this.numBadEpochs = 0;
    }
    this.noteLrs();
  }

  #isBetter(metric: number): boolean {
    const margin = this.mode === "min" ? -this.threshold : this.threshold;
    const limit = this.thresholdMode === "rel" ? this.best * (1 + margin) : this.best + margin;
    return this.mode === "min" ? metric < limit : metric > limit;
  }

  #reduce(): void {
    this.groups.forEach((group, i) => {
      const next = Math.max(group.lr * this.factor, this.minLrs[i] ?? 0);
      if (group.lr - next > this.eps) group.lr = next;
    });
  }

  #checkGroups(): void {
    const count = this.groups.length;
    if (this.minLrs.length === count) return;
    const [first] = this.minLrs;
    // Groups that were added later use the minimum if all groups share it.
    if (first !== undefined && this.minLrs.every((lr) => lr === first)) {
      this.minLrs = Array<number>(count).fill(first);
      return;
    }
    const reason = `minLr: expected ${count} values, one per group, got ${this.minLrs.length}.`;
    fail("InvalidArgument", "ReduceLROnPlateau.step", reason);
  }
}
