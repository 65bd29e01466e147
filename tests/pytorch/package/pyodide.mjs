// Runs a sample of PyTorch's tests on edgegrad.torch in Pyodide, and says how many pass of those that pass by pipes: both without numpy,
// which Pyodide's npm package does not have.
//
//   node tests/pytorch/package/pyodide.mjs [FILE...] [--every 10] [--write]
//
// FILE is a part of a name in files.mjs; by default kSample. `--every n` takes every n-th test of those that run.mjs runs.

import { spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { loadPyodide } from "pyodide";
import { main } from "../../../scripts/process.mjs";
import { kFiles } from "../files.mjs";
import { pytorchSource } from "../source.mjs";
import { writePyodideFigures } from "./figures.mjs";
import { writePythonPackage } from "./python.mjs";

const kPython = "/usr/bin/python3";
const kHere = dirname(fileURLToPath(import.meta.url));
const kTests = dirname(kHere);
const kFolders = [kTests, join(kTests, "support"), kHere];
const kSample = [
  "test_autograd.py",
  "test_view_ops.py",
  "test_reductions.py",
  "test_type_promotion.py",
  "autograd/test_functional.py",
  "test_indexing.py",
  "test_shape_ops.py",
  "optim/test_lrscheduler.py",
  "nn/test_module_hooks.py",
  "nn/test_embedding.py",
  "nn/test_convolution.py",
  "test_sparse.py",
  "test_unary_ufuncs.py",
  "test_binary_ufuncs.py",
  "test_complex.py",
  "test_stateless.py",
];
const kMostShown = 20;

const lines = (text) =>
  text
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));

/** Returns the rows of a file's sample by pipes. */
function byPipes(source, { file, without }, every) {
  const args = [join(kTests, "run_tests.py"), join(source, "test", file), "--sample", `${every}`];
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
  return lines(stdout).filter(({ seconds }) => seconds !== undefined);
}

/** Starts Python in Node with the package, PyTorch's files and the tests. */
async function startPython(source) {
  const [eg, { install }] = await Promise.all([import("edgegrad"), import("edgegrad/pyodide")]);
  const python = await loadPyodide({
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
  return python;
}

/** Returns the rows of a file's sample in Pyodide. */
function inPyodide(python, { file, without = "" }, every) {
  const rows = [];
  const sample = python.runPython("from sample import sample; sample");
  sample(`/pytorch/test/${file}`, every, without, (line) => rows.push(JSON.parse(line)));
  return rows;
}

async function work() {
  const { values, positionals } = parseArgs({
    options: {
      every: { type: "string", default: "10" },
      write: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const files = kFiles.filter(({ file }) =>
    positionals.length > 0
      ? positionals.some((name) => file.includes(name))
      : kSample.includes(file),
  );
  const source = await pytorchSource();
  const found = [];
  for (const one of files) {
    const every = Number(values.every) * (one.sample ?? 1);
    const good = new Set(
      byPipes(source, one, every)
        .filter(({ status }) => status === "pass")
        .map(({ test }) => test),
    );
    // A Python of its own for each file, as by pipes.
    const rows = inPyodide(await startPython(source), one, every);
    const failed = rows.filter(({ test, status }) => good.has(test) && status !== "pass");
    const passed = rows.filter(({ test, status }) => good.has(test) && status === "pass").length;
    found.push({ file: one.file, passed, of: good.size });
    console.log(`  ${one.file}: ${passed} of ${good.size}`);
    for (const { test, reason } of failed.slice(0, kMostShown))
      console.log(`✖ ${test}: ${reason.slice(0, 200)}`);
  }
  const [passed, of] = ["passed", "of"].map((key) => found.reduce((sum, one) => sum + one[key], 0));
  console.log(`${passed} of ${of} that pass by pipes`);
  if (values.write) writePyodideFigures(found);
  return passed >= 0.95 * of ? 0 : 1;
}

await main(work);
