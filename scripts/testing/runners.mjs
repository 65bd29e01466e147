// Runs tests: commands whose output is shown as it arrives, and the totals that their runners print at the end.

import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { join, relative } from "node:path";
import { ensurePackage } from "../build.mjs";
import { buildPreset } from "../building/preset.mjs";
import { ensurePackages, isDebian } from "../machine/apt.mjs";
import { CommandError, expected, kRoot, showAnd } from "../process.mjs";

// A section that hangs fails after this time, so that the following ones still run.
const kMostMinutes = 30;

/** Returns the debug preset: with a 32-bit size_t, as in WebAssembly, where available. TSan supports only 64 bits. */
export function debugPreset() {
  return process.arch === "x64" && isDebian() ? "native-debug-32" : "native-debug";
}

export const kEngineTests = "edgegrad_tests";
export const kBorderTests = "edgegrad_bindings_tests";

/**
 * Builds a program of C++ tests natively and runs it. `files` are the test files to run; without it all are.
 */
export async function runNative(preset, { environment, program = kEngineTests, files } = {}) {
  const folder = await buildPreset(preset, program);
  return runShards([join(folder, program)], { environment, files });
}

// Unoptimized code needs more of Node's own stack than it uses by default; systems provide 8 MB.
const kLargeStack = "--stack-size=3900";

/** Builds the C++ tests as WebAssembly and runs them in the given Node.js. */
export async function runWasm(preset, node) {
  const folder = await buildPreset(preset, kEngineTests);
  return runShards([node, kLargeStack, join(folder, `${kEngineTests}.js`)]);
}

// A marker in the first line of a test file. tests/README.md describes the other markers, by which presets select tests.
const kOfNoDevice = /^\/\/ markers: .*\bno-device\b/;

/** Returns the C++ test files whose results may depend on the device. */
export function testsOfDevices() {
  const names = readdirSync(join(kRoot, "tests/cpp"), { recursive: true });
  return names
    .filter((name) => name.endsWith("_test.cpp"))
    .map((name) => join("tests/cpp", name))
    .filter((file) => !kOfNoDevice.test(readFileSync(join(kRoot, file), "utf8")));
}

// Divides the tests of a program into one shard per core, because most use one thread. There are at least two shards,
// because the address sanitizer's bookkeeping for all tests does not fit into a 32-bit process.
async function runShards(command, { environment, files } = {}) {
  const filter = files === undefined ? [] : [`--gtest_filter=${filterOf(files)}`];
  const shards = Math.max(2, availableParallelism());
  const runShard = (_, shard) => {
    const part = { GTEST_TOTAL_SHARDS: `${shards}`, GTEST_SHARD_INDEX: `${shard}` };
    return runWith({ ...environment, ...part }, ...command, "--gtest_brief=1", ...filter);
  };
  const settled = await Promise.allSettled(Array.from({ length: shards }, runShard));
  return totalPassed(settled);
}

/** Returns the subfolders of a folder whose tests are divided among several folders. */
export function subfolders(folder) {
  const entries = readdirSync(join(kRoot, folder), { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}

/** Runs the test files in some folders, in the given Node.js. */
export async function runFolders(node, ...folders) {
  const files = folders.flatMap((folder) => {
    const names = readdirSync(join(kRoot, folder)).filter((name) => name.endsWith(".test.mjs"));
    return names.map((name) => join(folder, name));
  });
  if (files.length === 0) throw expected(`no tests in ${folders.join(", ")}`);
  return runFiles(node, files);
}

/**
 * Runs test files in the given Node.js, as many at the same time as there are cores. If tests fail, the error has `failures` with the file,
 * name and error of each.
 */
export async function runFiles(node, files, environment = {}) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-tests-"));
  const list = join(folder, "failures");
  const options = [
    "--expose-gc",
    "--test",
    `--test-concurrency=${availableParallelism()}`,
    "--test-reporter=spec",
    "--test-reporter-destination=stdout",
    `--test-reporter=${new URL("failures_reporter.mjs", import.meta.url)}`,
    `--test-reporter-destination=${list}`,
  ];
  try {
    return await runWith(environment, node, ...options, ...files);
  } catch (error) {
    const lines = existsSync(list) ? readFileSync(list, "utf8").split("\n").filter(Boolean) : [];
    error.failures = lines
      .map((line) => JSON.parse(line))
      .map((failure) => ({ ...failure, file: relative(kRoot, failure.file ?? kRoot) }));
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Runs rows of the package's check; `failures` of an error are like those of runFiles(), with rows instead of files. */
export async function runPackageRows(...options) {
  try {
    return await run(process.execPath, "scripts/pack_check.mjs", "--quick", ...options);
  } catch (error) {
    const [, rows = ""] = /^\d+ as expected, \d+ not: (.*)$/m.exec(error.output) ?? [];
    const errors = failureLines(error.output).join("\n");
    error.failures = rows
      .split(", ")
      .filter(Boolean)
      .map((row) => ({ file: row, test: row, error: errors }));
    throw error;
  }
}

/** Installs what tests need from Chromium, if necessary: the browser, or its software renderer. */
export function prepareChromium() {
  return prepareBrowser("browser");
}

/** Installs what tests of pages in Firefox need, if necessary. */
export function prepareFirefox() {
  return prepareBrowser("firefox");
}

async function prepareBrowser(packages) {
  await ensurePackages(packages);
  await ensurePackage();
}

/** Runs the tests of a folder that need Chromium. */
export async function runWithChromium(folder) {
  await prepareChromium();
  return runFolders(process.execPath, folder);
}

/** Runs the tests that need PyTorch, and installs it if necessary. */
export async function runWithTorch(folder) {
  await ensurePackages("torch");
  return runFolders(process.execPath, folder);
}

/** Runs the tests of a folder that need Firefox. */
export async function runWithFirefox(folder) {
  await prepareFirefox();
  return runFolders(process.execPath, folder);
}

/** Returns the test suites in C++ test files, as a GoogleTest filter. */
function filterOf(files) {
  const suites = files.flatMap((file) =>
    Array.from(
      readFileSync(join(kRoot, file), "utf8").matchAll(/^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)/gm),
      ([, suite]) => `${suite}.*:*/${suite}.*:${suite}/*`,
    ),
  );
  return [...new Set(suites)].join(":");
}

/**
 * Runs a command on this terminal. Resolves to the number of tests that its runner reports as passed, or null if it
 * does not report one.
 */
export function run(command, ...args) {
  return runWith({}, command, ...args);
}

async function runWith(environment, command, ...args) {
  const env = {
    ...process.env,
    ...environment,
    TSAN_OPTIONS: "halt_on_error=1",
    UBSAN_OPTIONS: "print_stacktrace=1",
  };
  const timeout = kMostMinutes * 60_000;
  const start = performance.now();
  let output = "";
  const keep = (text) => {
    output += text;
  };
  const status = await showAnd(keep, command, args, { cwd: kRoot, env, timeout });
  if (performance.now() - start > timeout) console.error(`Stopped after ${kMostMinutes} minutes.`);
  if (status === 0) return passedIn(output);
  const error = new CommandError(args[0] ? `${command} ${args[0]}` : command, status, output);
  error.passed = passedIn(output) ?? 0;
  throw error;
}

// The closing lines of GoogleTest, node:test and scripts/check.mjs.
const kPassed = /^\[ {2}PASSED {2}\] (\d+) tests?\.|^ℹ pass (\d+)|^(\d+) passed, \d+ failed/gm;

function passedIn(output) {
  const counts = Array.from(output.matchAll(kPassed), (match) =>
    Number(match[1] ?? match[2] ?? match[3]),
  );
  return counts.length === 0 ? null : totalOf(counts);
}

// Returns the total of runs that have all settled; throws the first failure.
function totalPassed(settled) {
  const failed = settled.find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
  return totalOf(settled.map(({ value }) => value));
}

function totalOf(counts) {
  return counts.reduce((sum, count) => sum + (count ?? 0), 0);
}

// The lines that report a failure: of GoogleTest, the sanitizers, node:test, scripts/check.mjs, and scripts/fuzz.mjs.
const kFailureLine =
  /\[ {2}FAILED|: Failure$|^SUMMARY: |Sanitizer: |^\s*✖(?! failing tests)|: failed \(|^finding: |^ +npm run fuzz |EG_TEST_SEED=/;
// The lines of GoogleTest and node:test below which the error begins.
const kErrorFollows = /^\s*✖|: Failure$/;
const kErrorEnds = /^\s+at |^\s*[✖✔▶ℹ﹣]|^\[|^test at /;
const kMostFailures = 12;
const kMostErrorLines = 4;

/** Returns the lines that report failures, each with the beginning of its error, for the end of a long log. */
export function failureLines(output = "") {
  const lines = output.split("\n");
  const errors = new Map();
  for (const [i, line] of lines.entries()) {
    if (!kFailureLine.test(line)) continue;
    const failure = line.trim();
    // The runner repeats failures at its end, and some versions report the error only there.
    if (!errors.get(failure)?.length) errors.set(failure, errorBelow(lines, i));
  }
  return [...errors].slice(0, kMostFailures).flat(2);
}

// Returns the first lines of the error that is reported below a line.
function errorBelow(lines, index) {
  if (!kErrorFollows.test(lines[index])) return [];
  const below = lines.slice(index + 1, index + 1 + 2 * kMostErrorLines);
  const end = below.findIndex((line) => kErrorEnds.test(line));
  const error = (end < 0 ? below : below.slice(0, end)).filter((line) => line.trim() !== "");
  return error.slice(0, kMostErrorLines).map((line) => `  ${line.trim()}`);
}
