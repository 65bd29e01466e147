// Generates the tables of speed in README.md and the guide from results.json, which has for every workload { measured, ceilings, figures }:
// `measured` is { date, cpu, cores, node, packages }, and `figures` are numbers by row and contender.

import { formatNumber } from "./format.mjs";

const kJit = { jax: " (`jit`)", jaxGpu: " (`jit`)" };

const kSpeedLines = [
  {
    title: ({ gemm }) =>
      `matrix product 1024, A·B / A·Bᵀ / Aᵀ·B, GFLOPS (FMA ceiling ${short(gemm.ceilings[0])})`,
    workload: "gemm",
    rows: ["NN 1024", "NT 1024", "TN 1024"],
  },
  {
    title: ({ gemm }) => `the same on two threads (ceiling ${short(gemm.ceilings[1])})`,
    workload: "gemm",
    rows: ["NN 1024", "NT 1024", "TN 1024"],
    contenders: ["edgegrad2"],
  },
  {
    title: "recorded operation from JavaScript, µs",
    workload: "chain",
    rows: ["record 20000"],
    scale: 1e-3,
  },
  { title: "backward, per node, µs", workload: "chain", rows: ["backward 20000"], scale: 1e-3 },
  {
    title: "MLP 784-128-10, batch 64, SGD, ms per step",
    workload: "mlp-sgd",
    rows: ["step"],
    notes: kJit,
  },
  {
    title: "MLP 784-512-256-10, batch 64, Adam, steps/s",
    workload: "mlp-adam",
    rows: ["rate"],
    notes: kJit,
  },
  { title: "the same, batch 1", workload: "mlp-adam-1", rows: ["same"], notes: kJit },
  {
    title: ({ startup }) =>
      `process start to first training step, ms (bare Node: ${short(startup.figures.first.bare)})`,
    workload: "startup",
    rows: ["first"],
  },
  {
    title: "download before the first step of an MLP, gzipped kB",
    workload: "download",
    rows: ["total"],
  },
  { title: "and once it trains", workload: "download", rows: ["later"] },
  { title: "for WebGPU, when it is used", workload: "download", rows: ["player"] },
  {
    title: "first step of a page, ms after navigation, at 10 Mbit/s with 40 ms",
    workload: "door",
    rows: ["mobile"],
  },
  { title: "the same at 1.6 Mbit/s with 150 ms", workload: "door", rows: ["slow"] },
];

const kWebgpuSteps = [
  ["webgpu-mlp", "MLP 784-512-256-10, batch 64, Adam"],
  ["webgpu-wide-mlp", "MLP 784-4096-4096-10, batch 64, Adam"],
  ["webgpu-wide-cnn", "CNN of 32, 64 and 64 channels, batch 32, Adam"],
  ["webgpu-gpt", "small GPT, batch 8, AdamW"],
  ["webgpu-wide-gpt", "GPT of width 384, 256 tokens, batch 2, AdamW"],
];

const kWebgpuLines = [
  ...kWebgpuSteps.map(([workload, what]) => ({
    title: `${what}, ms per step`,
    workload,
    rows: ["step"],
    notes: kJit,
  })),
  ...["1024", "2048"].map((size) => ({
    title: `matrix product ${size}, ms`,
    workload: "webgpu-matmul",
    rows: [size],
    notes: kJit,
  })),
];

/** The marked parts of pages that are generated here, by name: the page, their lines, and the packages of the columns. */
export const kTables = {
  speed: {
    page: "README.md",
    lines: kSpeedLines,
    columns: { edgegrad: null, tfjs: "@tensorflow/tfjs-backend-wasm", jax: "@jax-js/jax" },
  },
  "speed on WebGPU": {
    page: "docs/guide/webgpu.md",
    lines: kWebgpuLines,
    columns: {
      edgegradGpu: null,
      tfjsGpu: "@tensorflow/tfjs-backend-webgpu",
      jaxGpu: "@jax-js/jax",
    },
  },
};

const kNames = {
  "@tensorflow/tfjs-backend-wasm": "tfjs-wasm",
  "@tensorflow/tfjs-backend-webgpu": "tfjs-webgpu",
  "@jax-js/jax": "jax-js",
};

/** Returns the rows of each workload that are in a table. */
export function rowsInTables() {
  const found = {};
  for (const { workload, rows } of Object.values(kTables).flatMap(({ lines }) => lines))
    found[workload] = [...new Set([...(found[workload] ?? []), ...rows])];
  return found;
}

/** Returns a table: where and when its figures were measured, the titles of its columns, and its rows of texts. */
export function comparison(name, results) {
  const { lines, columns } = kTables[name];
  const sources = [...new Set(lines.map(({ workload }) => results[workload].measured))];
  const places = new Set(sources.map(describeSource));
  return {
    measured: [...places].join("; "),
    header: ["", ...Object.values(columns).map((peer) => columnTitle(peer, sources.at(-1)))],
    rows: lines.map((line) => cellsOf(line, Object.keys(columns), results)),
  };
}

/** Returns a marked part: the source of its figures, and the table. */
export function tablePart(name, results) {
  const { measured, header, rows } = comparison(name, results);
  const lines = [header, header.map(() => "---"), ...rows];
  return `Measured ${measured}:\n\n${lines.map((row) => `| ${row.join(" | ")} |\n`).join("")}`;
}

function describeSource({ date, cpu, cores, node }) {
  return `${date} on ${cores} cores of ${cpu}, Node ${node}`;
}

function columnTitle(peer, { packages }) {
  return peer === null ? "edgegrad" : `${kNames[peer]} ${packages[peer]}`;
}

function cellsOf({ title, workload, rows, contenders, notes = {}, ...style }, columns, results) {
  const { figures } = results[workload];
  const text = typeof title === "function" ? title(results) : title;
  const cells = (contenders ?? columns).map((contender) => {
    const values = rows.map((row) => figures[row]?.[contender]);
    const isThere = values.every((value) => value !== undefined);
    return isThere ? joined(values, style) + (notes[contender] ?? "") : "";
  });
  return [text, ...columns.map((_, i) => cells[i] ?? "")];
}

function joined(values, { scale = 1 }) {
  return values.map((value) => short(value * scale)).join(" / ");
}

function short(value) {
  return formatNumber(value, value >= 10 ? 0 : value >= 1 ? 1 : 2);
}
