// Hostile values, as JavaScript text. Sizes are either small or larger than any memory, so that no call is merely slow:
// nothing is between a few hundred and 2^31.

const kSmall = ["0", "1", "2", "3", "4", "5", "-1", "-2", "-3"];

// Sizes that exceed memory for any element size.
const kHuge = [
  "2 ** 32",
  "2 ** 32 + 1",
  "2 ** 32 + 5",
  "2 ** 33",
  "2 ** 40",
  "2 ** 44 + 1",
  "2 ** 48",
  "2 ** 52",
  "2 ** 53 - 1",
];

const kEdges = ["7", "63", "64", "65", "127", "128", "255", "256", "257"];

const kNegative = ["-7", "-64", "-(2 ** 31)", "-(2 ** 31) - 1", "-(2 ** 32)", "-(2 ** 53) + 1"];

const kInexact = [
  "0.5",
  "1.5",
  "-0.5",
  "1e-300",
  "5e-324",
  "1e308",
  "-1e308",
  "NaN",
  "Infinity",
  "-Infinity",
  "-0",
  "2 ** 53",
  "2 ** 63",
  "2 ** 64",
  "1e20",
];

const kBigInts = ["0n", "1n", "-1n", "2n ** 31n", "2n ** 53n", "2n ** 63n", "2n ** 64n + 1n"];

const kWrongTypes = [
  "undefined",
  "null",
  "true",
  "false",
  '""',
  '"1"',
  '"mean"',
  '"nonsense"',
  "{}",
  "[]",
  "[[]]",
  "[null]",
  "[undefined]",
  "[NaN]",
  '["1"]',
  "[, 1]",
  "() => 1",
  "(x) => x",
  "Symbol()",
  'Symbol("s")',
  "Object.create(null)",
  "{ a: 1 }",
  "{ dim: 0 }",
  "{ dtype: null }",
  '{ dtype: "float16" }',
  '{ dtype: "int8" }',
  '{ device: "webgpu" }',
  "{ length: 2 ** 32 }",
  "{ re: 1, im: NaN }",
  "{ re: 1 }",
  "{ handle: 1 }",
  "{ handle: 0, shape: [1] }",
  "{ then: 1 }",
  "new Date(NaN)",
  "/x/",
  "new Map([[1, 2]])",
  "new Set([1])",
  "new Float32Array(3)",
  "new Uint8Array(0)",
  "new BigInt64Array(2)",
  "new ArrayBuffer(8)",
  "new DataView(new ArrayBuffer(3))",
  "class {}",
  "eg.Tensor",
  "eg.nn.Module",
  "Object.create(eg.Tensor.prototype)",
  "new Proxy([], {})",
  "eg.slice(0, 1)",
  "new eg.nn.ReLU()",
];

// Lists whose product overflows to a small number or zero in 32 or 64 bits.
const kWrappingLists = [
  "[65536, 65536]",
  "[65537, 65536]",
  "[641, 6700417]",
  "[2 ** 16, 2 ** 16, 2 ** 16, 2 ** 16]",
  "[2 ** 32, 2 ** 32]",
  "[2 ** 31, 2 ** 33]",
  "[274177, 67280421310721]",
  "[2 ** 40, 2 ** 24]",
  "[2 ** 53 - 1, 2 ** 53 - 1]",
  "[3, 2 ** 62 / 3]",
  "[0, 2 ** 53 - 1, 2 ** 53 - 1]",
  "[2 ** 32, 0]",
  "[2 ** 32, 2 ** 32, 0]",
  "[0, 2 ** 32]",
  "[2 ** 62, 2]",
  "[2 ** 44 + 1]",
  "[2 ** 33]",
  "[-1, 2 ** 32]",
  "[2 ** 32, -1]",
  "[-1, 0]",
];

const kLongLists = [
  "Array(63).fill(1)",
  "Array(64).fill(1)",
  "Array(65).fill(1)",
  "Array(65).fill(0)",
  "Array(255).fill(1)",
  "Array(256).fill(0)",
  "Array(257).fill(-1)",
  "Array(300).fill(1)",
  "Array(300).fill(2)",
  "Array(5000).fill(0)",
  "Array(100000).fill(1)",
  "Array(3)",
];

const kOddLists = ["[0.5]", "[NaN]", "[1, Infinity]", "[1n]", "[2n ** 64n]", "[-1, -1]", "[[1]]"];

/** Returns an integer as text, usually an ordinary one. */
export function wholeNumber(random, hostility = 0.3) {
  if (!random.chance(hostility)) return random.pick(kSmall);
  const lists = [
    [5, kHuge],
    [2, kEdges],
    [3, kNegative],
    [2, kInexact],
    [1, kBigInts],
  ];
  return random.pick(random.weighted(lists));
}

/** Returns a number as text. */
export function number(random) {
  if (random.chance(0.4)) return random.pick(["0", "1", "0.1", "0.5", "2", "-1", "1e-5"]);
  return random.pick(
    random.weighted([
      [3, kInexact],
      [1, kHuge],
      [1, kNegative],
      [1, kEdges],
    ]),
  );
}

/** Returns any kind of number that a scalar may be. */
export function scalar(random) {
  const kinds = [
    [6, () => number(random)],
    [2, () => random.pick(kBigInts)],
    [1, () => random.pick(["true", "false"])],
    [1, () => random.pick(["{ re: 1, im: -1 }", "{ re: NaN, im: Infinity }"])],
  ];
  return random.weighted(kinds)();
}

/** Returns a list of integers as text. */
export function list(random, hostility = 0.3) {
  if (random.chance(hostility)) {
    const lists = [
      [4, kWrappingLists],
      [2, kLongLists],
      [1, kOddLists],
    ];
    return random.pick(random.weighted(lists));
  }
  const numbers = Array.from({ length: random.int(5) }, () => random.pick(kSmall));
  if (random.chance(0.1)) numbers[random.int(numbers.length + 1)] = random.pick(kHuge);
  return `[${numbers.map((one) => one ?? "1").join(", ")}]`;
}

/** Returns a value of a type that hardly any parameter accepts. */
export function wrongType(random) {
  return random.pick(kWrongTypes);
}

/** Returns any value. */
export function anything(random) {
  const kinds = [
    [3, wholeNumber],
    [2, scalar],
    [2, list],
    [3, wrongType],
  ];
  return random.weighted(kinds)(random);
}
