// Random choices that are determined by a seed.

/** A source of random choices. The same seed numbers yield the same choices. */
export class Random {
  #state;

  constructor(...numbers) {
    this.#state = numbers.reduce((hash, number) => mix(hash ^ number) + 0x9e3779b9, 0) | 0;
  }

  /** Returns a number in [0, 1). */
  next() {
    this.#state = (this.#state + 0x9e3779b9) | 0;
    return (mix(this.#state) >>> 0) / 2 ** 32;
  }

  /** Returns an integer in [0, count). */
  int(count) {
    return Math.floor(this.next() * count);
  }

  pick(list) {
    return list[this.int(list.length)];
  }

  chance(probability) {
    return this.next() < probability;
  }

  /** Returns the value of one of the [weight, value] pairs. */
  weighted(pairs) {
    const total = pairs.reduce((sum, [weight]) => sum + weight, 0);
    let rest = this.next() * total;
    for (const [weight, value] of pairs) {
      rest -= weight;
      if (rest < 0) return value;
    }
    return pairs[0][1];
  }
}

function mix(bits) {
  let hash = bits | 0;
  hash = Math.imul(hash ^ (hash >>> 16), 0x21f0aaad);
  hash = Math.imul(hash ^ (hash >>> 15), 0x735a2d97);
  return hash ^ (hash >>> 15);
}
