// Aggregates the updates of a round into the next weights.

import * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import { noisyMean, type Privacy } from "../privacy/noise.js";
import type { Strategy, Update } from "../strategies/strategy.js";
import { type Accepted, type Expected, weightsOf } from "../update/decode.js";
import { allFinite, at, type State } from "../update/state.js";

/** The parameters of the noise in a private round. */
export interface NoiseOfRound {
  readonly privacy: Privacy;
  /** The expected number of updates. */
  readonly expected: number;
}

/** Returns the updates for a strategy: those of the clients, or one noisy mean instead of them. */
export function updatesOf(
  accepted: readonly Accepted[],
  expected: Expected,
  noise: NoiseOfRound | undefined,
): () => Update[] {
  const updates = accepted.map(
    (update): Update => ({
      client: update.client,
      samples: update.samples,
      get weights() {
        return weightsOf(update, expected);
      },
    }),
  );
  if (noise === undefined) return () => updates;
  return () => [noisyMean(expected.global, updates, noise.privacy, noise.expected)];
}

/** Returns the next weights; throws InvalidArgument if the strategy does not return weights of this model. */
export function aggregate(
  strategy: Strategy,
  updates: () => readonly Update[],
  expected: Expected,
): State {
  return eg.noGrad(() =>
    eg.scope(() => {
      const result = strategy.aggregate(expected.global, updates(), expected.round);
      checkResult(strategy, result, expected);
      return Object.fromEntries(
        [...expected.spec.keys()].map((key) => [key, at(result, key).detach().clone()]),
      );
    }),
  );
}

/** Throws unless a strategy returned finite tensors with the model's names, dtypes and shapes. */
function checkResult(strategy: Strategy, result: unknown, { spec }: Expected): void {
  const name = `${strategy.constructor.name}.aggregate`;
  const refuse: (message: string) => never = (message) => fail("InvalidArgument", name, message);
  if (typeof result !== "object" || result === null) refuse("it must return tensors by name.");
  const state = result as Record<string, unknown>;
  if (Object.keys(state).length !== spec.size) refuse(`it must return ${spec.size} tensors.`);
  for (const [key, { dtype, shape }] of spec) {
    const tensor = Object.hasOwn(state, key) ? state[key] : undefined;
    if (!(tensor instanceof eg.Tensor)) refuse(`it returned no tensor "${key}".`);
    if (tensor.dtype !== dtype || tensor.shape.join() !== shape.join()) {
      const got = `${tensor.dtype} [${tensor.shape}]`;
      refuse(`"${key}" must be ${dtype} [${shape}], got ${got}.`);
    }
    if (!allFinite(tensor)) {
      refuse(`"${key}" is not finite.`);
    }
  }
}

/** The means of the clients' metrics, weighted by the samples of the clients that report them. */
export function meanMetrics(accepted: readonly Accepted[]): Record<string, number> {
  const sums = new Map<string, { total: number; samples: number }>();
  for (const { metrics, samples } of accepted) {
    for (const [name, value] of Object.entries(metrics)) {
      const sum = sums.get(name) ?? { total: 0, samples: 0 };
      sum.total += value * samples;
      sum.samples += samples;
      sums.set(name, sum);
    }
  }
  return Object.fromEntries([...sums].map(([name, { total, samples }]) => [name, total / samples]));
}
