// THIRD_PARTY_NOTICES.md names everything in dist/ that other projects wrote, and their notices are complete.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { build } from "esbuild";
import { kAddons, kPeersOfAddon } from "../../../scripts/addons.mjs";
import { kVariants } from "../../../scripts/build.mjs";
import { kWebBundle } from "../../../scripts/building/web_bundle.mjs";
import { cacheFolder } from "../../../scripts/process.mjs";
import { kRoot, readJson } from "../support/files.mjs";

const kName = "THIRD_PARTY_NOTICES.md";
const notices = readFileSync(join(kRoot, kName), "utf8");
const listed = Array.from(notices.matchAll(/^\| \[([^\]]+)\]/gm), ([, name]) => name);

/** Returns the section of a project, or undefined. */
const sectionOf = (name) => notices.split(/^## /m).find((part) => part.startsWith(`${name}\n`));

// Headers that belong to the compiler, the C library, the C++ library or Emscripten.
const kSystemHeader =
  /^(?:[a-z_]+|emscripten\/\w+\.h|sys\/\w+\.h|(?:pthread|unistd)\.h|\w*mm?intrin\.h|wasm_simd128\.h)$/;

// The project that a library of Emscripten's system comes from, by the library's name without the suffixes of its variants.
const kLibraries = {
  "libc++": "LLVM",
  "libc++abi": "LLVM",
  libunwind: "LLVM",
  libcompiler_rt: "LLVM",
  libc: "musl",
  libbulkmemory: "Emscripten",
  libembind: "Emscripten",
  libnoexit: "Emscripten",
  libstubs: "Emscripten",
};

/** Returns the files of a folder with one of these extensions. */
function filesIn(folder, pattern) {
  const names = readdirSync(join(kRoot, folder), { recursive: true });
  return names.filter((name) => pattern.test(name)).map((name) => join(kRoot, folder, name));
}

/** Returns the folder of Emscripten's copy of musl if scripts/building/toolchain.mjs has installed it, else null. */
function findMusl() {
  if (!existsSync(cacheFolder())) return null;
  const folders = readdirSync(cacheFolder()).filter((name) => /^emscripten-[\w.-]+$/.test(name));
  const paths = folders.map((name) =>
    join(cacheFolder(), name, "usr/share/emscripten/system/lib/libc/musl"),
  );
  return paths.find((path) => existsSync(path)) ?? null;
}

/** Returns the path of a linker map that `npm run size` has written, if there is one. */
function findMap() {
  const paths = kVariants.map((variant) =>
    join(kRoot, "build", `size-${variant}`, `edgegrad-${variant}-named.map`),
  );
  return paths.find((path) => existsSync(path)) ?? null;
}

const musl = findMusl();
const map = findMap();

describe(kName, () => {
  test("is in the package", () => assert.ok(readJson("package.json").files.includes(kName)));

  test("has a section with a notice for every project in its table", () => {
    assert.ok(listed.length >= 5);
    for (const name of listed)
      assert.match(sectionOf(name) ?? "", /```text\n[\s\S]*Copyright|LLVM Exceptions/, name);
  });

  test("lists every npm package that is bundled into dist/", async () => {
    const addons = kAddons.map((name) => `web/${name}/index.ts`);
    const entryPoints = ["web/src/one_file.ts", "web/src/webgpu/index.ts", ...addons];
    const peers = Object.values(kPeersOfAddon).flat();
    const { metafile } = await build({
      absWorkingDir: kRoot,
      entryPoints,
      bundle: true,
      write: false,
      metafile: true,
      outdir: "dist",
      format: "esm",
      platform: "neutral",
      external: [...kWebBundle.external, ...peers],
      mainFields: ["module", "main"],
      loader: kWebBundle.loader,
      logLevel: "error",
    });
    const inputs = Object.keys(metafile.inputs).filter((path) => !path.startsWith("web/"));
    const packages = inputs.map((path) => path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)/)?.[1]);
    const missing = packages.filter((name) => !listed.includes(name));
    assert.deepEqual([...new Set(missing)], []);
  });

  test("covers the libraries whose headers the engine includes", () => {
    const files = ["src", "bindings"].flatMap((folder) => filesIn(folder, /\.(h|cpp)$/));
    assert.ok(files.length > 300);
    const foreign = files.flatMap((file) => {
      const headers = readFileSync(file, "utf8").matchAll(/^\s*#\s*include <([^>]+)>/gm);
      return Array.from(headers, ([, header]) => header).filter(
        (header) => !kSystemHeader.test(header) && !listed.includes(header.split("/")[0]),
      );
    });
    assert.deepEqual([...new Set(foreign)], []);
  });

  test("covers what is linked: no port of Emscripten, no library but ours and the system's", () => {
    const files = [join(kRoot, "CMakeLists.txt"), ...filesIn("cmake", /\.cmake$/)];
    const text = files.map((file) => readFileSync(file, "utf8").replace(/#.*$/gm, "")).join("\n");
    assert.doesNotMatch(text, /--use-port|-sUSE_\w+/);
    assert.deepEqual(
      Array.from(text.matchAll(/\s-l([\w.]+)/g), ([, name]) => name),
      ["exports.js"],
    );
    const packages = Array.from(text.matchAll(/find_package\((\w+)/g), ([, name]) => name);
    assert.deepEqual(packages, ["GTest", "Threads"]); // GTest is in tests only
  });

  test("covers every system library in the linker's map", {
    skip: map ? false : "no map: npm run size",
  }, () => {
    const paths = readFileSync(map, "utf8").matchAll(/\/(lib[\w+]+)[\w-]*\.a\(/g);
    const names = new Set(Array.from(paths, ([, name]) => name));
    names.delete("libedgegrad_core");
    assert.ok(names.size > 0);
    for (const name of names) assert.ok(sectionOf(kLibraries[name]), `${name} is in no section`);
  });

  test("has musl's notices as its sources have them", {
    skip: musl ? false : "Emscripten is not in the cache",
  }, () => {
    const section = sectionOf("musl");
    assert.ok(section.includes(readFileSync(join(musl, "COPYRIGHT"), "utf8").trim()));
    for (const file of ["acos.c", "erf.c", "__tan.c", "fmaf.c", "exp.c"]) {
      const text = readFileSync(join(musl, "src/math", file), "utf8");
      const [notice] = text.match(/\/\*(?:(?!\*\/)[\s\S])*Copyright[\s\S]*?\*\//);
      assert.ok(section.includes(notice), file);
    }
  });
});
