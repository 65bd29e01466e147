// npm run bench: compares this package with TensorFlow.js and jax-js, in the same run on the same machine. Prints tables and
// writes build/bench/<date>.json; with --write also the tables in README.md, with --record also the history. `--compare A B`
// measures two builds of this package in pairs. The pieces are in tests/bench.

import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { kSizes } from "../tests/bench/card/rows.mjs";
import { isComparable } from "../tests/bench/compare/pairs.mjs";
import { compareBuilds, comparisonLines, kUsual } from "../tests/bench/compare/run.mjs";
import { kFewestPairs } from "../tests/bench/compare/verdict.mjs";
import { versionOf } from "../tests/bench/compare/versions.mjs";
import { kPython } from "../tests/bench/libraries/torch_server.mjs";
import { measureWorkload } from "../tests/bench/measure.mjs";
import { checksOf } from "../tests/bench/report/checks.mjs";
import {
  appendHistory,
  historyEntries,
  kHistory,
  stateOfCheckout,
} from "../tests/bench/report/history.mjs";
import { keepTables } from "../tests/bench/report/keep.mjs";
import { printMachine, printSummary, printWorkload } from "../tests/bench/report/print.mjs";
import { speedPage } from "../tests/bench/sweep/page.mjs";
import { runSweep } from "../tests/bench/sweep/run.mjs";
import { kWorkloads } from "../tests/bench/workloads/index.mjs";
import { buildWasm, buildWeb, nodeVariant } from "./build.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { newerNode } from "./newer_node.mjs";
import { expected, kRoot, main, read, seconds } from "./process.mjs";

const kTorchPackages = "Debian: python3-torch, and libopenblas0-pthread";

const kHelp = `npm run bench -- [options]
npm run bench -- sweep [families, or parts of names] [--quick] [--write]
  compare every op at three sizes with native PyTorch on one thread (${kTorchPackages});
  --write writes the result to docs/speed.md
npm run bench -- webgpu [--size full|small|tiny]
  measure the graphics card of this machine: products, convolutions, memory and training steps, with this package and its
  peers. Without a card, Chromium's software renderer is measured, with small sizes. The page "Measure your GPU" does the same
npm run bench -- webgpu --tune
  measure how matrix products are best divided on the card, and print its line for the table in the sources
npm run bench -- webgpu steps [models]
  count what a training step costs there: dispatches, submits, bytes, buffers, pipelines; without models also beside the peers
npm run bench -- language [--quick]
  a language model of 135 million parameters with random weights: loading, generation beside onnxruntime-web, training of an
  adapter beside native PyTorch (${kTorchPackages}), with 32, 16, 8 and 4 bits
npm run bench -- --compare A B [--only ...] [--rows TEXT] [--pairs 10] [--tolerance 2]
  compare two builds of this package in pairs: commits, which are built, or folders with a dist/. Fails if B takes longer
  than A by more than the tolerance in percent and noise does not explain it
  --quick           fewer sizes and shorter runs, on the newer Node only: under two minutes
  --only A,B        only these workloads: ${Object.keys(kWorkloads).join(", ")}
  --node 20|24|all  this Node.js, a newer one with relaxed SIMD, or both (the default unless --quick)
  --with torch      also native PyTorch on one thread, if ${kPython} can import it (${kTorchPackages},
                    without which its products are ten times slower)
  --no-build        measure the existing dist/
  --record          append a line per row to ${kHistory}, with the commit and the machine
  --write           store the results of the newest Node.js in tests/bench/results.json, and update the tables in README.md
  --json            also print the report as JSON, which is always written to build/bench`;

const kPeers = [
  "@tensorflow/tfjs",
  "@tensorflow/tfjs-backend-wasm",
  "@tensorflow/tfjs-backend-webgpu",
  "@jax-js/jax",
];

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      node: { type: "string" },
      with: { type: "string" },
      "no-build": { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      record: { type: "boolean", default: false },
      compare: { type: "boolean", default: false },
      rows: { type: "string", default: "" },
      pairs: { type: "string", default: "10" },
      tolerance: { type: "string", default: "2" },
      size: { type: "string" },
      tune: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (positionals[0] === "sweep") return { ...values, sweep: positionals.slice(1) };
  if (positionals[0] === "language" && positionals.length === 1)
    return { ...values, language: true };
  if (positionals[0] === "webgpu") return readWebgpu(values, positionals.slice(1));
  if (positionals.length !== (values.compare ? 2 : 0)) throw expected(kHelp);
  if (values.record && values.quick)
    throw expected("--record takes a whole run, not a --quick one");
  const names = values.only?.split(",") ?? (values.compare ? kUsual : Object.keys(kWorkloads));
  const unknown = names.find((name) => !kWorkloads[name]);
  if (unknown) throw expected(`Unknown workload "${unknown}"\n${kHelp}`);
  if (![undefined, "torch"].includes(values.with)) throw expected(kHelp);
  if (values.with) checkTorch();
  const workloads = names.map((name) => kWorkloads[name]);
  if (values.compare)
    return { ...values, workloads, ...readComparison(values, positionals, workloads) };
  return { ...values, workloads };
}

function readWebgpu(values, [what, ...models]) {
  if (![undefined, "steps"].includes(what) || ![undefined, ...kSizes].includes(values.size))
    throw expected(kHelp);
  if (values.tune) return { ...values, webgpu: tuneTiles };
  return { ...values, webgpu: what === "steps" ? countSteps : measureGpu, models };
}

function readComparison({ pairs, tolerance }, builds, workloads) {
  const other = workloads.find((workload) => !isComparable(workload));
  if (other) throw expected(`--compare cannot take "${other.name}"`);
  const counts = { rounds: Number(pairs), tolerance: Number(tolerance) / 100 };
  if (!(Number.isInteger(counts.rounds) && counts.rounds >= kFewestPairs && counts.tolerance >= 0))
    throw expected(`--pairs takes ${kFewestPairs} or more, --tolerance a percentage`);
  return { builds, ...counts };
}

function checkTorch() {
  if (spawnSync(kPython, ["-c", "import torch"]).status === 0) return;
  throw expected(`${kPython} cannot import torch (${kTorchPackages})\n${kHelp}`);
}

/** Compares every op with PyTorch, on the Node.js that runs this script. */
async function sweep(options) {
  const { sweep: names, quick, write } = options;
  checkTorch();
  if (write && names.length > 0)
    throw expected("--write requires a sweep of all ops, without names");
  await buildForThisNode(options);
  console.log("Time relative to PyTorch on one thread; without names, only ratios of at least 3");
  const { rows, ...libraries } = await runSweep(process.execPath, {
    only: names.length > 0 ? names : null,
    quick,
  });
  if (!write) return;
  const date = new Date().toISOString().slice(0, 10);
  const machine = { date, cpu: cpus()[0].model, node: process.versions.node };
  writeFileSync(join(kRoot, "docs", "speed.md"), speedPage(rows, { ...machine, ...libraries }));
  console.log("Written to docs/speed.md");
}

/** Builds what this Node.js runs. */
async function buildForThisNode({ "no-build": isBuilt }) {
  if (isBuilt) return;
  console.log("Setting up");
  await buildWeb();
  await buildWasm(nodeVariant());
}

/** Measures a language model, on the Node.js that runs this script. */
async function language(options) {
  await buildForThisNode(options);
  const hasTorch = spawnSync(kPython, ["-c", "import torch"]).status === 0;
  const { languageLines } = await import("../tests/bench/language/run.mjs");
  const lines = await languageLines({ quick: options.quick, hasTorch, onProgress: showProgress });
  showProgress("");
  console.log(lines.join("\n"));
}

/** Counts the steps of models on the WebGPU device, on the Node.js that runs this script. */
async function countSteps(options) {
  await buildForThisNode(options);
  runGpuProgram("steps.mjs", options.models);
  if (options.models.length > 0) return;
  console.log("\nBeside the peers\n");
  runGpuProgram("peers.mjs", []);
}

function runGpuProgram(name, given) {
  const program = join(kRoot, "tests", "bench", "gpu", name);
  const { status } = spawnSync(process.execPath, [program, ...given], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}

/** Measures the graphics card, on the Node.js that runs this script. */
async function measureGpu(options) {
  await buildForThisNode(options);
  const { measureCard } = await import("../tests/bench/card/run.mjs");
  await measureCard({ size: options.size, onProgress: showProgress });
}

/** Measures the shapes of tiles on the graphics card. */
async function tuneTiles({ size }) {
  // What it loads is bundled from the sources.
  const { tune } = await import("../tests/bench/card/tune.mjs");
  await tune({ size, onProgress: showProgress });
  process.exit(0); // an open device keeps the process alive
}

/** Compares two builds in pairs, on the newest Node.js unless another is chosen; returns 1 if B is slower. */
async function compare({
  builds,
  workloads,
  rounds,
  tolerance,
  rows: text,
  node: wanted = "newest",
}) {
  const node = (await findNodes({ node: wanted })).at(-1);
  const versions = [];
  for (const what of builds) versions.push(await versionOf(what, node.variant));
  const [a, b] = versions.map(({ name }) => name);
  console.log(`A ${a}\nB ${b}\n${rounds} pairs on ${node.title}, ${cpus()[0].model}`);
  const rows = await compareBuilds(
    versions.map(({ dist }) => dist),
    workloads,
    { node, rounds, tolerance, wanted: (id) => id.includes(text), onProgress: showProgress },
  );
  showProgress("");
  if (rows.length === 0) throw expected(`No row has "${text}" in its name`);
  for (const line of comparisonLines(rows)) console.log(line);
  const count = (wanted) => rows.filter(({ outcome }) => outcome === wanted).length;
  console.log(
    `\nOf ${rows.length} rows B is slower by more than ${tolerance * 100} % in ${count("slower")}, faster in ${count("faster")}; ${count("unclear")} unclear`,
  );
  return count("slower") > 0 ? 1 : 0;
}

/** Returns the Node.js versions to measure on: {path, major, title, variant}; `variant` is the build that init() selects there. */
async function findNodes({ quick, node: wanted = quick ? "newest" : "all" }) {
  const paths = new Set([process.execPath, await newerNode()]);
  const nodes = [...paths].map((path) => {
    const version = read(path, ["--version"]);
    const major = Number.parseInt(version.slice(1), 10);
    return {
      path,
      major,
      title: `Node ${version.slice(1)}`,
      variant: major >= 22 ? "relaxed" : "simd",
    };
  });
  if (wanted === "all") return nodes;
  if (wanted === "newest") return nodes.slice(-1);
  const chosen = nodes.filter(({ major }) => major === Number(wanted));
  if (chosen.length === 0) {
    throw expected(`--node must be all or ${nodes.map(({ major }) => major).join(" or ")}`);
  }
  return chosen;
}

async function buildPackage(nodes) {
  console.log("Setting up");
  await buildWeb();
  for (const variant of new Set(["relaxed", ...nodes.map(({ variant }) => variant)])) {
    await buildWasm(variant);
  }
}

function describeMachine(nodes) {
  const versionOf = (name) =>
    JSON.parse(readFileSync(join(kRoot, "node_modules", name, "package.json"), "utf8")).version;
  return {
    date: new Date().toISOString(),
    cpu: cpus()[0].model,
    cores: cpus().length,
    load: loadavg()[0],
    packages: Object.fromEntries(kPeers.map((name) => [name, versionOf(name)])),
    nodes,
  };
}

async function measureOn(workload, node, { quick, with: also }) {
  const context = { quick, also: [also], nodeMajor: node.major, variant: node.variant };
  const results = await measureWorkload(workload, node.path, context, (what) =>
    showProgress(`${workload.name}, ${node.title}: ${what}`),
  );
  showProgress("");
  const rows = workload.rows(context);
  const checks = checksOf({ workload, rows, results, context });
  const table = {
    name: workload.name,
    title: workload.title,
    node,
    rows,
    results,
    checks,
    context,
  };
  printWorkload(table);
  return table;
}

function showProgress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

function writeReport(date, report) {
  const folder = join(kRoot, "build", "bench");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${date.replaceAll(":", "-").slice(0, 19)}.json`);
  writeFileSync(path, report);
  return path;
}

/** Appends the run to the history; what was not built for it may be of another commit than the checkout's. */
function record(tables, machine, { "no-build": isBuilt }) {
  const { commit, dirty } = stateOfCheckout();
  const entries = historyEntries(tables, machine, { commit, dirty: dirty || isBuilt });
  appendHistory(entries);
  console.log(`\n${entries.length} lines appended to ${kHistory}`);
}

await main(async () => {
  const options = readOptions();
  if (options.help) return console.log(kHelp);
  const start = performance.now();
  await ensureNodeModules();
  if (options.sweep) return sweep(options);
  if (options.webgpu) return options.webgpu(options);
  if (options.language) return language(options);
  if (options.compare) return compare(options);
  const nodes = await findNodes(options);
  if (!options["no-build"]) await buildPackage(nodes);
  const machine = describeMachine(nodes);
  printMachine(machine);
  const tables = [];
  for (const workload of options.workloads) {
    const where = workload.newestNodeOnly ? nodes.slice(-1) : nodes;
    for (const node of where) tables.push(await measureOn(workload, node, options));
  }
  printSummary(tables);
  const report = `${JSON.stringify({ machine, tables }, null, 1)}\n`;
  if (options.json) console.log(report);
  if (options.write) keepTables(tables, machine);
  if (options.record) record(tables, machine, options);
  const path = writeReport(machine.date, report);
  console.log(`\nWritten to ${path} after ${seconds(start)}`);
});
