// Schedulers with a formula given by the user.

import { either, functionOf, listOf } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors/errors.js";
import { type Arguments, type Order, ownScheduler } from "./declared.js";

/** Returns the factor for an epoch, by which the initial rate, or for MultiplicativeLR the previous rate, is multiplied. */
export type LrLambda = (epoch: number) => number;

const kLrLambda = functionOf<LrLambda>();

const kLambdas = {
  /** A function for all groups, or a list with one per group. */
  lrLambda: either(kLrLambda, listOf(kLrLambda)),
};

abstract class LambdaScheduler extends ownScheduler(
  kLambdas,
  {} as Order<[lrLambda: "lrLambda"], []>,
) {
  declare lrLambdas: LrLambda[];

  /** @internal */
  protected override setUp({ lrLambda, lastEpoch }: Arguments<typeof kLambdas>): void {
    const count = this.groups.length;
    this.lrLambdas = typeof lrLambda === "function" ? Array(count).fill(lrLambda) : [...lrLambda];
    if (this.lrLambdas.length !== count) {
      const reason = `lrLambda: expected ${count} functions, one per group, got ${this.lrLambdas.length}.`;
      fail("InvalidArgument", this.constructor.name, reason);
    }
    this.start(lastEpoch);
  }

  protected factorOf(group: number): number {
    return this.lrLambdas[group]?.(this.lastEpoch) ?? 1;
  }
}

/** Multiplies the initial rate by the result of a function of the epoch. */
export class LambdaLR extends LambdaScheduler {
  protected override nextLrs(): number[] {
    return this.baseLrs.map((lr, i) => lr * this.factorOf(i));
  }
}

/** Multiplies the rate of the previous epoch by the result of a function of the epoch. */
export class MultiplicativeLR extends LambdaScheduler {
  protected override nextLrs(): number[] {
    if (this.lastEpoch <= 0) return this.groups.map(({ lr }) => lr);
    return this.groups.map(({ lr }, i) => lr * this.factorOf(i));
  }
}
