// Schedulers whose formula is the user's.

import { readArguments } from "../../arguments/read.js";
import { either, functionOf, listOf } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import type { ScheduledOptimizer } from "./base.js";
import { kScheduled, kSchedulerOptions, LRScheduler, type SchedulerOptions } from "./scheduler.js";

/** Returns the factor of a rate in an epoch: of the initial one, or for MultiplicativeLR of the last. */
export type LrLambda = (epoch: number) => number;

const kLrLambda = functionOf<LrLambda>();

const kArguments = {
  ...kScheduled,
  lrLambda: either(kLrLambda, listOf(kLrLambda)),
  ...kSchedulerOptions,
};

// A function for all groups, or a list with one per group.
type LrLambdas = LrLambda | readonly LrLambda[];

type LambdaArguments =
  | [lrLambda: LrLambdas, lastEpoch?: number | SchedulerOptions]
  | [options: SchedulerOptions & { lrLambda: LrLambdas }];

abstract class LambdaScheduler extends LRScheduler {
  lrLambdas: LrLambda[];

  constructor(optimizer: ScheduledOptimizer, ...given: LambdaArguments) {
    super(optimizer);
    const name = new.target.name;
    const { lrLambda, lastEpoch } = readArguments(name, kArguments, [optimizer, ...given]);
    const count = this.groups.length;
    this.lrLambdas = typeof lrLambda === "function" ? Array(count).fill(lrLambda) : [...lrLambda];
    if (this.lrLambdas.length !== count) {
      const told = `Expected ${count} lr_lambdas, but got ${this.lrLambdas.length}.`;
      fail("InvalidArgument", name, told);
    }
    this.start(lastEpoch);
  }

  protected factorOf(group: number): number {
    return this.lrLambdas[group]?.(this.lastEpoch) ?? 1;
  }
}

/** Multiplies the initial rate by what a function returns for the epoch. */
export class LambdaLR extends LambdaScheduler {
  protected override nextLrs(): number[] {
    return this.baseLrs.map((lr, i) => lr * this.factorOf(i));
  }
}

/** Multiplies the rate of the epoch before by what a function returns for the epoch. */
export class MultiplicativeLR extends LambdaScheduler {
  protected override nextLrs(): number[] {
    if (this.lastEpoch <= 0) return this.groups.map(({ lr }) => lr);
    return this.groups.map(({ lr }, i) => lr * this.factorOf(i));
  }
}
