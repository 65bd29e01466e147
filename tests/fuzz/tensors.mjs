// Expressions that create tensors: small ones of every dtype and layout, and unusual ones.

import { anything } from "./hostile.mjs";

const kDTypes = [
  "float32",
  "float64",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
  "complex128",
  "float16",
  "bfloat16",
  "int8",
  "int16",
  "complex32",
  "float8_e4m3fn",
  "float8_e5m2",
  "uint16",
  "uint32",
  "uint64",
];
const kShapes = [
  "[]",
  "[0]",
  "[1]",
  "[2]",
  "[3]",
  "[4]",
  "[2, 3]",
  "[3, 3]",
  "[1, 3]",
  "[0, 3]",
  "[2, 3, 4]",
  "[1, 2, 4, 4]",
  "[2, 2, 5]",
];

// Other layouts with the same number of elements or fewer; each needs a tensor with at least one dimension.
const kLayouts = [
  (x) => `${x}.expand([4, -1])`,
  (x) => `${x}.unsqueeze(0)`,
  (x) => `${x}.flip([0])`,
  (x) => `${x}.at(eg.slice(null, null, 2))`,
  (x) => `${x}.transpose(0, -1)`,
  (x) => `${x}.unsqueeze(-1).expand([...${x}.shape, 3])`,
  (x) => `${x}.asStrided([2, 2], [0, 0])`,
  (x) => `${x}.narrow(0, 0, 1)`,
  (x) => `${x}.detach()`,
  (x) => `${x}.clone()`,
];

const kOdd = [
  "eg.ones(Array(64).fill(1))",
  "eg.zeros([0, 2 ** 32])",
  "eg.zeros([2 ** 40, 0])",
  "eg.zeros([2 ** 31, 0, 2 ** 31])",
  "eg.zeros(Array(64).fill(0))",
  "eg.ones([3]).expand([0, 3])",
  "eg.tensor(NaN)",
  "eg.tensor([NaN, Infinity, -Infinity, -0])",
  "eg.tensor([2n ** 63n - 1n, -(2n ** 63n)])",
  "eg.tensor([0, 1, -1, 2 ** 31], { dtype: 'int64' })",
  "eg.tensor([-1, 2 ** 53 - 1, -(2 ** 53)], { dtype: 'int64' })",
  "eg.inferenceMode(() => eg.ones([2, 3]))",
  "new eg.nn.Parameter(eg.ones([2, 3]))",
  "eg.eye(3)",
  "eg.arange(24).reshape([2, 3, 4])",
  "eg.ones([2]).mul(1e308)",
  "eg.ones([200])",
  "eg.ones([33, 17])",
];

/** Returns an expression for a new tensor, usually an ordinary one. */
export function newTensor(random) {
  if (random.chance(0.12)) return random.pick(kOdd);
  if (random.chance(0.05)) return `eg.tensor(${anything(random)})`;
  const dtype = random.chance(0.55) ? "float32" : random.pick(kDTypes);
  const text = filled(random, random.pick(kShapes), dtype);
  return random.chance(0.25) ? random.pick(kLayouts)(text) : text;
}

function filled(random, shape, dtype) {
  if (dtype === "bool") return `eg.rand(${shape}).lt(0.5)`;
  if (dtype.startsWith("complex")) {
    const part = `eg.rand(${shape}, { dtype: "${dtype === "complex64" ? "float32" : "float64"}" })`;
    return `eg.complex(${part}, ${part})`;
  }
  if (!dtype.startsWith("float")) return `eg.randint(5, ${shape}, { dtype: "${dtype}" })`;
  const grad = random.chance(0.35) ? ", requiresGrad: true" : "";
  return `eg.randn(${shape}, { dtype: "${dtype}"${grad} })`;
}
