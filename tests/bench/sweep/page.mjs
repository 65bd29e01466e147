// The page that compares the speed of every op with PyTorch, from the results of the last sweep (results.json).

import { kSizes } from "./sizes.mjs";

/** The file that keeps the results of the last sweep, in the checkout. */
export const kSweepResults = "tests/bench/sweep/results.json";

const kSizeNames = Object.keys(kSizes);

/** Ratios above this need an explanation. */
const kMost = 5;

/** Explanations of ratios above that, by the title of the op. */
const kReasons = {
  conj: "PyTorch only sets a flag on the tensor; here the numbers are written",
  ctcLoss: "a few ops for each time step; PyTorch has a single kernel",
  indexReduce: "elements are combined with their targets one by one",
  eig: "QR steps on single rows; LAPACK works on blocks",
  eigvals: "as eig",
  trilIndices: "a triangle is created and searched",
  triuIndices: "a triangle is created and searched",
  hannWindow: "computed in float64, in several passes, for full accuracy",
  hammingWindow: "as hannWindow",
  blackmanWindow: "as hannWindow",
  bartlettWindow: "as hannWindow",
  luSolve: "the pivots are applied one by one, with a few ops each",
  frexp: "composed of exact logarithms and powers of two, about twenty passes",
  combinations: "the combinations are enumerated in JavaScript",
  multilabelMarginLoss: "composed of ops that compare each class with each target",
  gelu: "limited by arithmetic: the error function takes 40 instructions per vector",
  col2im: "windows are summed along one axis and then along the other",
  topk: "call overhead: two kernels for a thousand numbers",
  kron: "call overhead: products and a copy for few numbers",
  lstsq: "all singular values are computed to determine the rank; LAPACK gets it from pivoted QR",
  pinv: "singular vectors by QR steps; LAPACK uses divide and conquer",
  matrixRank: "as pinv",
  gridSample: "four gathers and their weights, in separate passes",
  im2col: "its gradient is col2im's sum along two axes",
  nansum: "NaN is replaced first; PyTorch sums in the same pass",
  pdist: "all pairs of rows are gathered, for full accuracy and derivatives of any order",
};

/** Returns our time divided by PyTorch's, or null if one of them is missing or the comparison is unfair. */
export function ratioOf(row, part) {
  const times = row?.[part];
  return times?.theirs && !row.isUnfair ? times.ours / times.theirs : null;
}

/**
 * Returns what is kept of a sweep: { measured, families }, where families[family][op] is [forward, both, times]: the ratios at all sizes,
 * null where one is missing, and the milliseconds of the forward pass at the largest size, [ours, theirs]. `measured` is { date, cpu,
 * node, variant, torch, blas, warning }, of which old results lack the last two.
 */
export function keptSweep(rows, measured) {
  const families = {};
  for (const [family, list] of groups(rows, (row) => row.family)) {
    families[family] = {};
    for (const [title, ofTitle] of groups(list, (row) => row.title)) {
      const at = kSizeNames.map((size) => ofTitle.find((row) => row.size === size));
      const ratios = (part) => at.map((row) => rounded(ratioOf(row, part)));
      const last = at.at(-1)?.forward;
      const times = last ? [last.ours, last.theirs].map(rounded) : null;
      families[family][title] = [ratios("forward"), ratios("both"), times];
    }
  }
  return { measured, families };
}

/** Returns the text of the file that keeps a sweep, with a line for each op. */
export function sweepFile({ measured, families }) {
  const ops = (list) => Object.entries(list).map(([op, row]) => `"${op}": ${JSON.stringify(row)}`);
  const lines = Object.entries(families).map(
    ([family, list]) => `"${family}": {\n${ops(list).join(",\n")}\n}`,
  );
  return `{\n"measured": ${JSON.stringify(measured)},\n"families": {\n${lines.join(",\n")}\n}\n}\n`;
}

/** Returns the page about a kept sweep. */
export function speedPage({ measured, families }) {
  const { date, cpu, node, variant, torch, blas, warning } = measured;
  const library = blas ? `, its products on ${blas}` : "";
  const unfair = warning ? `${warning}.\n\n` : "";
  const sizes = kSizeNames.map((name) => `${name} ${describeSize(kSizes[name])}`).join(", ");
  const intro = `# Speed of every op

Measured by \`npm run bench -- sweep --write\`. Each op is run in this package and in PyTorch ${torch} in turn, on one thread each, in float32;
each figure is our time divided by PyTorch's, so 1 is as fast and 2 takes twice as long. PyTorch's kernels are native code with vectors of 32
bytes and fused multiply-add, ours WebAssembly with vectors of 16 bytes (variant \`${variant}\`, Node ${node}): on arithmetic alone that is a factor
of two to four. Measured ${date} on ${cpu}${library}.

${unfair}The sizes are ${sizes}. The columns are the forward pass at the three sizes, the same with the gradients of all
operands, and the time of the forward pass at the largest size in ms, ours / PyTorch's. – means that there is nothing to differentiate, or no such
function in PyTorch ${torch}.
`;
  const all = Object.entries(families);
  return [intro, summary(all), slowOnes(all), ...all.map(section)].join("\n");
}

function groups(items, keyOf) {
  const result = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!result.has(key)) result.set(key, []);
    result.get(key).push(item);
  }
  return result;
}

function describeSize({ rows, columns, count, side, batch }) {
  return `(${rows} x ${columns} or ${count.toLocaleString("en")} elements, matrices of ${side}, ${batch} image${batch === 1 ? "" : "s"} of 16 x 26 x 26)`;
}

const rounded = (value) =>
  value === null || value === undefined ? null : Number(value.toPrecision(3));
const short = (value) => (value >= 9.95 ? value.toFixed(0) : value.toFixed(1));
const time = (value) => (value >= 10 ? value.toFixed(0) : value.toPrecision(2));
const orDash = (value, format) => (value === null ? "–" : format(value));

/** Returns the ratios of an op that are there. */
const ratiosOf = ([forward, both]) => [...forward, ...both].filter((ratio) => ratio !== null);

function table(header, rows) {
  return `${[header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}

function summary(families) {
  const lines = families.flatMap(([family, ops]) => {
    const ratios = Object.values(ops)
      .flatMap(ratiosOf)
      .sort((a, b) => a - b);
    if (ratios.length === 0) return [];
    const part = (share) => short(ratios[Math.floor(share * (ratios.length - 1))]);
    const slow = ratios.filter((ratio) => ratio > kMost).length;
    return [[family, ratios.length, part(0.5), part(0.9), part(1), slow]];
  });
  return `## Summary\n\n${table(["family", "figures", "median", "90th percentile", "worst", `above ${kMost}`], lines)}`;
}

function slowOnes(families) {
  const lines = families
    .flatMap(([, ops]) => Object.entries(ops))
    .map(([title, row]) => [title, Math.max(0, ...ratiosOf(row))])
    .filter(([, worst]) => worst > kMost)
    .sort(([, a], [, b]) => b - a)
    .map(([title, worst]) => [`\`${title}\``, short(worst), kReasons[title] ?? ""]);
  if (lines.length === 0) return `No op takes more than ${kMost} times as long.\n`;
  return `## More than ${kMost} times as long\n\n${table(["op", "worst", "why"], lines)}`;
}

function section([family, ops]) {
  const joined = (ratios) => ratios.map((ratio) => orDash(ratio, short)).join(" ");
  const lines = Object.entries(ops).map(([title, [forward, both, times]]) => [
    `\`${title}\``,
    joined(forward),
    joined(both),
    orDash(times, (pair) => pair.map((one) => orDash(one, time)).join(" / ")),
  ]);
  return `## ${family}\n\n${table(["op", "forward", "with gradients", "ms"], lines)}`;
}
