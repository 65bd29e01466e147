// Finds Emscripten, or assembles one. `node scripts/building/toolchain.mjs` prints where it is.
//
// An emcc on PATH is used if it is new enough. Debian 12's is too old, so there the compiler of Debian 12 (clang 19) is
// combined with Emscripten and Binaryen of Debian 13, which are unpacked into the user's cache and never installed. The
// folder gets its final name in a single rename when it is complete; an interrupted bootstrap leaves only a temporary
// folder, which the next one removes.

import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { debianMirror, ensurePackages, isDebian } from "../machine/apt.mjs";
import { cacheFolder, expected, main, quiet, read, step } from "../process.mjs";

const kOldest = [3, 1, 69];
const kSuite = "trixie";
const kDebs = ["emscripten", "binaryen", "libc6", "libstdc++6", "libgcc-s1", "node-acorn"];
const kRecipe = 1; // increment when the steps below change their result

/** Returns Emscripten's folder; the first call on a machine may take half a minute. */
export async function ensureEmscripten() {
  const root = emscriptenOnPath();
  if (root) return root;
  if (!isDebian()) throw expected(kHowToInstall);
  await ensurePackages("wasm").catch((error) => {
    throw expected(`${error.message}\n${kHowToInstall}`);
  });
  const cache = cacheFolder();
  const prefix = join(cache, `emscripten-${kOldest.join(".")}-r${kRecipe}`);
  if (!existsSync(prefix)) await bootstrap(cache, prefix);
  return emscriptenIn(prefix);
}

/** Returns an environment in which CMake's wasm presets find Emscripten. */
export async function wasmEnvironment() {
  const root = await ensureEmscripten();
  // em++ is a script of Python: a python3 that only looks for the right Python (of pyenv) would do so for each file.
  const python = read("python3", ["-c", "import sys; print(sys.executable)"]);
  return { EMSDK_PYTHON: python ?? "", ...process.env, EMSCRIPTEN_ROOT: root };
}

/** Returns the folder of the tools of the Binaryen that Emscripten itself uses. */
export async function binaryenFolder() {
  const root = read(join(await ensureEmscripten(), "em-config"), ["BINARYEN_ROOT"]);
  return join(root, "bin");
}

function emscriptenOnPath() {
  const version = read("emcc", ["-dumpversion"])?.match(/^(\d+)\.(\d+)\.(\d+)/);
  if (!version || isOlder(version.slice(1).map(Number))) return null;
  return read("em-config", ["EMSCRIPTEN_ROOT"]);
}

function isOlder(version) {
  const at = version.findIndex((part, i) => part !== kOldest[i]);
  return at >= 0 && version[at] < kOldest[at];
}

async function bootstrap(cache, prefix) {
  console.log(
    `No Emscripten >= ${kOldest.join(".")} on PATH: assembling one in ${prefix} (once; ~2 GB)`,
  );
  mkdirSync(cache, { recursive: true });
  removeAbandoned(cache);
  const work = `${prefix}.partial-${process.pid}`;
  mkdirSync(join(work, "debs"), { recursive: true });
  try {
    await step(`fetch ${kDebs.join(", ")} of Debian 13`, () => fetchDebs(work));
    await step("unpack", () => unpack(work));
    await step("let Binaryen use its own libc", () => patchBinaryen(work, prefix));
    configure(work, prefix);
    moveInto(work, prefix);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  await step("check that em++ builds a program that runs", () => tryOut(prefix));
}

/** Removes folders left behind by interrupted bootstraps. */
function removeAbandoned(cache) {
  for (const name of readdirSync(cache)) {
    const pid = name.match(/\.partial-(\d+)$/)?.[1];
    if (pid && !isRunning(Number(pid))) rmSync(join(cache, name), { recursive: true });
  }
}

function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

// Uses a separate package list, so that the machine's sources and installed packages are not changed.
async function fetchDebs(work) {
  const folder = join(work, "debs");
  mkdirSync(join(folder, "lists", "partial"), { recursive: true });
  mkdirSync(join(folder, "archives", "partial"), { recursive: true });
  const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";
  const mirror = await debianMirror();
  if (!mirror) throw expected(`apt's sources contain no Debian mirror.\n${kHowToInstall}`);
  writeFileSync(
    join(folder, "sources.list"),
    `deb [signed-by=${keyring}] ${mirror} ${kSuite} main\n`,
  );
  const options = {
    "Dir::Etc::sourcelist": join(folder, "sources.list"),
    "Dir::Etc::sourceparts": "-",
    "Dir::State::Lists": join(folder, "lists"),
    "Dir::Cache": folder,
    "APT::Sandbox::User": "",
    "Acquire::Retries": "3",
  };
  const flags = Object.entries(options).flatMap(([key, value]) => ["-o", `${key}=${value}`]);
  await quiet("apt-get", ["-qq", ...flags, "update"]);
  await quiet("apt-get", ["-qq", ...flags, "download", ...kDebs], { cwd: folder });
}

async function unpack(work) {
  const debs = readdirSync(join(work, "debs")).filter((name) => name.endsWith(".deb"));
  for (const deb of debs) await quiet("dpkg", ["-x", join(work, "debs", deb), work]);
  rmSync(join(work, "debs"), { recursive: true });
}

// Binaryen is linked against a newer libc than the machine's.
async function patchBinaryen(work, prefix) {
  const folder = join(work, "usr", "bin");
  const triple = read("gcc", ["-print-multiarch"]) || "x86_64-linux-gnu";
  const libraries = join(prefix, "usr", "lib", triple);
  for (const name of readdirSync(folder).filter((name) => name.startsWith("wasm"))) {
    const tool = join(folder, name);
    const loader = read("patchelf", ["--print-interpreter", tool]);
    if (!loader) continue;
    await quiet("patchelf", [
      "--set-interpreter",
      join(libraries, basename(loader)),
      "--set-rpath",
      libraries,
      tool,
    ]);
  }
}

// Emscripten reads the `.emscripten` file next to em++, so no variable needs to be set.
function configure(work, prefix) {
  const root = emscriptenIn(work);
  mkdirSync(join(root, "node_modules"), { recursive: true });
  const acorn = join(root, "node_modules", "acorn");
  rmSync(acorn, { recursive: true, force: true });
  symlinkSync("../../nodejs/acorn", acorn);
  const config = {
    LLVM_ROOT: "'/usr/lib/llvm-19/bin'",
    BINARYEN_ROOT: `'${join(prefix, "usr")}'`,
    CACHE: `'${join(emscriptenIn(prefix), "cache")}'`,
    FROZEN_CACHE: "False",
    NODE_JS: "'node'",
  };
  const lines = Object.entries(config).map(([key, value]) => `${key} = ${value}\n`);
  writeFileSync(join(root, ".emscripten"), lines.join(""));
}

/** Renames the finished folder. If another process was faster, its folder is used. */
function moveInto(work, prefix) {
  try {
    renameSync(work, prefix);
  } catch (error) {
    if (!existsSync(prefix)) throw error;
  }
}

async function tryOut(prefix) {
  const folder = join(prefix, "try-out");
  mkdirSync(folder, { recursive: true });
  const source = join(folder, "hello.cpp");
  const program = join(folder, "hello.js");
  writeFileSync(source, '#include <cstdio>\nint main() { std::puts("works"); }\n');
  try {
    await quiet(join(emscriptenIn(prefix), "em++"), ["-O2", source, "-o", program]);
    if (!(await quiet("node", [program])).includes("works"))
      throw expected("hello.cpp printed unexpected output");
  } catch (error) {
    rmSync(prefix, { recursive: true, force: true });
    throw error;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function emscriptenIn(prefix) {
  return join(prefix, "usr", "share", "emscripten");
}

const kHowToInstall = `edgegrad needs Emscripten >= ${kOldest.join(".")}. Install it with emsdk (https://emscripten.org):
  git clone https://github.com/emscripten-core/emsdk && cd emsdk
  ./emsdk install latest && ./emsdk activate latest && source ./emsdk_env.sh`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await main(async () => {
    await ensurePackages("native");
    console.log(`Emscripten: ${await ensureEmscripten()}`);
  });
}
