// Runs PyTorch's own tests on edgegrad, and compares their outcomes with those in expected/.
//
//   node tests/pytorch/run.mjs [FILE...] [--package] [--write] [--whole] [--rows FOLDER] [--from FOLDER]
//
// With `--package` they run on edgegrad.torch, the package for Python in the page, which speaks with Node by pipes; otherwise on the shim.
// FILE is a part of a name in files.mjs. `--write` writes the outcomes as what is expected, and the table of the docs; `--whole` also runs
// the tests outside the samples; `--rows` keeps what each test said, as lines of JSON, and `--from` takes that instead of running them.

import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { buildForNode } from "../../scripts/build.mjs";
import { expected, kRoot, main, step } from "../../scripts/process.mjs";
import { byOutcome, differences, isGood, readExpected, writeExpected } from "./expected.mjs";
import { kFiles } from "./files.mjs";
import { compare, kPackageColumn, writePackageFigures } from "./package/figures.mjs";
import { writePythonPackage } from "./package/python.mjs";
import { sourceIfPossible } from "./source.mjs";
import { writeTables } from "./table.mjs";

const kPython = "/usr/bin/python3";
const kHere = dirname(fileURLToPath(import.meta.url));
const kRunTests = join(kHere, "run_tests.py");
const kNeedsNewProcess = 75;
const kMostShown = 40;

/** Runs a shard of a file in as many processes as it takes, and resolves to the rows of its tests. */
async function runShard({ source, file, sample, without, shard, shards, env }, core) {
  const rows = [];
  const options = ["--shard", `${shard}/${shards}`, "--sample", `${sample}`, "--core", `${core}`];
  if (without) options.push("--without", without);
  for (;;) {
    const after = rows.length > 0 ? ["--after", rows.at(-1).test] : [];
    const path = join(source, "test", file);
    const { status, errors } = await runPython(source, [path, ...options, ...after], rows, env);
    if (status === 0) return rows;
    if (status === kNeedsNewProcess) continue;
    const said = errors.trim().split("\n").at(-1);
    rows.push({
      test: `(shard ${shard})`,
      status: "error",
      reason: `ended with ${status}: ${said}`,
    });
    return rows;
  }
}

/** Runs the Python program, which prints a row for each test. */
function runPython(source, args, rows, of) {
  const env = { ...process.env, EG_PYTORCH_SOURCE: source, EG_NODE: process.execPath, ...of };
  const child = spawn(kPython, [kRunTests, ...args], { env, stdio: ["ignore", "pipe", "pipe"] });
  createInterface({ input: child.stdout }).on("line", (line) => rows.push(JSON.parse(line)));
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => {
    errors = (errors + text).slice(-10_000);
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ status: code ?? signal, errors }));
  });
}

/** Returns the variables that say on which package the tests run. A program that a test starts takes this torch as well. */
function environmentOf(isPackage) {
  const support = join(kHere, "support");
  if (!isPackage)
    return { EG_PYTORCH_ON: "shim", PYTHONPATH: delimited(support, join(kHere, "shim")) };
  const paths = delimited(
    support,
    join(kHere, "package"),
    join(kHere, "package", "pipes"),
    writePythonPackage(),
  );
  return { EG_PYTORCH_ON: "package", PYTHONPATH: paths };
}

const delimited = (...paths) => paths.join(delimiter);

/** Runs all shards, as many at once as there are cores; resolves to the rows of each file. */
async function runAll(source, files, { whole: isWhole, rows: folder, package: isPackage }) {
  const env = environmentOf(isPackage);
  const rowsOf = new Map(files.map(({ file }) => [file, []]));
  const jobs = files.flatMap(({ file, shards = 1, sample = 1, without }) =>
    Array.from({ length: shards }, (_, shard) => ({
      source,
      env,
      file,
      shard,
      shards,
      sample: isWhole ? 1 : sample,
      without: isWhole ? undefined : without,
    })),
  );
  const all = jobs.length;
  await step(`${files.length} of PyTorch's test files in ${all} shards`, async (report) => {
    const work = async (core) => {
      for (let job = jobs.shift(); job; job = jobs.shift()) {
        report(`${all - jobs.length} of ${all}, ${job.file}`);
        const rows = await runShard(job, core);
        rowsOf.get(job.file).push(...rows);
        if (folder) keepRows(folder, job.file, rows);
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, (_, core) => work(core)));
  });
  return rowsOf;
}

async function newRows(files, options) {
  const source = await sourceIfPossible();
  if (source === null) return null;
  if (!existsSync(join(kRoot, "dist", "index.js"))) await buildForNode();
  return runAll(source, files, options);
}

const rowsPath = (folder, file) => join(folder, `${file.replaceAll("/", ".")}.jsonl`);

function keepRows(folder, file, rows) {
  mkdirSync(folder, { recursive: true });
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`);
  appendFileSync(rowsPath(folder, file), lines.join(""));
}

function keptRows(folder, files) {
  const kept = files.filter(({ file }) => existsSync(rowsPath(folder, file)));
  return new Map(
    kept.map(({ file }) => {
      const lines = readFileSync(rowsPath(folder, file), "utf8").split("\n").filter(Boolean);
      return [file, lines.map((line) => JSON.parse(line))];
    }),
  );
}

const kWhatToDo = `
Outcomes differ from tests/pytorch/expected. A test that passes now, or that does not apply any more: write it down with
node tests/pytorch/run.mjs --write FILE. A test that fails now and passed before: the change has broken what PyTorch promises.`;

async function work() {
  const { values, positionals } = parseArgs({
    options: {
      write: { type: "boolean", default: false },
      whole: { type: "boolean", default: false },
      package: { type: "boolean", default: false },
      rows: { type: "string" },
      from: { type: "string" },
    },
    allowPositionals: true,
  });
  if (values.write && values.whole) throw expected("--write writes down the samples: not --whole");
  const files = kFiles.filter(
    ({ file }) => positionals.length === 0 || positionals.some((name) => file.includes(name)),
  );
  if (files.length === 0) throw expected(`no file has a name with ${positionals.join(", ")}`);
  const rowsOf = values.from ? keptRows(values.from, files) : await newRows(files, values);
  if (rowsOf === null) return 0;
  if (values.package) return reportPackage(rowsOf, values.write);
  let passed = 0;
  const failed = [];
  for (const [file, rows] of rowsOf) {
    const known = readExpected(file);
    const groups = byOutcome(rows, known);
    console.log(`  ${file}: ${totals(groups)}`);
    if (values.write) writeExpected(file, groups);
    else failed.push(...differences(rows, known, values.whole).map((line) => `${file} ${line}`));
    for (const [outcome, tests] of groups)
      if (isGood(outcome) && outcome !== "skip") passed += tests.length;
  }
  if (values.write) writeTables();
  for (const line of failed.slice(0, kMostShown)) console.log(`✖ ${line}`);
  if (failed.length > kMostShown) console.log(`... and ${failed.length - kMostShown} more`);
  if (failed.length > 0) console.log(kWhatToDo);
  console.log(`${passed} passed, ${failed.length} failed`);
  return failed.length > 0 ? 1 : 0;
}

/** Prints how many tests of each file pass on the package, and on the shim; 1 if fewer pass than are written down. */
function reportPackage(rowsOf, isWriting) {
  const found = [...rowsOf].map(([file, rows]) => compare(file, rows));
  for (const one of found) {
    console.log(
      `  ${one.file}: ${one.passed} passed, ${one.shim} on the shim, ${one.known} written down`,
    );
    for (const [reason, tests] of one.lost)
      console.log(`    ${tests.length} ${reason}, as ${tests[0]}`);
  }
  if (isWriting) writePackageFigures(found);
  const sum = (key) => found.reduce((total, one) => total + one[key], 0);
  console.log(`${sum("passed")} passed; ${kPackageColumn}: ${sum("known")}; shim: ${sum("shim")}`);
  return !isWriting && found.some((one) => one.passed < one.known) ? 1 : 0;
}

/** Returns the numbers of a file's tests by the kinds of their outcomes. */
function totals(groups) {
  const numbers = new Map();
  for (const [outcome, tests] of groups) {
    const [kind] = outcome.split(":");
    numbers.set(kind, (numbers.get(kind) ?? 0) + tests.length);
  }
  return [...numbers].map(([kind, number]) => `${number} ${kind}`).join(", ");
}

await main(work);
