// The privacy cost of rounds: Rényi differential privacy of the sampled Gaussian mechanism (Mironov, Talwar, Zhang 2019).

import { refuse } from "../../errors/errors.js";
import { integerFrom, numberFrom } from "../../nats/options.js";

// Orders between these would change epsilon only after its third digit.
const kOrders = [
  ...Array.from({ length: 99 }, (_, i) => 1 + (i + 1) / 10),
  ...Array.from({ length: 52 }, (_, i) => 12 + i),
  80,
  96,
  128,
  192,
  256,
  512,
  1024,
];
// The integrand is smooth on the scale of sigma, so the trapezoidal rule converges exponentially.
const kPointsPerSigma = 16;
const kTailSigmas = 12;

/** Accumulates the privacy cost of rounds with clipped updates and Gaussian noise. */
export class RdpAccountant {
  readonly #spent: number[] = kOrders.map(() => 0);
  #cached: { readonly key: string; readonly cost: readonly number[] } | null = null;

  /**
   * Adds rounds in which each client takes part independently with a probability, and noise of `noiseMultiplier` times the clip norm is
   * added to the sum.
   */
  step(options: {
    readonly noiseMultiplier: number;
    readonly probability?: number | undefined;
    readonly rounds?: number | undefined;
  }): void {
    const where = "RdpAccountant.step";
    const { noiseMultiplier, probability = 1, rounds = 1 } = options;
    const noise = numberFrom(where, "noiseMultiplier", noiseMultiplier, { above: 0 });
    const share = numberFrom(where, "probability", probability, { least: 0, most: 1 });
    const times = integerFrom(where, "rounds", rounds, { least: 0 });
    const key = `${noise} ${share}`;
    if (this.#cached?.key !== key) {
      this.#cached = { key, cost: kOrders.map((order) => renyi(order, share, noise)) };
    }
    for (const [i, cost] of this.#cached.cost.entries())
      this.#spent[i] = (this.#spent[i] ?? 0) + cost * times;
  }

  /** Returns the epsilon spent so far, for a delta (conversion of Canonne, Kamath, Steinke 2020). */
  epsilon(delta: number): number {
    numberFrom("RdpAccountant.epsilon", "delta", delta, { above: 0, below: 1 });
    const bounds = kOrders.map((order, i) => {
      const spent = this.#spent[i] ?? 0;
      return spent + Math.log1p(-1 / order) - Math.log(delta * order) / (order - 1);
    });
    return this.#spent.every((value) => value === 0) ? 0 : Math.max(0, Math.min(...bounds));
  }

  /** Returns the state: the privacy spent so far. */
  stateDict(): {
    /** The Rényi divergence at each order. */
    readonly spent: readonly number[];
  } {
    return { spent: [...this.#spent] };
  }

  /** Loads the state of another accountant. */
  loadStateDict({ spent }: { readonly spent: readonly number[] }): void {
    const fits =
      Array.isArray(spent) && spent.length === kOrders.length && spent.every((value) => value >= 0);
    if (!fits) refuse("RdpAccountant.loadStateDict", "spent", `${kOrders.length} numbers`, spent);
    for (const [i, value] of spent.entries()) this.#spent[i] = value;
  }

  /** Vue and Alpine do not wrap instances: their proxies would hide private members. @internal */
  get __v_skip(): boolean {
    return true;
  }
}

/**
 * The Rényi divergence of an order between the mechanism's outputs with and without one client: with z normal of standard deviation sigma,
 * log E[(1 - q + q exp((2 z - 1) / (2 sigma^2)))^order] / (order - 1).
 */
export function renyi(order: number, q: number, sigma: number): number {
  if (q === 0) return 0;
  if (q === 1) return order / (2 * sigma ** 2);
  const step = sigma / kPointsPerSigma;
  const first = -kTailSigmas * sigma;
  const last = order + kTailSigmas * sigma;
  const logs: number[] = [];
  for (let z = first; z <= last; z += step) {
    const ratio = logSum(Math.log1p(-q), Math.log(q) + (2 * z - 1) / (2 * sigma ** 2));
    logs.push(order * ratio - z ** 2 / (2 * sigma ** 2));
  }
  const most = logs.reduce((a, b) => Math.max(a, b), -Infinity);
  const sum = logs.reduce((total, log) => total + Math.exp(log - most), 0);
  const log = most + Math.log(sum) - Math.log(kPointsPerSigma * Math.sqrt(2 * Math.PI));
  return Math.max(0, log) / (order - 1);
}

function logSum(a: number, b: number): number {
  const most = Math.max(a, b);
  return most + Math.log1p(Math.exp(Math.min(a, b) - most));
}
