import { number, oneOf, oneOrMore, size } from "../../arguments/rule.js";
import type { ScheduledGroup } from "../lr_scheduler/base.js";
import {
  type Arguments,
  type OptionsOf,
  type Order,
  ownScheduler,
} from "../lr_scheduler/declared.js";
import { perGroup } from "../lr_scheduler/per_group.js";

const kSWALR = {
  /** The rate that is reached, of all groups or per group. */
  swaLr: oneOrMore(number),
  /** The number of epochs until the rate is reached; default 10. */
  annealEpochs: size.or(10),
  /** The shape of the curve to that rate; default "cos". */
  annealStrategy: oneOf("cos", "linear").or("cos"),
};

/** Options of `SWALR`. */
export type SWALROptions = OptionsOf<typeof kSWALR, "swaLr">;

interface AveragedGroup extends ScheduledGroup {
  swaLr?: number;
}

/** Moves the learning rate to a constant value, for the epochs whose weights are averaged. */
export class SWALR extends ownScheduler(
  kSWALR,
  {} as Order<[swaLr: "swaLr"], [annealEpochs: "annealEpochs", annealStrategy: "annealStrategy"]>,
) {
  declare annealEpochs: number;
  declare annealStrategy: "cos" | "linear";

  /** @internal */
  protected override setUp(named: Arguments<typeof kSWALR>): void {
    const rates = perGroup(this.constructor.name, "swaLr", named.swaLr, this.groups.length);
    this.annealEpochs = named.annealEpochs;
    this.annealStrategy = named.annealStrategy;
    this.groups.forEach((group, i) => {
      Object.assign(group, { swaLr: rates[i] });
    });
    this.start(named.lastEpoch);
  }

  // Starts from the previous rate, not from the initial one, because another scheduler may have changed it.
  protected override nextLrs(): number[] {
    const step = Math.max(this.stepCount - 1, this.annealEpochs === 0 ? 1 : 0);
    const before = this.shareAt(step - 1);
    const now = this.shareAt(step);
    return this.groups.map(({ lr, swaLr = lr }: AveragedGroup) => {
      const initial = before === 1 ? swaLr : (lr - before * swaLr) / (1 - before);
      return swaLr * now + initial * (1 - now);
    });
  }

  private shareAt(step: number): number {
    const done = Math.max(0, Math.min(1, step / Math.max(1, this.annealEpochs)));
    return this.annealStrategy === "linear" ? done : (1 - Math.cos(Math.PI * done)) / 2;
  }
}
