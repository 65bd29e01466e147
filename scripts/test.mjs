// npm test: every test of the project, one section after the other, and a summary.
// `npm test -- --only native,js` runs only those sections.

import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { ensurePackages, isDebian } from "./apt.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { newerNode } from "./newer_node.mjs";
import { buildPreset } from "./preset.mjs";
import { CommandError, expected, isExpected, kRoot, main, seconds, showAnd } from "./process.mjs";

const kOnTestDevice = { EG_TEST_DEVICE: "1" };
const kBindings = "edgegrad_bindings_tests";

const kSections = {
  native: [
    ["C++ native, ASan + UBSan", () => runNative(debugPreset())],
    ["C++ native on the test device, ASan + UBSan", () => runNative(debugPreset(), kOnTestDevice)],
    ["C++ native, TSan", () => runNative("native-tsan")],
    ["C++ native on the test device, TSan", () => runNative("native-tsan", kOnTestDevice)],
    ["bindings, native, ASan + UBSan", () => runNative(debugPreset(), {}, kBindings)],
    ["bindings, native, TSan", () => runNative("native-tsan", {}, kBindings)],
  ],
  wasm: [
    ["C++ wasm-relaxed in Node 24", async () => runWasm("wasm-relaxed", await newerNode())],
    ["C++ wasm-single in Node", () => runWasm("wasm-single", process.execPath)],
  ],
  js: [
    ["package, all variants", () => run(process.execPath, "scripts/build.mjs")],
    ["JavaScript in Node", () => runNodeTests(process.execPath, ...rooms("tests/js"))],
    ["JavaScript in Node 24", async () => runNodeTests(await newerNode(), ...rooms("tests/js"))],
  ],
  fuzz: [
    ["the fuzzer itself", () => runNodeTests(process.execPath, "tests/fuzz")],
    ["a minute of hostile values", () => run(process.execPath, "scripts/fuzz.mjs")],
    ["a minute of stress", () => run(process.execPath, "scripts/fuzz.mjs", "--stress")],
    ["a minute of stress on WebGPU", stressOnWebGpu],
  ],
  browser: [["JavaScript in Chromium", () => runWithChromium("tests/browser")]],
  package: [
    [
      "the package as npm packs it",
      () => run(process.execPath, "scripts/pack_check.mjs", "--quick"),
    ],
  ],
  docs: [["code and links of the docs", () => runWithChromium("tests/docs")]],
  site: [
    ["the site", () => run(process.execPath, "scripts/site.mjs")],
    ["the site in Chromium", () => runWithChromium("tests/site")],
  ],
  webgpu: [
    ["shaders in Node", () => runWithChromium("tests/webgpu")],
    ["the WebGPU device in Node", () => runWithChromium("tests/webgpu/device")],
  ],
  check: [["format, lint, types, layers", () => run(process.execPath, "scripts/check.mjs")]],
};

// With a 32-bit size_t, as the product has, where that can be had; TSan is there for 64 bits alone.
function debugPreset() {
  return process.arch === "x64" && isDebian() ? "native-debug-32" : "native-debug";
}

// A part of the tests per core: sanitizers are slow, and most tests use one thread. At least two, because what the
// address sanitizer keeps of all tests is more than a process of 32 bits has room for.
async function runNative(preset, environment, program = "edgegrad_tests") {
  const folder = await buildPreset(preset, program);
  const shards = Math.max(2, availableParallelism());
  const runShard = (_, shard) => {
    const part = { GTEST_TOTAL_SHARDS: `${shards}`, GTEST_SHARD_INDEX: `${shard}` };
    return runWith({ ...environment, ...part }, join(folder, program), "--gtest_brief=1");
  };
  const outcomes = await Promise.allSettled(Array.from({ length: shards }, runShard));
  const failed = outcomes.find(({ status }) => status === "rejected");
  if (failed) throw failed.reason;
}

async function runWasm(preset, node) {
  const folder = await buildPreset(preset, "edgegrad_tests");
  await run(node, join(folder, "edgegrad_tests.js"), "--gtest_brief=1");
}

/** The folders in a folder, whose tests are together too many for one. */
function rooms(folder) {
  const entries = readdirSync(join(kRoot, folder), { withFileTypes: true });
  return entries.filter((one) => one.isDirectory()).map(({ name }) => join(folder, name));
}

async function runNodeTests(node, ...folders) {
  const files = folders.flatMap((folder) => {
    const names = readdirSync(join(kRoot, folder)).filter((name) => name.endsWith(".test.mjs"));
    return names.map((name) => join(folder, name));
  });
  if (files.length === 0) throw expected(`no tests in ${folders.join(", ")}`);
  const options = ["--expose-gc", "--test", "--test-reporter=spec", "--test-concurrency=1"];
  await run(node, ...options, ...files);
}

function stressOnWebGpu() {
  const options = ["--stress", "--device", "webgpu", "--variant", "simd"];
  return run(process.execPath, "scripts/fuzz.mjs", ...options);
}

// With what Chromium brings along: pages, or its software renderer.
async function runWithChromium(folder) {
  await ensurePackages("browser");
  if (!existsSync(join(kRoot, "dist", "index.js")))
    await run(process.execPath, "scripts/build.mjs");
  await runNodeTests(process.execPath, folder);
}

// What hangs fails, and the sections after it still run.
const kMostMinutes = 30;

function run(command, ...args) {
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
  if (status === 0) return;
  throw new CommandError(args[0] ? `${command} ${args[0]}` : command, status, output);
}

// What the runners print of a failure: GoogleTest, the sanitizers, node:test, scripts/check.mjs, scripts/fuzz.mjs.
const kTelling =
  /\[ {2}FAILED|: Failure$|^SUMMARY: |Sanitizer: |^\s*✖|: failed \(|^finding: |^ +npm run fuzz /;
const kMostLines = 12;

/** The lines that say what failed, for the end of a long log. */
function tellingLines(output = "") {
  const lines = output.split("\n").filter((line) => kTelling.test(line));
  return [...new Set(lines.map((line) => line.trim()))].slice(0, kMostLines);
}

async function runSection([title, work]) {
  console.log(`\n== ${title}`);
  const start = performance.now();
  let failure = null;
  try {
    await work();
  } catch (error) {
    failure = error;
    console.error(isExpected(error) ? error.message : error);
  }
  return { title, time: seconds(start), failure };
}

function wantedSections() {
  const { only } = parseArgs({ options: { only: { type: "string" } } }).values;
  if (only === undefined) return Object.values(kSections).flat();
  return only.split(",").flatMap((name) => {
    if (kSections[name]) return kSections[name];
    throw expected(`--only takes a list of ${Object.keys(kSections).join(", ")}`);
  });
}

await main(async () => {
  const sections = wantedSections();
  await ensureNodeModules();
  const results = [];
  for (const section of sections) results.push(await runSection(section));
  console.log("\n== Summary");
  for (const { title, time, failure } of results) {
    console.log(`  ${failure ? "FAILED" : "passed"}  ${time.padStart(8)}  ${title}`);
  }
  const failed = results.filter(({ failure }) => failure);
  for (const { title, failure } of failed) {
    console.log(`\n${title}: ${failure.message}`);
    for (const line of tellingLines(failure.output)) console.log(`  ${line}`);
  }
  return failed.length ? 1 : 0;
});
