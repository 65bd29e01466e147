// Files that are damaged at random, from a seed.

/** Returns a generator of whole numbers below a limit: the same numbers for the same seed. */
export function randomFrom(seed) {
  let state = seed >>> 0;
  return (limit) => {
    state = (state + 0x9e3779b9) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) % limit;
  };
}

/** Numbers that readers of sizes and positions get wrong. */
const kExtremes = [0, 1, 0x7f, 0x80, 0xff];

/** Returns a copy of a file with one to four changes: bytes replaced, removed, repeated, moved or taken from another file. */
export function mutated(random, file, others) {
  let bytes = Buffer.from(file);
  for (let changes = 1 + random(4); changes > 0; changes--) bytes = changed(random, bytes, others);
  return new Uint8Array(bytes);
}

function changed(random, bytes, others) {
  const at = random(bytes.length + 1);
  const length = random(random(2) === 0 ? 9 : 200);
  const [before, after] = [bytes.subarray(0, at), bytes.subarray(at)];
  switch (random(8)) {
    case 0:
      return Buffer.concat([before, after.subarray(length)]);
    case 1:
      return Buffer.concat([before, after.subarray(0, length), after]);
    case 2:
      return random(8) === 0 ? Buffer.from(before) : flipped(random, bytes, at);
    case 3: {
      const other = others[random(others.length)];
      const from = random(other.length);
      return Buffer.concat([before, other.subarray(from, from + length), after.subarray(length)]);
    }
    case 4:
      return Buffer.from(bytes).fill(
        kExtremes[random(kExtremes.length)],
        at,
        Math.min(at + 1 + random(8), bytes.length),
      );
    case 5: {
      const noise = Uint8Array.from({ length }, () => random(256));
      return Buffer.concat([before, noise, after.subarray(random(2) * length)]);
    }
    default:
      return flipped(random, bytes, at);
  }
}

function flipped(random, bytes, at) {
  const copy = Buffer.from(bytes);
  if (at < copy.length) copy[at] = random(2) === 0 ? random(256) : copy[at] ^ (1 << random(8));
  return copy;
}
