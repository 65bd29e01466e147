// Random ops: what they draw inside of vmap() is for its option `randomness` to say.

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
import { fail } from "../../runtime/errors.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Call, Rule } from "./call.js";

/** What a random op does, by the randomness of a level. */
export interface RandomRule {
  /** Draws for every sample. */
  readonly different: Rule;
  /** Draws once; what is left out runs without a batch. */
  readonly same?: Rule;
  /** False for a call that draws nothing. */
  readonly draws?: (call: Call) => boolean;
}

const sizesOf = (value: unknown): number[] => (Array.isArray(value) ? value : [value as number]);

const sized: Rule = (call) => call.run({ size: [call.size, ...sizesOf(call.value("size"))] });

// randint(high, size) has its sizes where randint(low, high, size) has the upper bound.
const integers: Rule = (call) => {
  const name = call.value("size") === null ? "high" : "size";
  return call.run({ [name]: [call.size, ...sizesOf(call.value(name))] });
};

const permutations: Rule = (call) => stack(Array.from({ length: call.size }, () => call.runOne()));

// Of what the first argument is like, whatever its name.
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

// The engine's draws from the rows of a matrix, not from more.
const rowsOfWeights: Rule = (call) =>
  call.isBatched("input") && call.rank("input") === 1 ? like(call) : null;

const noSame: Rule = () =>
  fail(
    "InvalidArgument",
    "vmap",
    "Vmap does not currently support same randomness with a batched tensor input: use randomness: 'different'.",
  );

const isDropping = (call: Call): boolean =>
  call.value("training") === true && call.value("p") !== 0;

const kRandomRules: Readonly<Record<string, RandomRule>> = {
  rand: { different: sized },
  randn: { different: sized },
  randint: { different: integers },
  randperm: { different: permutations },
  rand_like: { different: like, same: likeOne },
  randn_like: { different: like, same: likeOne },
  bernoulli: { different: like, same: noSame },
  poisson: { different: like, same: noSame },
  binomial: { different: () => null, same: noSame },
  multinomial: { different: rowsOfWeights, same: noSame },
  normal: { different: () => null, same: noSame },
  standard_gamma: { different: like, same: noSame },
  sample_dirichlet: { different: like, same: noSame },
  rrelu: { different: like, same: noSame, draws: (call) => call.value("training") === true },
  dropout: { different: like, same: sameMask, draws: isDropping },
  scaled_dot_product_attention: {
    different: () => null,
    same: noSame,
    draws: (call) => (call.value<number>("dropoutP") ?? 0) > 0,
  },
};

/** Ops that fill their first tensor with random numbers. */
const kRandomFills: ReadonlySet<string> = /* @__PURE__ */ new Set([
  "uniform_",
  "normal_",
  "random_",
  "exponential_",
  "bernoulli_",
  "geometric_",
  "cauchy_",
  "log_normal_",
]);

/** True for an op that draws in place. */
export function isRandomFill(name: string): boolean {
  return kRandomFills.has(name);
}

/** Returns the rule of a call that draws random numbers; null for other calls. Fails where nothing may be drawn. */
export function randomRule(call: Call): RandomRule | null {
  const { name } = call.op;
  const rule = Object.hasOwn(kRandomRules, name) ? (kRandomRules[name] as RandomRule) : null;
  if (rule === null || rule.draws?.(call) === false) return null;
  checkRandomness(call);
  return rule;
}

/** Fails where nothing may be drawn. */
export function checkRandomness(call: Call): void {
  if (call.level.randomness !== "error") return;
  fail(
    "InvalidArgument",
    "vmap",
    "called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness " +
      `flags on vmap or perform the randomness operation out of vmap (${call.op.name}).`,
  );
}

/** Draws into a tensor of a call. */
export function drawInto(call: Call, flags: number): void {
  checkRandomness(call);
  const isBatched = call.isBatched("input");
  const isSame = call.level.randomness === "same";
  if (!isBatched && !isSame) {
    fail(
      "InvalidArgument",
      "vmap",
      "Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. " +
        "Make it from a batched one (zerosLike) or draw out of vmap.",
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
