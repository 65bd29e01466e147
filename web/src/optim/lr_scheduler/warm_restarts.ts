import { readArguments } from "../../arguments/read.js";
import { count, number, type Options } from "../../arguments/rule.js";
import { fail } from "../../runtime/errors.js";
import { runLive } from "../../runtime/live.js";
import type { ScheduledOptimizer } from "./base.js";
import { kScheduled, kSchedulerOptions, LRScheduler } from "./scheduler.js";

const kOptions = {
  /** The ratio of the length of each wave to that of the previous one; default 1. */
  tMult: count.or(1),
  /** The smallest rate; default 0. */
  etaMin: number.or(0),
  ...kSchedulerOptions,
};

const kStepArguments = {
  epoch: number.optional(),
};

const kArguments = {
  ...kScheduled,
  t0: count,
  ...kOptions,
};

/** Options of `CosineAnnealingWarmRestarts`. */
export type CosineAnnealingWarmRestartsOptions = Options<
  typeof kOptions & typeof kSchedulerOptions
>;

/** Lowers the rate along half a cosine wave and restarts at the top, the first time after `t0` epochs. */
export class CosineAnnealingWarmRestarts extends LRScheduler {
  t0: number;
  /** The length of the current wave. */
  ti: number;
  tMult: number;
  etaMin: number;
  /** The number of epochs since the current wave began. */
  tCur: number;

  constructor(
    optimizer: ScheduledOptimizer,
    t0: number,
    tMult?: number,
    etaMin?: number,
    lastEpoch?: number,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    t0: number,
    tMult?: number,
    options?: CosineAnnealingWarmRestartsOptions,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    t0: number,
    options?: CosineAnnealingWarmRestartsOptions,
  );
  constructor(
    optimizer: ScheduledOptimizer,
    options: CosineAnnealingWarmRestartsOptions & { t0: number },
  );
  constructor(optimizer: ScheduledOptimizer, ...rest: unknown[]) {
    super(optimizer);
    const named = readArguments(new.target.name, kArguments, [optimizer, ...rest]);
    this.t0 = named.t0;
    this.ti = named.t0;
    this.tMult = named.tMult;
    this.etaMin = named.etaMin;
    this.tCur = named.lastEpoch;
    this.start(named.lastEpoch);
  }

  /** Advances to the next epoch, or to the given one, which may be fractional: `epoch + batch / batches`. */
  override step(...given: [epoch?: number]): void {
    const where = `${this.constructor.name}.step`;
    const { epoch } = readArguments(where, kStepArguments, given);
    if (epoch !== undefined && epoch < 0) {
      fail("InvalidArgument", where, `epoch: expected 0 or more, got ${epoch}.`);
    }
    runLive(() => {
      if (epoch === undefined && this.lastEpoch >= 0) this.#goOn();
      else this.#goTo(epoch ?? 0);
      this.stepCount++;
      this.setLrs(this.nextLrs());
    });
  }

  protected override nextLrs(): number[] {
    const wave = (1 + Math.cos((Math.PI * this.tCur) / this.ti)) / 2;
    return this.baseLrs.map((lr) => this.etaMin + (lr - this.etaMin) * wave);
  }

  #goOn(): void {
    this.lastEpoch++;
    this.tCur++;
    if (this.tCur < this.ti) return;
    this.tCur -= this.ti;
    this.ti *= this.tMult;
  }

  #goTo(epoch: number): void {
    const { t0, tMult } = this;
    this.lastEpoch = Math.floor(epoch);
    if (tMult === 1 || epoch < t0) {
      this.ti = t0;
      this.tCur = epoch % t0;
      return;
    }
    const waves = Math.trunc(Math.log((epoch / t0) * (tMult - 1) + 1) / Math.log(tMult));
    this.ti = t0 * tMult ** waves;
    this.tCur = epoch - (t0 * (tMult ** waves - 1)) / (tMult - 1);
  }
}
