// Functions of nn.functional that draw random numbers: dropouts of whole channels and of SELU
// networks, and the Gumbel softmax. Draws are PyTorch's, in number and order.

import { type Arguments, readArguments } from "../../arguments/read.js";
import { boolean, integer, number, type Options, positive, share } from "../../arguments/rule.js";
import {
  add,
  bernoulli_,
  div,
  dropout,
  empty,
  emptyLike,
  exponential_,
  log,
  max,
  mul,
  neg,
  ones,
  scatter,
  softmax,
  squeeze,
  sub,
  unsqueeze,
  zerosLike,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import { scope } from "../../tensor/scope.js";
import type { Tensor } from "../../tensor/tensor.js";

const kProbability = {
  /** The probability that an element or channel is set to zero; default 0.5. */
  p: share.or(0.5).saying("It is a probability."),
};

const kDropoutOptions = {
  ...kProbability,
  /** Whether to drop at all; default true. */
  training: boolean.or(true),
};

const kAlphaDropoutOptions = {
  ...kProbability,
  /** Whether to drop at all; default false, as in PyTorch. */
  training: boolean.or(false),
};

const kDropoutArguments = { input: tensorRule, ...kDropoutOptions };
const kAlphaDropoutArguments = { input: tensorRule, ...kAlphaDropoutOptions };

/** Options of `dropout1d`, `dropout2d` and `dropout3d`. */
export type ChannelDropoutOptions = Options<typeof kDropoutOptions>;

/** Options of `alphaDropout` and `featureAlphaDropout`. */
export type AlphaDropoutOptions = Options<typeof kAlphaDropoutOptions>;

type DropoutArguments<Named> = [
  input: Tensor,
  ...rest: Arguments<[p: number, training: boolean], Named>,
];

/** Zeroes whole channels of [N, C, L] or [C, L] with probability p, and scales the others by 1 / (1 - p). */
export function dropout1d(...given: DropoutArguments<ChannelDropoutOptions>): Tensor {
  const { input, p, training } = readArguments("dropout1d", kDropoutArguments, given);
  if (input.ndim !== 2 && input.ndim !== 3) {
    fail("ShapeMismatch", "dropout1d", `expected a 2D or 3D input, got ${shapeText(input)}.`);
  }
  return dropChannels("dropout1d", input, p, training, input.ndim === 3);
}

/**
 * Zeroes whole channels of [N, C, H, W] with probability p, and scales the others by 1 / (1 - p). As
 * in PyTorch, which warns of it, an input of another number of dimensions is [N, C, ...].
 */
export function dropout2d(...given: DropoutArguments<ChannelDropoutOptions>): Tensor {
  const { input, p, training } = readArguments("dropout2d", kDropoutArguments, given);
  if (input.ndim === 3) {
    warnOnce(
      "[dropout2d] a 3D input is read as [N, C, L], whose channels are dropped: use dropout1d() for that.",
    );
  } else if (input.ndim !== 4) {
    warnOfShape("dropout2d", "a 4D input", input, "[N, C, ...]");
  }
  return dropChannels("dropout2d", input, p, training, true);
}

/**
 * Zeroes whole channels of [N, C, D, H, W] or [C, D, H, W] with probability p, and scales the others by 1 / (1 - p). An input with another number of dimensions is read as [C, ...], with a warning as in PyTorch.
 */
export function dropout3d(...given: DropoutArguments<ChannelDropoutOptions>): Tensor {
  const { input, p, training } = readArguments("dropout3d", kDropoutArguments, given);
  if (input.ndim !== 4 && input.ndim !== 5) {
    warnOfShape("dropout3d", "a 4D or 5D input", input, "[C, ...]");
  }
  return dropChannels("dropout3d", input, p, training, input.ndim === 5);
}

/** Dropout for SELU networks: keeps mean and variance of the elements. */
export function alphaDropout(...given: DropoutArguments<AlphaDropoutOptions>): Tensor {
  const { input, p, training } = readArguments("alphaDropout", kAlphaDropoutArguments, given);
  return alphaDropped(input, p, training, emptyLike);
}

/** Alpha dropout of whole channels of [N, C, ...]. */
export function featureAlphaDropout(...given: DropoutArguments<AlphaDropoutOptions>): Tensor {
  const where = "featureAlphaDropout";
  const { input, p, training } = readArguments(where, kAlphaDropoutArguments, given);
  return alphaDropped(input, p, training, () => channelsOf(where, input));
}

const kGumbelSoftmaxOptions = {
  /** The temperature: the smaller, the nearer to one-hot; default 1. */
  tau: positive.or(1),
  /** Return one-hot rows, whose gradient is that of the soft ones; default false. */
  hard: boolean.or(false),
  /** Has no effect, as in PyTorch. */
  eps: number.or(1e-10),
  /** The dimension of the categories; default -1. */
  dim: integer.or(-1),
};

const kGumbelSoftmaxArguments = { logits: tensorRule, ...kGumbelSoftmaxOptions };

/** Options of `gumbelSoftmax`. */
export type GumbelSoftmaxOptions = Options<typeof kGumbelSoftmaxOptions>;

/** Draws from categories with these unnormalized log probabilities, in a way that lets gradients reach them. */
export function gumbelSoftmax(
  ...given: [
    logits: Tensor,
    ...rest: Arguments<
      [tau: number, hard: boolean, eps: number, dim: number],
      GumbelSoftmaxOptions
    >,
  ]
): Tensor {
  const { logits, tau, hard, eps, dim } = readArguments(
    "gumbelSoftmax",
    kGumbelSoftmaxArguments,
    given,
  );
  if (eps !== 1e-10) warnOnce("[gumbelSoftmax] eps has no effect: leave it out.");
  return scope(() => {
    const gumbels = neg(
      log(exponential_(empty(logits.shape, { dtype: logits.dtype, device: logits.device }))),
    );
    const soft = softmax(div(add(logits, gumbels), tau), dim);
    return hard ? straightThrough(soft, dim) : soft;
  });
}

// One-hot rows, with the gradient of the soft ones.
function straightThrough(soft: Tensor, dim: number): Tensor {
  const [, index] = max(soft, dim, true);
  const oneHot = scatter(zerosLike(soft), dim, index, 1);
  return add(sub(oneHot, soft.detach()), soft);
}

const warned = new Set<string>();

function warnOnce(message: string): void {
  if (warned.has(message)) return;
  warned.add(message);
  console.warn(`edgegrad: ${message}`);
}

function shapeText({ ndim, shape }: Tensor): string {
  return `${ndim}D with the shape [${shape}]`;
}

function warnOfShape(where: string, expected: string, input: Tensor, form: string): void {
  warnOnce(
    `[${where}] expected ${expected}, got ${shapeText(input)}. It is read as ${form}, whose channels are dropped: use dropout() ` +
      "to drop elements.",
  );
}

// Ones for each channel of [N, C, ...], which broadcast over the other dimensions.
function channelsOf(where: string, input: Tensor): Tensor {
  if (input.ndim < 2) {
    const problem = `expected an input of 2 dimensions or more, got the shape [${input.shape}].`;
    fail("ShapeMismatch", where, problem);
  }
  const shape = input.shape.map((size, dim) => (dim < 2 ? size : 1));
  const { dtype, device } = input;
  return ones(shape, { dtype, device });
}

function dropChannels(
  where: string,
  input: Tensor,
  p: number,
  training: boolean,
  isBatch: boolean,
): Tensor {
  if (!isDropping(input, p, training)) return input;
  return scope(() => {
    if (p === 1) return mul(input, 0);
    const batch = isBatch ? input : unsqueeze(input, 0);
    const dropped = mul(batch, dropout(channelsOf(where, batch), p, true));
    return isBatch ? dropped : squeeze(dropped, 0);
  });
}

// Minus the limit of SELU for very negative numbers, which dropped elements are set to.
const kSeluLimit = 1.7580993408473766;

function alphaDropped(
  input: Tensor,
  p: number,
  training: boolean,
  emptyNoise: (input: Tensor) => Tensor,
): Tensor {
  if (!isDropping(input, p, training)) return input;
  return scope(() => {
    if (p === 1) return mul(input, 0);
    const kept = bernoulli_(emptyNoise(input), 1 - p);
    const scale = 1 / Math.sqrt((kSeluLimit * kSeluLimit * p + 1) * (1 - p));
    const shift = add(mul(sub(kept, 1), kSeluLimit * scale), kSeluLimit * scale * p);
    return add(mul(input, mul(kept, scale)), shift);
  });
}

function isDropping(input: Tensor, p: number, training: boolean): boolean {
  return p !== 0 && training && input.numel > 0;
}
