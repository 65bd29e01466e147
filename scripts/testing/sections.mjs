// The sections of the tests: what each section runs, and whether it is part of `npm test` or only of `npm run test:all`.

import { nodeVariant } from "../build.mjs";
import { newerNode } from "../machine/newer_node.mjs";
import {
  debugPreset,
  kBorderTests,
  run,
  runFiles,
  runFolders,
  runNative,
  runPackageRows,
  runWasm,
  runWithChromium,
  runWithFirefox,
  runWithTorch,
  subfolders,
  testsOfDevices,
} from "./runners.mjs";

const kOnTestDevice = { EG_TEST_DEVICE: "1" };
const kOfBorder = { program: kBorderTests };
const ofDevice = () => ({ environment: kOnTestDevice, files: testsOfDevices() });
const kNode = process.execPath;

/**
 * `again` runs a failed file again, alone: tests that drive browsers, servers and processes may fail for reasons outside of this project.
 */
function section(group, title, work, { isQuick = false, again } = {}) {
  return { group, title, work, isQuick, again };
}

const again = (file) => runFiles(kNode, [file]);

// The folders of tests that depend on the WebAssembly variant or the version of Node.js. The tests in other folders call the same ops and
// functions from JavaScript that depends on neither; the variant's kernels are tested in C++, and a separate section tests npm's package in
// every version of Node.js.
const kOfOtherNode = ["data", "engine", "io"];

/** The tests of the tools around the package: the repository's commands, examples, and bundles of other tools. */
export const kOfTools = ["tests/js/package", "tests/js/project"];

function withoutTools() {
  return subfolders("tests/js").filter((folder) => !kOfTools.includes(folder));
}

const kRandomStarts = 20;
const kOfParts = ["tests/js/engine/parts.test.mjs", "tests/js/engine/parts_single.test.mjs"];

// Random calls, which differ in each run.
function fuzz(...options) {
  return run(kNode, "scripts/fuzz.mjs", "--minutes", "0.25", ...options);
}

// The variant that this Node.js does not select by default.
const kOtherVariant = nodeVariant() === "relaxed" ? "wasm-simd" : "wasm-relaxed";

/** All sections, in the order in which they run. */
export const kSections = [
  section("native", "C++ native, ASan + UBSan", () => runNative(debugPreset()), { isQuick: true }),
  section("native", "C++ native on the test device, ASan + UBSan", () =>
    runNative(debugPreset(), ofDevice()),
  ),
  section("native", "C++ native, TSan", () => runNative("native-tsan")),
  section("native", "C++ native on the test device, TSan", () =>
    runNative("native-tsan", ofDevice()),
  ),
  section("native", "bindings, native, ASan + UBSan", () => runNative(debugPreset(), kOfBorder), {
    isQuick: true,
  }),
  section("native", "bindings, native, TSan", () => runNative("native-tsan", kOfBorder)),
  section("wasm", "C++ wasm-single in Node", () => runWasm("wasm-single", kNode), {
    isQuick: true,
  }),
  section("wasm", `C++ ${kOtherVariant} in Node 24`, async () =>
    runWasm(kOtherVariant, await newerNode()),
  ),
  section("js", "package, all variants", () => run(kNode, "scripts/build.mjs"), { isQuick: true }),
  section("js", "JavaScript in Node", () => runFolders(kNode, ...withoutTools()), {
    isQuick: true,
  }),
  section("tools", "commands, examples and bundles in Node", () => runFolders(kNode, ...kOfTools)),
  section("js", "JavaScript in Node 24", async () =>
    runFolders(await newerNode(), ...kOfOtherNode.map((name) => `tests/js/${name}`)),
  ),
  section("js", `${kRandomStarts} random starts of the engine in parts`, () =>
    runFiles(kNode, kOfParts, { EG_STARTS: `${kRandomStarts}` }),
  ),
  section("fuzz", "the fuzzer itself", () => runFolders(kNode, "tests/fuzz")),
  section("fuzz", "a quarter of a minute of hostile values", () => fuzz()),
  section("fuzz", "a quarter of a minute of stress", () => fuzz("--stress")),
  section("fuzz", "a quarter of a minute of stress on WebGPU", () =>
    fuzz("--stress", "--device", "webgpu", "--variant", "simd"),
  ),
  section("browser", "JavaScript in Chromium", () => runWithChromium("tests/browser"), {
    isQuick: true,
    again,
  }),
  section("firefox", "JavaScript in Firefox", () => runWithFirefox("tests/browser/firefox"), {
    again,
  }),
  // Before the package and the site, whose list of ops takes what these have found.
  section("webgpu", "shaders in Node", () => runWithChromium("tests/webgpu")),
  section("webgpu", "the WebGPU device in Node", () => runWithChromium("tests/webgpu/device")),
  section("package", "the package as npm packs it", () => runPackageRows(), {
    again: (row) => runPackageRows("--only", row),
  }),
  section("python", "files that PyTorch and protobuf read and write", () =>
    runWithTorch("tests/python"),
  ),
  section("pytorch", "the bridge on which PyTorch's tests run", () =>
    runFolders(kNode, "tests/pytorch"),
  ),
  section("pytorch", "PyTorch's own tests", () => run(kNode, "tests/pytorch/run.mjs")),
  section("pytorch", "a tenth of those that pass on edgegrad.torch, in Pyodide", () =>
    run(kNode, "tests/pytorch/package/pyodide.mjs"),
  ),
  section(
    "federated",
    "federated training with a NATS server",
    () => runWithChromium("tests/federated"),
    { again },
  ),
  section(
    "distributed",
    "data-parallel training with a NATS server",
    () => runFolders(kNode, "tests/distributed"),
    { again },
  ),
  section("docs", "code and links of the docs", () => runWithChromium("tests/docs"), { again }),
  section("site", "the site", () => run(kNode, "scripts/site.mjs")),
  section("site", "the site in Chromium", () => runWithChromium("tests/site"), { again }),
  section(
    "check",
    "format, lint, types, layers",
    () => run(kNode, "scripts/check.mjs", "--quick"),
    {
      isQuick: true,
    },
  ),
  section("tidy", "clang-tidy", () => run(kNode, "scripts/check.mjs", "--tidy")),
];

/** The names of the groups of sections. */
export const kGroups = [...new Set(kSections.map(({ group }) => group))];
