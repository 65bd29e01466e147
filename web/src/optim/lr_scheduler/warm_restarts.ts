import { readArguments } from "../../arguments/read.js";
import { count, number } from "../../arguments/rule.js";
import { runLive } from "../../runtime/bridge/live.js";
import { fail } from "../../runtime/errors/errors.js";
import { type Arguments, type OptionsOf, type Order, ownScheduler } from "./declared.js";

const kWarmRestarts = {
  /** The number of epochs of the first wave. */
  t0: count,
  /** The ratio of the length of each wave to that of the previous one; default 1. */
  tMult: count.or(1),
  /** The smallest rate; default 0. */
  etaMin: number.or(0),
};

const kStepArguments = {
  epoch: number.optional(),
};

/** Options of `CosineAnnealingWarmRestarts`. */
export type CosineAnnealingWarmRestartsOptions = OptionsOf<typeof kWarmRestarts, "t0">;

/** Lowers the rate along half a cosine wave and restarts at the top, the first time after `t0` epochs. */
export class CosineAnnealingWarmRestarts extends ownScheduler(
  kWarmRestarts,
  {} as Order<[t0: "t0"], [tMult: "tMult", etaMin: "etaMin"]>,
) {
  declare t0: number;
  /** The length of the current wave. */
  declare ti: number;
  declare tMult: number;
  declare etaMin: number;
  /** The number of epochs since the current wave began. */
  declare tCur: number;

  /** @internal */
  protected override setUp(named: Arguments<typeof kWarmRestarts>): void {
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
      if (epoch === undefined && this.lastEpoch >= 0) this.goOn();
      else this.goTo(epoch ?? 0);
      this.stepCount++;
      this.setLrs(this.nextLrs());
    });
  }

  protected override nextLrs(): number[] {
    const wave = (1 + Math.cos((Math.PI * this.tCur) / this.ti)) / 2;
    return this.baseLrs.map((lr) => this.etaMin + (lr - this.etaMin) * wave);
  }

  private goOn(): void {
    this.lastEpoch++;
    this.tCur++;
    if (this.tCur < this.ti) return;
    this.tCur -= this.ti;
    this.ti *= this.tMult;
  }

  private goTo(epoch: number): void {
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
