// Selects the clients of a round.

/** Returns `count` of the names, selected by a seed, in order. */
export function choose(names: readonly string[], count: number, seed: string): string[] {
  const random = randomFrom(seed);
  const left = [...names];
  // The first elements of a shuffle.
  for (let i = 0; i < Math.min(count, left.length); i++) {
    const j = i + Math.floor(random() * (left.length - i));
    [left[i], left[j]] = [left[j] as string, left[i] as string];
  }
  return left.slice(0, count).sort();
}

/** Selects each name independently with a probability (Poisson sampling); returns them in order. */
export function sample(names: readonly string[], probability: number, seed: string): string[] {
  const random = randomFrom(seed);
  return names.filter(() => random() < probability);
}

/** Random numbers from 0 to 1: a small hash of the seed and a counter, which only has to be evenly distributed. */
function randomFrom(seed: string): () => number {
  let state = 0x811c9dc5;
  for (let i = 0; i < seed.length; i++) state = Math.imul(state ^ seed.charCodeAt(i), 0x01000193);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}
