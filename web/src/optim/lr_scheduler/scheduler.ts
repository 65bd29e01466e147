// Schedulers that follow a formula. They set the learning rate of every group of an optimizer, once per
// step(). Most compute the next rate from the current one, so that schedulers can be chained.

import { readArguments } from "../../arguments/read.js";
import { integer, type Options } from "../../arguments/rule.js";
import { runLive } from "../../runtime/bridge/live.js";
import { fail } from "../../runtime/errors/errors.js";
import { BaseScheduler, type ScheduledOptimizer } from "./base.js";
import { checkStepOrder, watchFirstStep } from "./step_order.js";

/** The options that all schedulers have. */
export const kSchedulerOptions = {
  /** The last epoch that has been run, when training is resumed; default -1, a new start. */
  lastEpoch: integer.or(-1),
};

/** Options of all schedulers. */
export type SchedulerOptions = Options<typeof kSchedulerOptions>;

const kStepArguments = { epoch: integer.optional() };

/**
 * Changes the learning rates of an optimizer every epoch, by a formula. A class that extends this one implements nextLrs(), and its
 * constructor calls start() at the end; or it implements step().
 */
export abstract class LRScheduler extends BaseScheduler {
  /** The initial learning rates of the groups. */
  baseLrs: number[];

  protected stepCount = 0;
  #isStarted = false;
  readonly #optimizer: ScheduledOptimizer;

  constructor(optimizer: ScheduledOptimizer) {
    super(optimizer);
    this.#optimizer = optimizer;
    this.baseLrs = this.initialLrs();
  }

  /** Advances to the next epoch, or to the given one, and sets the learning rates. */
  override step(...given: [epoch?: number]): void {
    const where = `${this.constructor.name}.step`;
    const { epoch } = readArguments(where, kStepArguments, given);
    if (!this.#isStarted) {
      const reason =
        "call this.start() at the end of the constructor: it sets the learning rates of the first epoch.";
      fail("InvalidArgument", where, reason);
    }
    if (this.stepCount === 1) checkStepOrder(where, this.#optimizer);
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

  /** Reverts the first step, for a scheduler that starts this one later. */
  unstart(): void {
    this.lastEpoch--;
  }

  /** Repeats the first step. */
  restart(): void {
    this.stepCount = 0;
    this.step();
  }

  /** Sets the fields, and makes the first step. @internal */
  protected override setUp({ lastEpoch, ...fields }: { lastEpoch: number }): void {
    super.setUp(fields);
    this.start(lastEpoch);
  }

  /** Makes the first step; constructors call it after setting their properties. */
  protected start(lastEpoch = -1): void {
    this.groups.forEach((group, i) => {
      if (lastEpoch === -1) group.initialLr ??= group.lr;
      else if (group.initialLr === undefined) {
        fail(
          "InvalidArgument",
          this.constructor.name,
          `lastEpoch: resuming needs an initialLr in every group, but paramGroups[${i}] has none.`,
        );
      }
    });
    this.#isStarted = true;
    watchFirstStep(this.#optimizer);
    this.baseLrs = this.initialLrs();
    this.lastEpoch = lastEpoch;
    this.step();
  }

  /** Throws for an epoch after the end of the schedule. */
  protected checkEpoch(_epoch: number): void {}

  /** Returns the rates of this epoch, one per group, from those of the previous epoch. */
  protected nextLrs(): number[] {
    const reason = "a class that extends LRScheduler must implement nextLrs() or step().";
    return fail("InvalidArgument", this.constructor.name, reason);
  }

  /** Returns the rates of this epoch, computed from the initial ones. */
  protected closedFormLrs?(): number[];

  protected initialLrs(): number[] {
    return this.groups.map(({ lr, initialLr }) => initialLr ?? lr);
  }
}
