// Sample calls of every composite, written as those of the op table are (op_samples.mjs), by the composite's name.

import { readdirSync, readFileSync } from "node:fs";
import { eg } from "./engine.mjs";
import { kRoot } from "./files.mjs";
import { kFourierSamples } from "./fourier_samples.mjs";
import { kImageSamples } from "./image_samples.mjs";
import { kMatrixSamples } from "./matrix_samples.mjs";
import { opTable } from "./op_samples.mjs";

const kFolder = "web/src/composites";
const kSources = readdirSync(`${kRoot}${kFolder}`, { recursive: true })
  .filter((file) => file.endsWith(".ts"))
  .map((file) => readFileSync(`${kRoot}${kFolder}/${file}`, "utf8"))
  .join("\n");

/** By the name of the function. */
const kSamples = {
  argwhere: ["B([2, 3])", "T([])"],
  asStridedScatter: ["T([3, 4]), T([2, 2]), [2, 2], [4, 2], 1"],
  atleast1d: ["T([])", "T([2, 3])", "[T([]), T([2])]"],
  atleast2d: ["T([])", "T([3])", "T([2, 3, 2])", "[T([]), T([2])]"],
  atleast3d: ["T([])", "T([3])", "T([2, 3])", "T([2, 1, 2, 1])", "[T([]), T([2])]"],
  bincount: ["I([6], 4)", "I([6], 4), null, 7", "I([6], 4), T([6])"],
  blockDiag: ["[T([2, 2]), T([3]), T([]), T([1, 2])]"],
  broadcastTensors: ["[T([3, 1]), T([2])]"],
  cartesianProd: ["[T([3]), T([2])]", "[T([3])]"],
  columnStack: ["[T([3]), T([3, 2])]", "[T([]), T([])]"],
  combinations: ["T([4])", "T([4]), 3", "T([3]), 2, true", "T([2]), 3"],
  corrcoef: ["T([3, 5])", "T([4])", "C([2, 4])"],
  cov: [
    "T([3, 5])",
    "T([4])",
    "T([2, 4]), 0, I([4], 5).add(1), I([4], 3).add(1).div(4)",
    "C([2, 4])",
  ],
  cumulativeTrapezoid: ["T([3, 4])", "T([3, 4]), T([4]), {dim: 1}"],
  deg2rad: ["T([2, 3])"],
  diagEmbed: ["T([2, 3])", "T([2, 3]), 1, 0, 2", "T([2]), {offset: -1}"],
  diagflat: ["T([2, 2])", "T([3]), -1"],
  diagonalScatter: ["T([3, 3]), T([3])", "T([2, 3, 2]), T([2, 2]), 1, 0, 1"],
  dist: ["T([2, 3]), T([3])", "T([2, 3]), T([2, 3]), 1"],
  dsplit: ["T([2, 1, 4]), 2", "T([2, 1, 4]), [1, 3]"],
  dstack: ["[T([2, 2]), T([2, 2])]", "[T([2]), T([2])]"],
  fliplr: ["T([2, 3])"],
  flipud: ["T([2, 3])", "T([3])"],
  floatPower: ["T([2, 3], 0.5, 2), 2.5", "T([2, 3], 0.5, 2), T([3])", "2, T([3])"],
  frexp: ["T([2, 3], 0.55, 0.95)"],
  gradient: [
    "T([5])",
    "T([3, 4]), 0.5, 1",
    "T([3, 4]), {edgeOrder: 2}",
    "T([4]), [T([4], 0, 1).cumsum(0)]",
  ],
  histc: ["T([9]), 4", "T([9]), 3, -1, 1"],
  histogram: [
    "T([9]), 4",
    "T([9]), 3, {range: [-1, 1], density: true}",
    "T([9]), 3, {weight: T([9])}",
  ],
  hsplit: ["T([2, 4]), 2", "T([4]), [1, 3]"],
  inner: ["T([2, 3]), T([4, 3])", "T([3]), T([3])", "T([]), T([2])"],
  isin: ["I([3, 4], 9), I([3], 9)", "I([3, 4], 9), 2", "T([3]), T([2]), {invert: true}"],
  isneginf: ["T([3])"],
  isposinf: ["T([3])"],
  isreal: ["T([3])", "C([3])"],
  ldexp: ["T([2, 3]), I([3], 4)", "T([2, 3]), T([3])"],
  logspace: ["0, 2, 5", "-1, 1, 4, 2"],
  multigammaln: ["T([3], 2, 4), 3"],
  mvlgamma: ["T([3], 2, 4), 2"],
  nanquantile: ["T([5]), 0.3", "T([3, 4]), T([2], 0, 1), {dim: 0}"],
  narrowCopy: ["T([3, 4]), 1, 1, 2"],
  pdist: ["T([4, 3])", "T([3, 2]), 3", "T([3, 2]), 1"],
  quantile: [
    "T([5]), 0.3",
    "T([3, 4]), T([2], 0, 1), 1, true",
    "T([5]), 0.6, {interpolation: 'midpoint'}",
  ],
  rad2deg: ["T([2, 3])"],
  ravel: ["T([2, 3])", "T([])"],
  selectScatter: ["T([3, 4]), T([4]), 0, 1"],
  sliceScatter: ["T([5, 2]), T([2, 2]), 0, 1, 3", "T([2, 5]), T([2, 2]), 1, 0, null, 3"],
  sumToSize: ["T([2, 3, 4]), 3, 1", "T([2, 3]), [2, 3]"],
  tensorSplit: ["T([7, 2]), 3", "T([2, 5]), [1, 3], 1"],
  tensordot: [
    "T([2, 3, 4]), T([3, 4, 5])",
    "T([2, 3]), T([3, 2]), [[0, 1], [1, 0]]",
    "T([2]), T([2]), 0",
  ],
  trapezoid: ["T([3, 4])", "T([3, 4]), null, 0.5, 0", "T([3, 4]), T([3, 4])"],
  trilIndices: ["3, 4", "3, 3, -1"],
  triuIndices: ["3, 4", "4, 3, 1"],
  trueDivide: ["T([2, 3]), T([3], 0.5, 2)", "2, T([3], 0.5, 2)"],
  unique: [
    "I([9], 5)",
    "I([9], 5), true, true, true",
    "I([6, 2], 2), {dim: 0, returnCounts: true}",
    "T([4])",
  ],
  uniqueConsecutive: ["I([9], 2)", "I([3, 9], 2), true, true, 1"],
  unravelIndex: ["I([5], 24), [2, 3, 4]"],
  vander: ["T([3])", "T([3]), 2, true"],
  vdot: ["T([4]), T([4])", "C([4]), C([4])"],
  vsplit: ["T([4, 2]), 2"],
  ...kFourierSamples,
  ...kImageSamples,
  ...kMatrixSamples,
};

/** The composites, as the op table has its ops. */
export const compositeTable = Object.entries(kSamples).map(([js, samples]) => ({
  js,
  name: js,
  family: "Ops made of ops",
  doc: docOf(js),
  // What is given no tensor makes one.
  kind: /[TCIB]\(/.test(samples[0]) ? "composite" : "factory",
  args: [],
  samples,
}));

/** Other names of ops: { alias, js }. */
export const aliases = [...opTable, ...compositeTable].flatMap(({ js }) =>
  Object.keys(eg)
    .filter((name) => name !== js && eg[name] === eg[js] && eg[js] !== undefined)
    .map((alias) => ({ alias, js })),
);

// The comment that stands before a function, as one line.
function docOf(name) {
  const [, comment] = kSources.match(
    new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\s*export const ${name}\\b`),
  );
  return comment.replaceAll(/\n\s*\* ?/g, " ").trim();
}
