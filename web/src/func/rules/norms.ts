// Rules for normalization: first the statistics, then weights and biases, which may differ by sample.

import { add, batchNorm, flatten, movedim, mul, reshape, rsqrt, sub } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Call, type Operand, type Rule, withRank } from "./call.js";
import { runFolded } from "./folded.js";

const isAffineShared = (call: Call): boolean =>
  !call.isBatched("weight") && !call.isBatched("bias");

// Applies the weight and bias to a normalized tensor; `shaped` reshapes them so that they broadcast.
function affine(call: Call, normal: Tensor, shaped: (operand: Operand) => Tensor): Tensor {
  const [weight, bias] = [call.operand("weight"), call.operand("bias")];
  const scaled = weight === null ? normal : mul(normal, shaped(weight));
  return bias === null ? scaled : add(scaled, shaped(bias));
}

/** Returns the rule of norms over the last dimensions; `without` are the values that disable the weights. */
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

// Reshapes weights per channel, which is the second dimension of a sample.
const perChannel = (rank: number) => {
  return ({ tensor, isBatched }: Operand): Tensor => {
    const own = isBatched ? tensor.shape : [1, ...tensor.shape];
    return reshape(tensor, [own[0] ?? 0, 1, own[1] ?? 0, ...new Array(rank - 2).fill(1)]);
  };
};

const kNoAffine = { weight: null, bias: null };

/** The rule of groupNorm(). */
export const groupNorm: Rule = (call) => {
  if (isAffineShared(call)) return runFolded(call, ["input"], 0);
  const normal = runFolded(call, ["input"], 0, kNoAffine) as Tensor;
  return affine(call, normal, perChannel(call.rank("input")));
};

/** The rule of instanceNorm(). */
export const instanceNorm: Rule = (call) => {
  const isTracked = call.operand("runningMean") !== null || call.operand("runningVar") !== null;
  if (!isTracked) return groupNorm(call);
  if (call.value("useInputStats") === true) return withRunning(call, true);
  const rank = call.rank("input");
  return affine(call, standardized(call, rank), perChannel(rank));
};

/** The rule of batchNorm(). */
export const batchNormOf: Rule = (call) => {
  const isTraining = call.value("training") === true;
  const isTracked = call.operand("runningMean") !== null;
  if (isTraining && isTracked) return withRunning(call, true);
  const rank = call.rank("input");
  if (rank < 2) return null;
  const normal = isTraining ? normalized(call) : standardized(call, rank);
  return affine(call, normal, perChannel(rank));
};

// Normalizes with the channels of all samples side by side, so that each has separate statistics.
function normalized(call: Call): Tensor {
  const channels = flatten(movedim(call.batch("input"), 0, 1), 1, 2);
  const eps = call.value<number>("eps");
  const normal = batchNorm(channels, null, null, null, null, true, 0, eps);
  const { shape } = normal;
  const own = (shape[1] ?? 0) / Math.max(call.size, 1);
  return movedim(reshape(normal, [shape[0] ?? 0, call.size, own, ...shape.slice(2)]), 1, 0);
}

function standardized(call: Call, rank: number): Tensor {
  const shaped = perChannel(rank);
  const [mean, variance] = [call.operand("runningMean"), call.operand("runningVar")];
  if (mean === null || variance === null) {
    fail("InvalidArgument", "batchNorm", "training: false requires runningMean and runningVar.");
  }
  const eps = call.value<number>("eps");
  const scale = rsqrt(add(shaped(variance), eps));
  return mul(sub(call.batch("input"), shaped(mean)), scale);
}

// Running statistics that are updated in place must be batched; they are then updated sample by sample.
function withRunning(call: Call, isUpdated: boolean): null {
  if (isUpdated && !(call.isBatched("runningMean") && call.isBatched("runningVar"))) {
    fail(
      "InvalidArgument",
      "vmap",
      "batchNorm cannot update runningMean and runningVar, which are the same for all samples, from a batched input. " +
        "Use trackRunningStats: false, GroupNorm, or evaluation mode.",
    );
  }
  return null;
}
