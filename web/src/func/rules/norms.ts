// Normalisations: the statistics first, then weights and biases, which may differ from sample to sample.

import { add, batchNorm, flatten, movedim, mul, reshape, rsqrt, sub } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Call, type Operand, type Rule, withRank } from "./call.js";
import { runFolded } from "./folded.js";

const isAffineShared = (call: Call): boolean =>
  !call.isBatched("weight") && !call.isBatched("bias");

// The result of a normalisation, scaled and moved; `place` gives weights the shape to do it with.
function affine(call: Call, normal: Tensor, place: (operand: Operand) => Tensor): Tensor {
  const [weight, bias] = [call.operand("weight"), call.operand("bias")];
  const scaled = weight === null ? normal : mul(normal, place(weight));
  return bias === null ? scaled : add(scaled, place(bias));
}

/** Returns the rule of norms over the last dimensions; `without` leaves weights out. */
export function trailingNorm(without: Readonly<Record<string, null>>): Rule {
  return (call) => {
    const input = call.batch("input");
    if (isAffineShared(call)) return call.run({ input });
    const rank = call.rank("input");
    return affine(call, call.runOne({ input, ...without }), ({ tensor, isBatched }) =>
      isBatched ? withRank(tensor, rank) : tensor,
    );
  };
}

// Weights per channel, the second dimension of a sample.
const perChannel = (rank: number) => {
  return ({ tensor, isBatched }: Operand): Tensor => {
    const own = isBatched ? tensor.shape : [1, ...tensor.shape];
    return reshape(tensor, [own[0] ?? 0, 1, own[1] ?? 0, ...new Array(rank - 2).fill(1)]);
  };
};

const kNoAffine = { weight: null, bias: null };

/** group_norm(). */
export const groupNorm: Rule = (call) => {
  if (isAffineShared(call)) return runFolded(call, ["input"], 0);
  const normal = runFolded(call, ["input"], 0, kNoAffine) as Tensor;
  return affine(call, normal, perChannel(call.rank("input")));
};

/** instance_norm(). */
export const instanceNorm: Rule = (call) => {
  const isTracked = call.operand("runningMean") !== null || call.operand("runningVar") !== null;
  if (!isTracked) return groupNorm(call);
  if (call.value("useInputStats") === true) return withRunning(call, true);
  const rank = call.rank("input");
  return affine(call, standardized(call, rank), perChannel(rank));
};

/** batch_norm(). */
export const batchNormOf: Rule = (call) => {
  const isTraining = call.value("training") === true;
  const isTracked = call.operand("runningMean") !== null;
  if (isTraining && isTracked) return withRunning(call, true);
  const rank = call.rank("input");
  if (rank < 2) return null;
  const normal = isTraining ? normalized(call) : standardized(call, rank);
  return affine(call, normal, perChannel(rank));
};

// The samples' channels side by side, each of which has statistics of its own.
function normalized(call: Call): Tensor {
  const channels = flatten(movedim(call.batch("input"), 0, 1), 1, 2);
  const eps = call.value<number>("eps");
  const normal = batchNorm(channels, null, null, null, null, true, 0, eps);
  const { shape } = normal;
  const own = (shape[1] ?? 0) / Math.max(call.size, 1);
  return movedim(reshape(normal, [shape[0] ?? 0, call.size, own, ...shape.slice(2)]), 1, 0);
}

function standardized(call: Call, rank: number): Tensor {
  const place = perChannel(rank);
  const [mean, variance] = [call.operand("runningMean"), call.operand("runningVar")];
  if (mean === null || variance === null) {
    fail("InvalidArgument", "batchNorm", "without training it needs runningMean and runningVar.");
  }
  const eps = call.value<number>("eps");
  const scale = rsqrt(add(place(variance), eps));
  return mul(sub(call.batch("input"), place(mean)), scale);
}

// Statistics that are updated in place have to be there for every sample; the loop updates each.
function withRunning(call: Call, isUpdated: boolean): null {
  if (isUpdated && !(call.isBatched("runningMean") && call.isBatched("runningVar"))) {
    fail(
      "InvalidArgument",
      "vmap",
      "Batch norm got a batched tensor as input while the running_mean or running_var, which will be updated in place, " +
        "were not batched. Use a norm without running statistics (trackRunningStats: false, GroupNorm), or the mode for evaluation.",
    );
  }
  return null;
}
