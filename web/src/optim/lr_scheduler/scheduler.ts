// Schedulers that follow a formula. They set the learning rate of every group of an optimizer, once per
// step(): most work out the next rate from the present one, so that schedulers can be chained.

import { readArguments } from "../../arguments/read.js";
import { integer, type Options, unchecked } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import { runLive } from "../../runtime/live.js";
import { BaseScheduler, type ScheduledOptimizer } from "./base.js";

/** The first argument of all schedulers, which LRScheduler looks at. */
export const kScheduled = { optimizer: unchecked<ScheduledOptimizer>() };

/** What all schedulers can be told. */
export const kSchedulerOptions = {
  /** The epoch to go on after; default -1, the start. */
  lastEpoch: integer.or(-1),
};

/** Options of all schedulers. */
export type SchedulerOptions = Options<typeof kSchedulerOptions>;

const kStepArguments = { epoch: integer.optional() };

/** Changes the learning rates of an optimizer as training goes on: every epoch, by a formula. */
export abstract class LRScheduler extends BaseScheduler {
  /** The initial learning rates of the groups. */
  baseLrs: number[] = [];

  protected stepCount = 0;

  /** Goes to the next epoch, or to the given one, and sets the learning rates. */
  override step(...given: [epoch?: number]): void {
    const { epoch } = readArguments(`${this.constructor.name}.step`, kStepArguments, given);
    runLive(() => {
      const next = epoch ?? this.lastEpoch + 1;
      this.checkEpoch(next);
      this.stepCount++;
      this.lastEpoch = next;
      const rates =
        epoch === undefined ? this.nextLrs() : (this.closedFormLrs?.() ?? this.nextLrs());
      this.setLrs(rates);
    });
  }

  /** Takes the first step back, for a scheduler that decides when this one begins. */
  unstart(): void {
    this.lastEpoch--;
  }

  /** Makes the first step again. */
  restart(): void {
    this.stepCount = 0;
    this.step();
  }

  /** Makes the first step; constructors call it when their settings are there. */
  protected start(lastEpoch = -1): void {
    this.groups.forEach((group, i) => {
      if (lastEpoch === -1) group.initialLr ??= group.lr;
      else if (group.initialLr === undefined) {
        fail(
          "InvalidArgument",
          this.constructor.name,
          `param 'initialLr' is not specified in paramGroups[${i}] when resuming an optimizer.`,
        );
      }
    });
    this.baseLrs = this.groups.map(({ lr, initialLr }) => initialLr ?? lr);
    this.lastEpoch = lastEpoch;
    this.step();
  }

  /** Throws for an epoch that the scheduler does not reach. */
  protected checkEpoch(_epoch: number): void {}

  /** Returns the rates of this epoch, worked out from those of the epoch before. */
  protected abstract nextLrs(): number[];

  /** Returns the rates of this epoch, worked out from the initial ones. */
  protected closedFormLrs?(): number[];
}
