// npm run bench: compares this package with TensorFlow.js and jax-js, in the same run on the same machine. The pieces are in tests/bench.

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
import { keptSweep, kSweepResults, sweepFile } from "../tests/bench/sweep/page.mjs";
import { runSweep } from "../tests/bench/sweep/run.mjs";
import { kPython } from "../tests/bench/torch/server.mjs";
import { kWorkloads } from "../tests/bench/workloads/index.mjs";
import { buildForNode, buildWasm } from "./build.mjs";
import { buildWeb } from "./building/web_build.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { newerNode } from "./machine/newer_node.mjs";
import { expected, kRoot, main, read, seconds } from "./process.mjs";

const kTorchPackages = "Debian: python3-torch, and libopenblas0-pthread";

const kHelp = `npm run bench -- [options]
npm run bench -- sweep [families, or parts of names] [--quick] [--write]
  compare every op at three sizes with native PyTorch on one thread (${kTorchPackages});
  --write stores the result in ${kSweepResults}, from which the page is made
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
npm run bench -- onnx [--quick]
  files of ONNX that other projects ship in packages of npm, which are fetched the first time: time and memory beside onnxruntime-web
npm run bench -- --compare A B [--only ...] [--rows TEXT] [--pairs 10] [--tolerance 2]
  compare two builds of this package in pairs: commits, which are built, or folders with a dist/. Fails if B takes longer
  than A by more than the tolerance in percent and noise does not explain it
  --quick           fewer sizes and shorter runs, on the newer Node only: under two minutes
  --only A,B        only these workloads: ${Object.keys(kWorkloads).join(", ")}
  --node 20|24|all  this Node.js, a newer one with relaxed SIMD, or both (the default unless --quick)
  --no-build        measure the existing dist/
  --record          append a line per row to ${kHistory} after each workload, with the commit and the machine
  --write           store the figures of the newest Node.js that are in the tables of README.md and the guide, and update the tables
The whole report is written to build/bench, as JSON.`;

const kFlag = { type: "boolean", default: false };
const kText = { type: "string" };
const kOptions = {
  quick: kFlag,
  only: kText,
  node: kText,
  "no-build": kFlag,
  write: kFlag,
  record: kFlag,
  compare: kFlag,
  rows: { ...kText, default: "" },
  pairs: { ...kText, default: "10" },
  tolerance: { ...kText, default: "2" },
  size: kText,
  tune: kFlag,
  help: { ...kFlag, short: "h" },
};

const kPeers = [
  "@tensorflow/tfjs",
  "@tensorflow/tfjs-backend-wasm",
  "@tensorflow/tfjs-backend-webgpu",
  "@jax-js/jax",
];

// Each of these checks its options, and returns a function that does the rest once npm's packages are installed.

/** Compares every op with PyTorch, on the Node.js that runs this script. */
function sweep({ quick, write, ...options }, names) {
  if (write && names.length > 0)
    throw expected("--write requires a sweep of all ops, without names");
  return async () => {
    checkTorch();
    await buildForThisNode(options);
    console.log("Time relative to PyTorch on one thread; without names, only ratios of at least 3");
    const only = names.length > 0 ? names : null;
    const { rows, ...libraries } = await runSweep(process.execPath, { only, quick });
    if (!write) return;
    const date = new Date().toISOString().slice(0, 10);
    const machine = { date, cpu: cpus()[0].model, node: process.versions.node };
    const kept = keptSweep(rows, { ...machine, ...libraries });
    writeFileSync(join(kRoot, kSweepResults), sweepFile(kept));
    console.log(`Written to ${kSweepResults}`);
  };
}

/** Measures a language model, on the Node.js that runs this script. */
function language({ quick, ...options }, others) {
  if (others.length > 0) throw expected(kHelp);
  return async () => {
    await buildForThisNode(options);
    const { languageLines } = await import("../tests/bench/language/run.mjs");
    const lines = await languageLines({ quick, hasTorch: hasTorch(), onProgress: showProgress });
    showProgress("");
    console.log(lines.join("\n"));
  };
}

/** Measures files of ONNX, on the Node.js that runs this script. */
function onnx({ quick, ...options }, others) {
  if (others.length > 0) throw expected(kHelp);
  return async () => {
    await buildForThisNode(options);
    const { onnxLines } = await import("../tests/bench/onnx/run.mjs");
    const threads = cpus().length > 1 ? [1, 2] : [1];
    const lines = await onnxLines({ quick, threads, onProgress: showProgress });
    showProgress("");
    console.log(lines.join("\n"));
  };
}

/** Measures the graphics card, on the Node.js that runs this script, or counts what the steps of models cost there. */
function webgpu({ size, tune, ...options }, [what, ...models]) {
  if (![undefined, "steps"].includes(what) || ![undefined, ...kSizes].includes(size))
    throw expected(kHelp);
  return async () => {
    if (tune) {
      // The code that it loads is bundled from the sources.
      const { tune } = await import("../tests/bench/card/tune.mjs");
      await tune({ size, onProgress: showProgress });
      process.exit(0); // an open device keeps the process alive
    }
    await buildForThisNode(options);
    if (what === undefined) {
      const { measureCard } = await import("../tests/bench/card/run.mjs");
      return measureCard({ size, onProgress: showProgress });
    }
    runGpuProgram("steps.mjs", models);
    if (models.length > 0) return;
    console.log("\nBeside the peers\n");
    runGpuProgram("peers.mjs", []);
  };
}

function runGpuProgram(name, given) {
  const program = join(kRoot, "tests", "bench", "gpu", name);
  const { status } = spawnSync(process.execPath, [program, ...given], { stdio: "inherit" });
  if (status !== 0) process.exitCode = 1;
}

/** Compares two builds in pairs, on the newest Node.js unless another is chosen; returns 1 if B is slower. */
function compare({ node = "newest", rows: text, pairs, tolerance: percent, only }, builds) {
  if (builds.length !== 2) throw expected(kHelp);
  const workloads = workloadsNamed(only?.split(",") ?? kUsual);
  const other = workloads.find((workload) => !isComparable(workload));
  if (other) throw expected(`--compare cannot take "${other.name}"`);
  const rounds = Number(pairs);
  const tolerance = Number(percent) / 100;
  if (!(Number.isInteger(rounds) && rounds >= kFewestPairs && tolerance >= 0))
    throw expected(`--pairs takes ${kFewestPairs} or more, --tolerance a percentage`);
  return async () => {
    const newest = (await findNodes(node)).at(-1);
    const versions = [];
    for (const what of builds) versions.push(await versionOf(what, newest.variant));
    const [a, b] = versions.map(({ name }) => name);
    console.log(`A ${a}\nB ${b}\n${rounds} pairs on ${newest.title}, ${cpus()[0].model}`);
    const dists = versions.map(({ dist }) => dist);
    const wanted = (id) => id.includes(text);
    const options = { node: newest, rounds, tolerance, wanted, onProgress: showProgress };
    const rows = await compareBuilds(dists, workloads, options);
    showProgress("");
    if (rows.length === 0) throw expected(`No row has "${text}" in its name`);
    for (const line of comparisonLines(rows)) console.log(line);
    const [slower, faster, unclear] = ["slower", "faster", "unclear"].map(
      (wanted) => rows.filter(({ outcome }) => outcome === wanted).length,
    );
    console.log(
      `\nOf ${rows.length} rows B is slower by more than ${percent} % in ${slower}, faster in ${faster}; ${unclear} unclear`,
    );
    return slower > 0 ? 1 : 0;
  };
}

/** Measures workloads with all libraries. */
function measure(options, others) {
  const { quick, only, record, "no-build": isBuilt } = options;
  if (others.length > 0) throw expected(kHelp);
  if (record && quick) throw expected("--record takes a whole run, not a --quick one");
  const workloads = workloadsNamed(only?.split(",") ?? Object.keys(kWorkloads));
  return async () => {
    const start = performance.now();
    const nodes = await findNodes(options.node ?? (quick ? "newest" : "all"));
    if (!isBuilt) await buildPackage(nodes);
    const machine = describeMachine(nodes);
    printMachine(machine);
    const { commit, dirty } = stateOfCheckout();
    // A build that was not made by this run may be of another commit.
    const state = { commit, dirty: dirty || isBuilt };
    const tables = [];
    for (const workload of workloads) {
      const where = workload.newestNodeOnly ? nodes.slice(-1) : nodes;
      for (const node of where) {
        const load = loadavg()[0];
        const table = await measureOn(workload, node, quick);
        tables.push(table);
        if (record) appendHistory(historyEntries([table], { ...machine, load }, state));
      }
    }
    printSummary(tables);
    if (options.write) keepTables(tables, machine);
    const folder = join(kRoot, "build", "bench");
    const path = join(folder, `${machine.date.replaceAll(":", "-").slice(0, 19)}.json`);
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, `${JSON.stringify({ machine, tables }, null, 1)}\n`);
    console.log(`\nWritten to ${path} after ${seconds(start)}`);
  };
}

function workloadsNamed(names) {
  const unknown = names.find((name) => !kWorkloads[name]);
  if (unknown) throw expected(`Unknown workload "${unknown}"\n${kHelp}`);
  return names.map((name) => kWorkloads[name]);
}

const hasTorch = () => spawnSync(kPython, ["-c", "import torch"]).status === 0;

function checkTorch() {
  if (!hasTorch()) throw expected(`${kPython} cannot import torch (${kTorchPackages})\n${kHelp}`);
}

/** Builds what this Node.js runs. */
async function buildForThisNode({ "no-build": isBuilt }) {
  if (isBuilt) return;
  console.log("Setting up");
  await buildForNode();
}

/** Returns the Node.js versions to measure on: {path, major, title, variant}; `variant` is the build that init() selects there. */
async function findNodes(wanted) {
  const nodes = [...new Set([process.execPath, await newerNode()])].map((path) => {
    const version = read(path, ["--version"]).slice(1);
    const major = Number.parseInt(version, 10);
    return { path, major, title: `Node ${version}`, variant: major >= 22 ? "relaxed" : "simd" };
  });
  if (wanted === "all") return nodes;
  if (wanted === "newest") return nodes.slice(-1);
  const chosen = nodes.filter(({ major }) => major === Number(wanted));
  if (chosen.length > 0) return chosen;
  throw expected(`--node must be all or ${nodes.map(({ major }) => major).join(" or ")}`);
}

async function buildPackage(nodes) {
  console.log("Setting up");
  await buildWeb();
  const variants = new Set(["relaxed", ...nodes.map(({ variant }) => variant)]);
  for (const variant of variants) await buildWasm(variant);
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

async function measureOn(workload, node, quick) {
  const context = { quick, nodeMajor: node.major, variant: node.variant };
  const { name, title } = workload;
  const tell = (what) => showProgress(`${name}, ${node.title}: ${what}`);
  const results = await measureWorkload(workload, node.path, context, tell);
  showProgress("");
  const rows = workload.rows(context);
  const checks = checksOf({ workload, rows, results, context });
  const table = { name, title, node, rows, results, checks, context };
  printWorkload(table);
  return table;
}

function showProgress(text) {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}

await main(async () => {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: kOptions });
  if (values.help) return console.log(kHelp);
  const [command, ...others] = positionals;
  const named = { sweep, language, onnx, webgpu }[command];
  const work = named?.(values, others) ?? (values.compare ? compare : measure)(values, positionals);
  await ensureNodeModules();
  return work();
});
