// Strategies that bound the influence of a minority of hostile updates. All updates have the same weight, because a client could lie about
// its number of samples.

import * as eg from "edgegrad";
import { integerFrom, numberFrom, readOptions } from "../../nats/options.js";
import { at, isFloating, mapState, type State } from "../update/state.js";
import { meanOf, Strategy, type Update } from "./strategy.js";

/** Returns a state that is computed from the sorted values of all updates, [updates, ...shape]. */
function bySortedValues(
  global: State,
  updates: readonly Update[],
  make: (sorted: eg.Tensor) => eg.Tensor,
): State {
  // Decodes each update once, instead of once for each tensor of the model.
  const all = updates.map(({ weights }) => weights);
  return mapState(global, (tensor, key) => {
    const dtype = isFloating(tensor.dtype) ? tensor.dtype : "float64";
    const stacked = eg.stack(all.map((weights) => at(weights, key).to(dtype)));
    const made = make(eg.sort(stacked, 0)[0]);
    return (isFloating(tensor.dtype) ? made : made.round()).to(tensor.dtype);
  });
}

/** The elementwise median of the clients' weights; for an even number, the mean of the two in the middle (Yin et al. 2018). */
export class Median extends Strategy {
  override aggregate(global: State, updates: readonly Update[]): State {
    const count = updates.length;
    const first = Math.floor((count - 1) / 2);
    const middle = count % 2 === 0 ? 2 : 1;
    return bySortedValues(global, updates, (sorted) => sorted.narrow(0, first, middle).mean(0));
  }
}

/** The elementwise mean of the clients' weights without the lowest and the highest `share` of values (Yin et al. 2018). */
export class TrimmedMean extends Strategy {
  /** The fraction that is trimmed at each end, at least 0 and below 0.5. */
  readonly share: number;

  constructor(options: { readonly share: number }) {
    super();
    const { share } = readOptions("TrimmedMean", ["share"], options);
    this.share = numberFrom("TrimmedMean", "share", share, { least: 0, below: 0.5 });
  }

  override aggregate(global: State, updates: readonly Update[]): State {
    const left = Math.floor(this.share * updates.length);
    const kept = updates.length - 2 * left;
    return bySortedValues(global, updates, (sorted) => sorted.narrow(0, left, kept).mean(0));
  }
}

/**
 * The weights of the client that is closest to its neighbors (Blanchard et al. 2017): with n updates of which `byzantine` may be
 * hostile, its sum of squared distances to the n - byzantine - 2 nearest ones is the smallest. `keep` is the number of best ones to average.
 */
export class Krum extends Strategy {
  /** The number of updates that may be hostile. */
  readonly byzantine: number;
  /** The number of best updates that are averaged; 1 is Krum, more is Multi-Krum. */
  readonly keep: number;

  constructor(options: { readonly byzantine: number; readonly keep?: number | undefined }) {
    super();
    const given = readOptions("Krum", ["byzantine", "keep"], options);
    this.byzantine = integerFrom("Krum", "byzantine", given.byzantine, { least: 0 });
    this.keep = integerFrom("Krum", "keep", given.keep ?? 1, { least: 1 });
  }

  override get fewestUpdates(): number {
    return Math.max(2 * this.byzantine + 3, this.keep + this.byzantine);
  }

  override aggregate(global: State, updates: readonly Update[]): State {
    const distances = squaredDistances(updates);
    const nearest = updates.length - this.byzantine - 2;
    const scores = distances.map((row) => {
      const sorted = [...row].sort((a, b) => a - b);
      // The first distance is that of the update to itself.
      return sorted.slice(1, 1 + nearest).reduce((sum, distance) => sum + distance, 0);
    });
    const order = scores.map((_, i) => i).sort((a, b) => (scores[a] ?? 0) - (scores[b] ?? 0));
    const best = order.slice(0, this.keep).map((i) => {
      const { client, weights } = updates[i] as Update;
      return { client, weights, samples: 1 };
    });
    return meanOf(global, best);
  }
}

function squaredDistances(updates: readonly Update[]): number[][] {
  return eg.scope(() => {
    const rows = updates.map(({ weights }) => {
      const flat = Object.values(weights).filter(({ dtype }) => isFloating(dtype));
      return eg.cat(flat.map((tensor) => tensor.to("float32").reshape([-1])));
    });
    return rows.map((row) => rows.map((other) => row.sub(other).square().sum().item() as number));
  });
}
