// Clipped updates with Gaussian noise (McMahan et al. 2018): clipping bounds the influence of each client, and noise hides it.

import * as eg from "edgegrad";
import { numberFrom, readOptions } from "../../nats/options.js";
import type { Update } from "../strategies/strategy.js";
import { at, differenceOf, isFloating, mapState, normOf, type State } from "../update/state.js";

/** Privacy of a run's clients toward those who see its weights; the coordinator itself sees the updates. */
export interface Privacy {
  /** The maximum norm of a client's difference; longer ones are scaled down to it. */
  readonly clip: number;
  /** The standard deviation of the noise on the sum of the differences, divided by `clip`. */
  readonly noiseMultiplier: number;
  /** The delta for which epsilon is reported, which should be below 1 / the number of clients; default 1e-5. */
  readonly delta?: number | undefined;
}

/** The checked option `privacy`. */
export interface ReadPrivacy extends Privacy {
  readonly delta: number;
}

/** Checks the option `privacy`. */
export function readPrivacy(where: string, given: unknown): ReadPrivacy | undefined {
  if (given === undefined) return undefined;
  const {
    clip,
    noiseMultiplier,
    delta = 1e-5,
  } = readOptions(where, ["clip", "noiseMultiplier", "delta"], given);
  return {
    clip: numberFrom(where, "privacy.clip", clip, { above: 0 }),
    noiseMultiplier: numberFrom(where, "privacy.noiseMultiplier", noiseMultiplier, { above: 0 }),
    delta: numberFrom(where, "privacy.delta", delta, { above: 0, below: 1 }),
  };
}

/**
 * Returns one update instead of all: the round's weights plus the sum of the clipped differences, with noise, divided by the expected
 * number of updates. All clients have the same weight, and integer tensors keep the round's values.
 */
export function noisyMean(
  global: State,
  updates: readonly Update[],
  { clip, noiseMultiplier }: Privacy,
  expected: number,
): Update {
  const generator = new eg.Generator(unpredictable());
  const sums = mapState(global, ({ shape, dtype }) =>
    isFloating(dtype)
      ? eg.randn([...shape], { generator }).mul(noiseMultiplier * clip)
      : eg.zeros([]),
  );
  for (const update of updates) {
    eg.scope(() => {
      const difference = differenceOf(update.weights, global);
      const norm = normOf(difference);
      const scale = norm > clip ? clip / norm : 1;
      for (const [key, sum] of Object.entries(sums)) {
        const change = at(difference, key);
        if (isFloating(change.dtype)) sum.add_(change.to("float32").mul(scale));
      }
    });
  }
  const weights = mapState(global, (tensor, key) =>
    isFloating(tensor.dtype)
      ? tensor.add(at(sums, key).div(expected)).to(tensor.dtype)
      : tensor.clone(),
  );
  return { client: "", samples: 1, weights };
}

// Not derived from the seed of the run, because who knows this seed can subtract the noise.
function unpredictable(): number {
  const words = globalThis.crypto.getRandomValues(new Uint32Array(2));
  return (words[0] ?? 0) * 2 ** 21 + ((words[1] ?? 0) >>> 11);
}
