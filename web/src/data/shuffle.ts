// A random order that depends on a seed only.

/** Returns the numbers below `length` in an order that `seed` and `pass` decide. */
export function shuffled(length: number, seed: number, pass: number): number[] {
  const order = Array.from({ length }, (_, i) => i);
  const random = generator(seed, pass);
  for (let i = length - 1; i > 0; i--) {
    const k = Math.floor(random() * (i + 1));
    [order[i], order[k]] = [order[k] as number, order[i] as number];
  }
  return order;
}

// splitmix32: one multiplication chain per number, good enough to shuffle.
function generator(seed: number, pass: number): () => number {
  let state = (seed ^ Math.imul(pass + 1, 0x9e3779b9) ^ Math.floor(seed / 2 ** 32)) | 0;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let bits = state ^ (state >>> 16);
    bits = Math.imul(bits, 0x21f0aaad);
    bits ^= bits >>> 15;
    bits = Math.imul(bits, 0x735a2d97);
    bits ^= bits >>> 15;
    return (bits >>> 0) / 2 ** 32;
  };
}
