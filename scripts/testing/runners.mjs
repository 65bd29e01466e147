// How tests are run: commands that print as they go, and what their runners say at the end.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { ensurePackages, isDebian } from "../apt.mjs";
import { buildPreset } from "../preset.mjs";
import { CommandError, expected, kRoot, showAnd } from "../process.mjs";

// What hangs fails, and the sections after it still run.
const kMostMinutes = 30;

/** With a 32-bit size_t, as the product has, where that can be had; TSan is there for 64 bits alone. */
export function debugPreset() {
  return process.arch === "x64" && isDebian() ? "native-debug-32" : "native-debug";
}

export const kEngineTests = "edgegrad_tests";
export const kBorderTests = "edgegrad_bindings_tests";

/**
 * Builds a program of C++ tests natively and runs it: a part of the tests per core, for sanitizers are slow, and most tests
 * use one thread. At least two, because what the address sanitizer keeps of all tests is more than a process of 32 bits has
 * room for. `filter` is GoogleTest's.
 */
export async function runNative(preset, { environment, program = kEngineTests, filter } = {}) {
  const folder = await buildPreset(preset, program);
  const shards = filter === undefined ? Math.max(2, availableParallelism()) : 1;
  const runShard = (_, shard) => {
    const part = { GTEST_TOTAL_SHARDS: `${shards}`, GTEST_SHARD_INDEX: `${shard}` };
    return runWith({ ...environment, ...part }, join(folder, program), ...gtestOptions(filter));
  };
  const outcomes = await Promise.allSettled(Array.from({ length: shards }, runShard));
  return passedOf(outcomes);
}

/** Builds the C++ tests as WebAssembly and runs them in a Node. */
export async function runWasm(preset, node) {
  const folder = await buildPreset(preset, kEngineTests);
  return run(node, join(folder, `${kEngineTests}.js`), ...gtestOptions());
}

function gtestOptions(filter) {
  return ["--gtest_brief=1", ...(filter === undefined ? [] : [`--gtest_filter=${filter}`])];
}

/** The folders in a folder, whose tests are together too many for one. */
export function rooms(folder) {
  const entries = readdirSync(join(kRoot, folder), { withFileTypes: true });
  return entries.filter((one) => one.isDirectory()).map(({ name }) => join(folder, name));
}

/** Runs the files of tests that lie in folders, in a Node. */
export async function runFolders(node, ...folders) {
  const files = folders.flatMap((folder) => {
    const names = readdirSync(join(kRoot, folder)).filter((name) => name.endsWith(".test.mjs"));
    return names.map((name) => join(folder, name));
  });
  if (files.length === 0) throw expected(`no tests in ${folders.join(", ")}`);
  return runFiles(node, files);
}

// Files that fail beside others, and what they need the machine for. They run last, one by one.
const kAlone = {
  "tests/js/engine/spawn_waiting.test.mjs": "workers must start within 200 ms",
};

/** Runs files of tests in a Node: as many at once as there are cores, and then those of kAlone. */
export async function runFiles(node, files) {
  const isAlone = (file) => file in kAlone;
  const passes = [
    [files.filter((file) => !isAlone(file)), availableParallelism()],
    [files.filter(isAlone), 1],
  ];
  const options = ["--expose-gc", "--test", "--test-reporter=spec"];
  const outcomes = [];
  for (const [some, atOnce] of passes.filter(([some]) => some.length > 0)) {
    const work = run(node, ...options, `--test-concurrency=${atOnce}`, ...some);
    outcomes.push(...(await Promise.allSettled([work])));
  }
  return passedOf(outcomes);
}

/** Makes sure of what tests need that Chromium brings along: pages, or its software renderer. */
export function prepareChromium() {
  return prepareBrowser("browser");
}

/** Makes sure of what tests of pages in Firefox need. */
export function prepareFirefox() {
  return prepareBrowser("firefox");
}

async function prepareBrowser(packages) {
  await ensurePackages(packages);
  if (!existsSync(join(kRoot, "dist", "index.js")))
    await run(process.execPath, "scripts/build.mjs");
}

/** Runs the tests of a folder that need Chromium. */
export async function runWithChromium(folder) {
  await prepareChromium();
  return runFolders(process.execPath, folder);
}

/** Runs the tests of a folder that need Firefox. */
export async function runWithFirefox(folder) {
  await prepareFirefox();
  return runFolders(process.execPath, folder);
}

/** The suites in files of C++ tests, as GoogleTest's filter. */
export function filterOf(files) {
  const suites = files.flatMap((file) =>
    Array.from(
      readFileSync(join(kRoot, file), "utf8").matchAll(/^(?:TYPED_)?TEST(?:_[FP])?\(\s*(\w+)/gm),
      ([, suite]) => `${suite}.*:*/${suite}.*:${suite}/*`,
    ),
  );
  return [...new Set(suites)].join(":");
}

/** Runs a command on this terminal; resolves to how many tests its runner says have passed, null where it does not say. */
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
  throw new CommandError(args[0] ? `${command} ${args[0]}` : command, status, output);
}

// The closing lines of GoogleTest, node:test and scripts/check.mjs.
const kPassed = /^\[ {2}PASSED {2}\] (\d+) tests?\.|^ℹ pass (\d+)|^(\d+) passed, \d+ failed/gm;

function passedIn(output) {
  const counts = Array.from(output.matchAll(kPassed), (match) =>
    Number(match[1] ?? match[2] ?? match[3]),
  );
  return counts.length === 0 ? null : totalOf(counts);
}

// Of runs that have all ended, whatever became of them.
function passedOf(outcomes) {
  const failed = outcomes.find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
  return totalOf(outcomes.map(({ value }) => value));
}

function totalOf(counts) {
  return counts.reduce((sum, count) => sum + (count ?? 0), 0);
}

// What the runners print of a failure: GoogleTest, the sanitizers, node:test, scripts/check.mjs, scripts/fuzz.mjs.
const kTelling =
  /\[ {2}FAILED|: Failure$|^SUMMARY: |Sanitizer: |^\s*✖|: failed \(|^finding: |^ +npm run fuzz |EG_TEST_SEED=/;
const kMostLines = 12;

/** The lines that say what failed, for the end of a long log. */
export function tellingLines(output = "") {
  const lines = output.split("\n").filter((line) => kTelling.test(line));
  return [...new Set(lines.map((line) => line.trim()))].slice(0, kMostLines);
}
