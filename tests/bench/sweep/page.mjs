// Generates docs/speed.md, which compares every op with PyTorch.

import { kSizes } from "./sizes.mjs";

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

/** Returns our time divided by PyTorch's, or null if one of them is missing. */
export function ratioOf(row, part) {
  const times = row?.[part];
  return times?.theirs ? times.ours / times.theirs : null;
}

/** Returns the page. `measured` is { date, cpu, node, variant, torch }. */
export function speedPage(rows, { date, cpu, node, variant, torch }) {
  const families = groups(rows, ({ family }) => family);
  const sizes = kSizeNames.map((name) => `${name} ${describeSize(kSizes[name])}`).join(", ");
  const intro = `# Speed of every op

Written by \`npm run bench -- sweep --write\`. Each op is run in this package and in PyTorch ${torch} in turn, on one thread each, in float32;
each figure is our time divided by PyTorch's, so 1 is as fast and 2 takes twice as long. PyTorch's kernels are native code with vectors of 32
bytes and fused multiply-add, ours WebAssembly with vectors of 16 bytes (variant \`${variant}\`, Node ${node}): on arithmetic alone that is a factor
of two to four. Measured ${date} on ${cpu}.

The sizes are ${sizes}. The columns are the forward pass at the three sizes, the same with the gradients of all
operands, and the time of the forward pass at the largest size in ms, ours / PyTorch's. – means that there is nothing to differentiate, or no such
function in PyTorch ${torch}.
`;
  return [
    intro,
    summary(families),
    slowOnes(rows),
    ...[...families].map(([family, list]) => section(family, list)),
  ].join("\n");
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

const short = (value) => (value >= 9.95 ? value.toFixed(0) : value.toFixed(1));
const time = (value) => (value >= 10 ? value.toFixed(0) : value.toPrecision(2));
const cell = (row, part) => {
  const ratio = ratioOf(row, part);
  return ratio === null ? "–" : short(ratio);
};

function table(header, rows) {
  return `${[header, header.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n")}\n`;
}

function summary(families) {
  const lines = [...families].flatMap(([family, rows]) => {
    const ratios = rows
      .flatMap((row) => [ratioOf(row, "forward"), ratioOf(row, "both")])
      .filter((ratio) => ratio !== null)
      .sort((a, b) => a - b);
    if (ratios.length === 0) return [];
    const part = (share) => short(ratios[Math.floor(share * (ratios.length - 1))]);
    const slow = ratios.filter((ratio) => ratio > kMost).length;
    return [[family, ratios.length, part(0.5), part(0.9), part(1), slow]];
  });
  return `## Summary\n\n${table(["family", "figures", "median", "90th percentile", "worst", `above ${kMost}`], lines)}`;
}

function slowOnes(rows) {
  const slow = new Map();
  for (const row of rows) {
    const worst = Math.max(ratioOf(row, "forward") ?? 0, ratioOf(row, "both") ?? 0);
    if (worst > kMost) slow.set(row.title, Math.max(worst, slow.get(row.title) ?? 0));
  }
  if (slow.size === 0) return `No op takes more than ${kMost} times as long.\n`;
  const lines = [...slow]
    .sort(([, a], [, b]) => b - a)
    .map(([title, worst]) => [`\`${title}\``, short(worst), kReasons[title] ?? ""]);
  return `## More than ${kMost} times as long\n\n${table(["op", "worst", "why"], lines)}`;
}

function section(family, rows) {
  const lines = [...groups(rows, ({ title }) => title)].map(([title, ofTitle]) => {
    const at = kSizeNames.map((size) => ofTitle.find((row) => row.size === size));
    const last = at.at(-1)?.forward;
    const times = last ? `${time(last.ours)} / ${last.theirs ? time(last.theirs) : "–"}` : "–";
    const joined = (part) => at.map((row) => cell(row, part)).join(" ");
    return [`\`${title}\``, joined("forward"), joined("both"), times];
  });
  return `## ${family}\n\n${table(["op", "forward", "with gradients", "ms"], lines)}`;
}
