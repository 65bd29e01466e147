// Runs tests of PyTorch on edgegrad.torch in Pyodide, and says how many pass of those that pass by pipes: both without numpy, which
// Pyodide's npm package does not have.
//
//   node tests/pytorch/package/pyodide.mjs                    the tests of sample.txt, a tenth of those that pass by pipes: in every run of CI
//   node tests/pytorch/package/pyodide.mjs --write            the same, after writing sample.txt anew from what passes by pipes, and the docs
//   node tests/pytorch/package/pyodide.mjs FILE... | --all    all tests of files, after running them by pipes
//
// FILE is a part of a name in files.mjs.

import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadPyodide } from "pyodide";
import { main } from "../../../scripts/process.mjs";
import { kFiles } from "../files.mjs";
import { sourceIfPossible } from "../source.mjs";
import { readFigures, writePyodideFigures } from "./figures.mjs";
import { writePythonPackage } from "./python.mjs";

const kPython = "/usr/bin/python3";
const kHere = dirname(fileURLToPath(import.meta.url));
const kTests = dirname(kHere);
const kFolders = [kTests, join(kTests, "support"), kHere];
const kSampleFile = join(kHere, "sample.txt");
// Files of many areas whose tests are quick, and which import little of PyTorch's test support.
const kSample = [
  "test_type_promotion.py",
  "test_indexing.py",
  "optim/test_lrscheduler.py",
  "nn/test_module_hooks.py",
  "nn/test_parametrization.py",
  "nn/test_pruning.py",
  "nn/test_packed_sequence.py",
  "optim/test_swa_utils.py",
  "test_type_info.py",
];
// Of the tests that pass by pipes.
const kLeastShare = 0.95;
const kMostShown = 20;

const lines = (text) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Returns the names of a file's tests that pass by pipes. */
function passingByPipes(source, { file, without, sample = 1 }) {
  const args = [join(kTests, "run_tests.py"), join(source, "test", file), "--sample", `${sample}`];
  const env = {
    ...process.env,
    EG_PYTORCH_SOURCE: source,
    EG_NODE: process.execPath,
    EG_PYTORCH_ON: "package",
    EG_WITHOUT_NUMPY: "1",
    PYTHONPATH: [...kFolders, join(kHere, "pipes"), writePythonPackage()].join(":"),
  };
  if (without) args.push("--without", without);
  const { stdout, stderr } = spawnSync(kPython, args, {
    env,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (stdout === "") throw new Error(`${file} by pipes: ${stderr.trim().split("\n").at(-1)}`);
  return lines(stdout)
    .filter(({ status }) => status === "pass")
    .map(({ test }) => test);
}

/** Starts Python in Node with the package, PyTorch's files and the tests; resolves to a function that runs tests of a file. */
async function startPython(source) {
  const [eg, { install }] = await Promise.all([import("edgegrad"), import("edgegrad/pyodide")]);
  const python = await loadPyodide({
    // What tests print is not mixed with the results.
    stdout: () => undefined,
    stderr: () => undefined,
    env: { EG_PYTORCH_SOURCE: "/pytorch", EG_PYTORCH_ON: "package", EG_WITHOUT_NUMPY: "1" },
  });
  const mounted = { "/pytorch": source, "/tests": kTests };
  for (const [at, folder] of Object.entries(mounted)) {
    python.FS.mkdirTree(at);
    python.FS.mount(python.FS.filesystems.NODEFS, { root: folder }, at);
  }
  await install(python, { engine: eg, init: { threads: 1 } });
  const paths = kFolders.map((folder) => folder.replace(kTests, "/tests"));
  python.runPython(`import sys; sys.path[:0] = ${JSON.stringify(paths)}`);
  const [sample, warn] = python.runPython("import sample; sample.sample, sample.warn");
  return (file, tests) => {
    const rows = [];
    const { warn: toConsole } = console;
    console.warn = (...args) => warn(args.join(" "));
    try {
      const emit = (line) => rows.push(JSON.parse(line));
      sample(`/pytorch/test/${file}`, JSON.stringify(tests), emit);
    } finally {
      console.warn = toConsole;
    }
    return rows;
  };
}

/** Reads sample.txt: the tests of each file. */
function readSample() {
  const found = new Map();
  for (const line of readFileSync(kSampleFile, "utf8").split("\n").filter(Boolean)) {
    if (line.startsWith("# ")) found.set(line.slice(2), []);
    else [...found.values()].at(-1).push(line);
  }
  return found;
}

function writeSample(tests) {
  const parts = [...tests].map(([file, names]) => `# ${file}\n${names.join("\n")}\n`);
  writeFileSync(kSampleFile, parts.join("\n"));
}

/** Runs tests of files, and returns how many of each passed. */
async function runAll(source, tests, isOnePython) {
  const found = [];
  let run;
  for (const [file, names] of tests) {
    if (run === undefined || !isOnePython) run = await startPython(source);
    const rows = run(file, names);
    const good = rows.filter(({ status }) => status === "pass");
    found.push({ file, passed: good.length, of: names.length });
    console.log(`  ${file}: ${good.length} of ${names.length}`);
    const failed = rows.filter(({ status }) => status !== "pass");
    for (const { test, reason = "" } of failed.slice(0, kMostShown))
      console.log(`✖ ${test}: ${reason.split("\n")[0].slice(0, 200)}`);
  }
  return found;
}

async function work() {
  const { values, positionals } = parseArgs({
    options: { all: { type: "boolean" }, write: { type: "boolean" } },
    allowPositionals: true,
  });
  const source = await sourceIfPossible();
  if (source === null) return 0;
  const isSample = !values.all && positionals.length === 0;
  const chosen = kFiles.filter(({ file }) =>
    isSample ? kSample.includes(file) : values.all || positionals.some((one) => file.includes(one)),
  );
  const isKnown = isSample && !values.write;
  const tests = isKnown
    ? readSample()
    : new Map(chosen.map((one) => [one.file, passingByPipes(source, one)]));
  if (isSample && values.write) writeSample(tests);
  const found = await runAll(source, tests, isSample);
  const sum = (key) => found.reduce((total, one) => total + one[key], 0);
  console.log(`${sum("passed")} of ${sum("of")} that pass by pipes`);
  if (isSample && values.write) writePyodideFigures(found);
  const known = isKnown ? knownSum() : 0;
  if (sum("passed") < known) console.log(`${known} are written down`);
  return sum("passed") >= Math.max(kLeastShare * sum("of"), known) ? 0 : 1;
}

/** Returns how many tests of the sample are written down as passing. */
function knownSum() {
  return Object.values(readFigures()).reduce((sum, { pyodide }) => sum + (pyodide?.[0] ?? 0), 0);
}

await main(work);
