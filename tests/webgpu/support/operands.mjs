// Operands for elementwise ops: inside the domain, around it, and at the limits of float32.

const { fround } = Math;

export const kLargest = fround(3.4028234663852886e38);

const kEdges = [
  0,
  0.25,
  0.5,
  1,
  1.5,
  2,
  3,
  5.5,
  6,
  20,
  41,
  88.5,
  89,
  104,
  1e-3,
  1e-8,
  1e-20,
  1e-38,
  1e-40,
  1e5,
  16777217,
  1e10,
  1e20,
  kLargest,
  Infinity,
  0.9999999,
  1.0000001,
].flatMap((x) => [fround(x), fround(-x)]);
const kSpecials = [0, -0, 1, -1, 0.5, -2.5, 3, 1e30, -1e-30, Infinity, -Infinity, NaN];

/** A generator of numbers in [0, 1), the same in every run. */
export function makeRandom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** Returns one Float32Array per domain: `count` points inside, as many around zero, as many of all magnitudes, and edge cases. */
export function operandsOf(domains, count = 300) {
  const random = makeRandom(7);
  const columns = domains.map(() => []);
  const add = (draw) => {
    domains.forEach((domain, i) => {
      columns[i].push(draw(domain));
    });
  };
  const isFixed = ([low, high]) => low === high;
  const orFixed = (draw) => (domain) => (isFixed(domain) ? Math.round(random()) : draw(domain));
  const within = ([low, high]) => low + (high - low) * random();
  const magnitude = () => (random() < 0.5 ? -1 : 1) * 10 ** (72 * random() - 36);
  for (let i = 0; i < count; i++) add(orFixed(within));
  for (let i = 0; i < count; i++) add(orFixed(() => 8 * random() - 4));
  for (let i = 0; i < count; i++) add(orFixed(magnitude));
  const edges = domains.length === 1 ? [...kEdges, NaN] : kSpecials;
  const several = domains.length === 2 ? [...kEdges, NaN] : edges;
  for (const tuple of product(domains.map((domain) => (isFixed(domain) ? [0, 1] : several)))) {
    tuple.forEach((x, i) => {
      columns[i].push(x);
    });
  }
  return columns.map((column) => Float32Array.from(column));
}

function product(lists) {
  return lists.reduce((tuples, list) => tuples.flatMap((t) => list.map((x) => [...t, x])), [[]]);
}

const kSmall = [0, 1, -1, 2, -2, 3, 5, -7, 10, 100, -100, 46341];
const kIntegers = {
  int32: { values: [...kSmall, 2147483647, -2147483648], Type: Int32Array },
  uint8: { values: [0, 1, 2, 3, 5, 7, 10, 100, 127, 128, 200, 254, 255], Type: Uint32Array },
  int64: {
    values: [
      ...[0n, 1n, -1n, 2n, -7n, 10n, 31n, 32n, 33n, 63n, 64n],
      ...[2n ** 31n, -(2n ** 31n) - 1n, 2n ** 32n - 1n, 2n ** 32n, 3000000000n, -5000000001n],
      ...[3037000500n, 2n ** 53n + 1n, -123456789012345678n, 2n ** 62n, 2n ** 63n - 1n],
      ...[-(2n ** 63n)],
    ],
    Type: BigInt64Array,
  },
};

/** Returns every tuple of small integers and limits of a dtype; with `isDivided`, the last element of a tuple is not zero. */
export function integersOf(arity, dtype, isDivided) {
  const { values, Type } = kIntegers[dtype];
  const lists = Array.from({ length: arity }, (_, i) =>
    isDivided && i === arity - 1 ? values.filter((x) => Number(x) !== 0) : values,
  );
  const tuples = product(lists);
  return lists.map((_, i) => Type.from(tuples, (tuple) => tuple[i]));
}

/** Replaces denormal numbers with zeros, as a GPU may do. */
export function flushed(array) {
  return array.map((x) => (Math.abs(x) < 1.1754943508222875e-38 ? Math.sign(1 / x) * 0 : x));
}
