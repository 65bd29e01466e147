// All calls of the sweep, each at three sizes.

import { kBroadcast, kElementwise } from "./elementwise.mjs";
import { kImages, kLosses, kNormalization, kSoftmax } from "./layers.mjs";
import { kBessel, kMasked, kPolynomials, kWindows } from "./masked.mjs";
import { kAttention, kDecompositions, kDistances, kProducts, kTransforms } from "./matrices.mjs";
import { kSizes } from "./sizes.mjs";
import { kCopies, kFactories, kIndexing, kOrder, kRandom, kReductions } from "./tensors.mjs";

const kFamilies = {
  Elementwise: kElementwise,
  Broadcasting: kBroadcast,
  "Copies and views": kCopies,
  Indexing: kIndexing,
  "New tensors": kFactories,
  "Random numbers": kRandom,
  Reductions: kReductions,
  "Order and scans": kOrder,
  Softmax: kSoftmax,
  Losses: kLosses,
  Normalization: kNormalization,
  Products: kProducts,
  "Linear algebra": kDecompositions,
  Distances: kDistances,
  Images: kImages,
  Attention: kAttention,
  "Fourier transforms": kTransforms,
  Masked: kMasked,
  Polynomials: kPolynomials,
  "Functions of Bessel and Airy": kBessel,
  Windows: kWindows,
};

const snakeCase = (name) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/**
 * Returns { family, title, size, call, theirs, args, options, views, isForwardOnly } for each case: `call` is our function,
 * `theirs` the path of PyTorch's (null if it has none), and `views` the operands that are passed transposed.
 */
export function sweepCases() {
  return Object.entries(kFamilies).flatMap(([family, calls]) =>
    Object.entries(calls).flatMap(([title, call]) => casesOf(family, title, call)),
  );
}

function casesOf(family, title, given) {
  const entry = typeof given === "function" ? { args: given } : given;
  const call = entry.call ?? title;
  const theirs = entry.theirs === undefined ? snakeCase(call) : entry.theirs;
  return Object.entries(kSizes).map(([size, z]) => ({
    family,
    title,
    size,
    call,
    theirs,
    args: entry.args(z),
    options: entry.options ?? {},
    views: entry.views ?? [],
    isList: entry.isList ?? false,
    isForwardOnly: entry.isForwardOnly ?? false,
  }));
}
