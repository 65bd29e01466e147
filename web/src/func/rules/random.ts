// Rules for random ops inside vmap(), whose behavior depends on its option `randomness`.

import { callInPlace } from "../../dispatch/call.js";
import {
  copy_,
  dropout,
  emptyLike,
  mul,
  onesLike,
  select,
  stack,
  unsqueeze,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Call, Rule } from "./call.js";

/** The rules of a random op by the randomness of a level. */
export interface RandomRule {
  /** Draws different numbers for every sample. */
  readonly different: Rule;
  /** Draws once for all samples; if left out, the op has no tensors that could be batched. */
  readonly same?: Rule;
  /** Returns false for a call that draws no numbers. */
  readonly draws?: (call: Call) => boolean;
}

const sizesOf = (value: unknown): number[] => (Array.isArray(value) ? value : [value as number]);

const sized: Rule = (call) => call.run({ size: [call.size, ...sizesOf(call.value("size"))] });

// In randint(high, size) the sizes are in the position of the upper bound of randint(low, high, size).
const integers: Rule = (call) => {
  const name = call.value("size") === null ? "high" : "size";
  return call.run({ [name]: [call.size, ...sizesOf(call.value(name))] });
};

const permutations: Rule = (call) => stack(Array.from({ length: call.size }, () => call.runOne()));

// For ops whose result is like the first argument, whatever that parameter is called.
const like: Rule = (call) => {
  const [first] = call.op.parameters;
  return first === undefined ? null : call.run({ [first.name]: call.batch(first.name) });
};

const likeOne: Rule = (call) => call.run({ input: sampleOf(call) });

const sampleOf = (call: Call): Tensor => select(call.batch("input"), 0, 0).detach();

const sameMask: Rule = (call) => {
  const mask = dropout(onesLike(sampleOf(call)), call.value("p"), true);
  return mul(call.batch("input"), unsqueeze(mask, 0));
};

// The engine's op samples from the rows of a matrix, but not from tensors with more dimensions.
const rowsOfWeights: Rule = (call) =>
  call.isBatched("input") && call.rank("input") === 1 ? like(call) : null;

const noSame: Rule = () =>
  fail(
    "InvalidArgument",
    "vmap",
    'randomness: "same" does not support this op with a batched tensor: use "different".',
  );

const isDropping = (call: Call): boolean =>
  call.value("training") === true && call.value("p") !== 0;

const kRandomRules: Readonly<Record<string, RandomRule>> = {
  rand: { different: sized },
  randn: { different: sized },
  randint: { different: integers },
  randperm: { different: permutations },
  randLike: { different: like, same: likeOne },
  randnLike: { different: like, same: likeOne },
  bernoulli: { different: like, same: noSame },
  poisson: { different: like, same: noSame },
  binomial: { different: () => null, same: noSame },
  multinomial: { different: rowsOfWeights, same: noSame },
  normal: { different: () => null, same: noSame },
  standardGamma: { different: like, same: noSame },
  sampleDirichlet: { different: like, same: noSame },
  rrelu: { different: like, same: noSame, draws: (call) => call.value("training") === true },
  dropout: { different: like, same: sameMask, draws: isDropping },
  scaledDotProductAttention: {
    different: () => null,
    same: noSame,
    draws: (call) => (call.value<number>("dropoutP") ?? 0) > 0,
  },
};

/** Ops that fill their first argument with random numbers. */
const kRandomFills: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "uniform_",
  "normal_",
  "random_",
  "exponential_",
  "bernoulli_",
  "geometric_",
  "cauchy_",
  "logNormal_",
]);

/** True for an op that draws in place. */
export function isRandomFill(name: string): boolean {
  return kRandomFills.has(name);
}

/** Returns the rule of a call that draws random numbers; null for other calls. Throws if the level allows no random ops. */
export function randomRule(call: Call): RandomRule | null {
  const { name } = call.op;
  const rule = Object.hasOwn(kRandomRules, name) ? (kRandomRules[name] as RandomRule) : null;
  if (rule === null || rule.draws?.(call) === false) return null;
  checkRandomness(call);
  return rule;
}

/** Throws if the level allows no random ops. */
export function checkRandomness(call: Call): void {
  if (call.level.randomness !== "error") return;
  fail(
    "InvalidArgument",
    "vmap",
    `${call.op.name} draws random numbers, which randomness: "error" does not allow. Pass randomness: "same" or ` +
      '"different" to vmap(), or draw the numbers outside.',
  );
}

/** Fills the first argument of a call with random numbers. */
export function drawInto(call: Call, flags: number): void {
  checkRandomness(call);
  const isBatched = call.isBatched("input");
  const isSame = call.level.randomness === "same";
  if (!isBatched && !isSame) {
    fail(
      "InvalidArgument",
      "vmap",
      `${call.op.name} cannot draw different numbers into a tensor that is the same for all samples. Make the tensor ` +
        "from a batched one (zerosLike), or draw outside vmap().",
    );
  }
  const [target, ...rest] = call.values;
  if (!isBatched) callInPlace(call.op, [target, ...rest], flags);
  else if (!isSame) callInPlace(call.op, [call.batch("input"), ...rest], flags);
  else copy_(call.batch("input"), drawnOnce(call, rest, flags));
}

function drawnOnce(call: Call, rest: readonly unknown[], flags: number): Tensor {
  const drawn = emptyLike(sampleOf(call));
  callInPlace(call.op, [drawn, ...rest], flags);
  return drawn;
}
