// Transformers, the text they are trained on, and their starting weights.

import { randomNumbers, startingLayer } from "./data.mjs";

/** A model that is small enough for a web page. */
export const kGpt = { vocabulary: 65, context: 64, width: 64, heads: 4, blocks: 2 };

/** A model with the dimensions of those trained on GPUs, except for its depth. */
export const kWideGpt = { vocabulary: 65, context: 256, width: 384, heads: 6, blocks: 2 };

/**
 * Returns batches of {x, labels, vocabulary, context}: tokens and their successors, which follow a simple rule four
 * times out of five.
 */
export function tokenBatches({ vocabulary, context }, count, size) {
  const random = randomNumbers(count * size * (context + 1) * 2, 5);
  let at = 0;
  const sentence = () => {
    let token = 0;
    return Array.from({ length: context + 1 }, () => {
      const isFree = random[at++] > 0.3;
      const drawn = Math.floor((random[at++] + 0.5) * vocabulary);
      token = isFree ? drawn : (token * 7 + 3) % vocabulary;
      return token;
    });
  };
  return Array.from({ length: count }, () => {
    const sentences = Array.from({ length: size }, sentence);
    return {
      x: Uint8Array.from(sentences.flatMap((tokens) => tokens.slice(0, -1))),
      labels: Uint8Array.from(sentences.flatMap((tokens) => tokens.slice(1))),
      vocabulary,
      context,
    };
  });
}

export function startingGpt({ vocabulary, context, width, heads, blocks }) {
  const small = (count, seed) => randomNumbers(count, seed).map((x) => 0.07 * x);
  return {
    heads,
    tokens: { shape: [vocabulary, width], weight: small(vocabulary * width, 11) },
    positions: { shape: [context, width], weight: small(context * width, 12) },
    blocks: Array.from({ length: blocks }, (_, i) => ({
      qkv: startingLayer(width, 3 * width, 20 + 4 * i),
      projection: startingLayer(width, width, 21 + 4 * i),
      up: startingLayer(width, 4 * width, 22 + 4 * i),
      down: startingLayer(4 * width, width, 23 + 4 * i),
    })),
    head: startingLayer(width, vocabulary, 13),
  };
}
