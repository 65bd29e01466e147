// The contents of dist/: what bundlers need, and nothing that makes them hang or warn.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { describe, test } from "node:test";
import {
  kAddonFolders,
  kAddons,
  kAddonsWithFiles,
  kAddonsWithWorker,
  kNodeModulesOfAddon,
  kPeersOfAddon,
} from "../../../scripts/addons.mjs";
import { gzipped } from "../../../scripts/building/bundles.mjs";
import { namespaceEntries } from "../../../scripts/building/namespaces.mjs";
import { addonEntryFiles, addonLaterFiles } from "../../../scripts/building/web_build.mjs";
import { eg } from "../support/engine.mjs";
import { kRoot, readJson } from "../support/files.mjs";

const kWasm = readdirSync(`${kRoot}dist/wasm`).map((name) => `wasm/${name}`);
const kScripts = ["index.js", ...kWasm]
  .filter((name) => /\.m?js$/.test(name))
  .map((name) => ({ name, text: readFileSync(`${kRoot}dist/${name}`, "utf8") }));
const [, ...kModules] = kScripts;

// The other form of the package, which bundlers find through the export condition "module".
const kFolders = ["wasm", "single", "namespaces", ...kAddonFolders];
const kElsewhere = new RegExp(`^(${kFolders.join("|")})\\b`);
const kSources = readdirSync(`${kRoot}dist`, { recursive: true })
  .filter((name) => name.endsWith(".js") && name !== "index.js" && !kElsewhere.test(name))
  .map((name) => ({ name, text: readFileSync(`${kRoot}dist/${name}`, "utf8") }));
const kAddresses = ["index.js", "files.js"].map((name) => ({
  name,
  text: readFileSync(`${kRoot}dist/${name}`, "utf8"),
}));

describe("the package's scripts", () => {
  test("are no workers of themselves, on which Turbopack never ends", () => {
    assert.ok(kModules.length > 0);
    for (const { name, text } of kModules) assert.ok(!text.includes("new Worker"), name);
  });

  for (const { name, text } of kAddresses) {
    test(`have workers that bundlers recognize, each with a name of its own: ${name}`, () => {
      const workers = [
        ...text.matchAll(
          /new Worker\(\s*new URL\(\s*"(\.\/wasm\/[\w-]+\.mjs)",\s*import\.meta\.url\s*\),\s*\{[^}]*name:\s*"([\w-]+)"[^}]*\}\s*\)/g,
        ),
      ];
      const scripts = workers.map(([, script]) => script);
      assert.deepEqual(scripts, ["./wasm/edgegrad-relaxed.mjs", "./wasm/edgegrad-simd.mjs"]);
      // webpack puts workers with the same name into one file, which would then start both.
      assert.equal(new Set(workers.map(([, , name]) => name)).size, 2);
    });
  }

  test("name no global of Node's, for which Parcel installs a substitute", () => {
    for (const { name, text } of kScripts) {
      assert.doesNotMatch(text, /(?<![\w.$])process\s*(\.|\?\.|==)/, name);
    }
  });

  test("import nothing by a name that only Node knows, and mark what is known at run time only", () => {
    for (const { name, text } of kScripts) {
      for (const [, argument] of text.matchAll(/\bimport\s*\(([^)]*)\)/g)) {
        if (/^\s*"\.\//.test(argument)) continue;
        for (const mark of ["@vite-ignore", "webpackIgnore:", "turbopackIgnore:"]) {
          assert.ok(argument.includes(mark), `${name}: import(${argument})`);
        }
      }
      assert.doesNotMatch(text, /\bimport\s*[\w*{"'][^;]*\bfrom\s*["']/, name);
    }
  });
});

describe("edgegrad/single", () => {
  const textOf = (name) => readFileSync(`${kRoot}dist/single/${name}.js`, "utf8");

  test("imports its script statically, and nothing later; it has no workers", () => {
    const text = textOf("index");
    assert.match(text, /\bimport \w+ from"\.\.\/wasm\/edgegrad-single\.mjs"/);
    assert.doesNotMatch(text, /\bimport\s*\(|new Worker\(|edgegrad-(?:relaxed|simd)/);
  });

  test("at the edge is the same, with its WebAssembly file", () => {
    const text = textOf("edge");
    assert.match(text, /\bimport \w+ from"\.\.\/wasm\/edgegrad-single\.wasm\?module"/);
    assert.match(text, /\bexport\*from"\.\/index\.js"/);
  });
});

describe("entries of namespaces", () => {
  const entries = namespaceEntries().map(({ name }) => name);
  const hasMembers = (value) => Object.values(value).some((one) => typeof one === "function");

  test("are all namespaces that the package exports", () => {
    const namespaces = Object.entries(eg).filter(
      ([name, value]) => name === "fft" || (typeof value === "object" && hasMembers(value)),
    );
    assert.deepEqual(namespaces.map(([name]) => name).sort(), entries);
  });

  for (const name of entries) {
    test(`edgegrad/${name} has the members of eg.${name}`, async () => {
      const entry = await import(`edgegrad/${name}`);
      assert.deepEqual(Object.keys(entry), Object.keys(eg[name]).sort());
      for (const member of Object.keys(entry)) assert.equal(entry[member], eg[name][member]);
      const { types } = readJson("package.json").exports[`./${name}`];
      assert.match(readFileSync(`${kRoot}${types}`, "utf8"), /\bexport\b/);
    });
  }
});

// The most kB of each add-on after gzip.
const kMostOfAddon = {
  distributed: 12,
  federated: 24,
  onnx: 50,
  metrics: 3,
  peft: 9,
  pyodide: 5.3,
  transformers: 35,
  vis: 14,
};

// The most kB of the files that add-ons load later.
const kMostLater = {
  distributed: 7,
  // Rollouts of revisions are 3 kB of it.
  federated: 29,
  metrics: 0,
  onnx: 50,
  // The writer of GGUF files.
  peft: 3,
  pyodide: 0,
  // Files of GGUF, GPTQ, AWQ and bitsandbytes are 13 kB of it, and Gemma 3 with images 2 kB.
  transformers: 70,
  vis: 56,
};

describe("add-ons", () => {
  for (const name of kAddons) {
    const textOf = (file) => readFileSync(`${kRoot}dist/${file}`, "utf8");

    test(`edgegrad/${name} imports the package by name, and otherwise only its own files`, () => {
      for (const file of readdirSync(`${kRoot}dist/${name}`).filter((one) => one.endsWith(".js"))) {
        const text = textOf(`${name}/${file}`);
        const from = [...text.matchAll(/\b(?:import|from) ?\(?"([^"]*)"/g)].map(([, path]) => path);
        const packages = [...(kPeersOfAddon[name] ?? []), ...(kNodeModulesOfAddon[name] ?? [])];
        const known = ["edgegrad", ...packages];
        const others = from.filter(
          (path) => !known.includes(path) && !/^\.\/[\w-]+\.js$/.test(path),
        );
        assert.deepEqual(others, [], file);
        // Bundlers of pages would follow it into modules of Node.
        assert.doesNotMatch(text, /import\("@nats-io\/transport-node"\)/, file);
        if (kAddonsWithFiles.includes(name)) {
          // Bundlers copy the file that such an expression names.
          assert.match(text, /new URL\("\.\/[\w.-]+\.whl", ?import\.meta\.url\)/);
        } else if (!kAddonsWithWorker.includes(name)) {
          assert.doesNotMatch(text, /import\.meta|new Worker\(/, file);
        }
      }
    });

    for (const [when, filesOf, most] of [
      ["first", addonEntryFiles, kMostOfAddon],
      ["later", addonLaterFiles, kMostLater],
    ]) {
      test(`edgegrad/${name} is within its size: what is loaded ${when}`, (t) => {
        const size = filesOf(name).reduce((sum, file) => sum + gzipped(textOf(file)), 0);
        t.diagnostic(`${(size / 1000).toFixed(1)} kB`);
        assert.ok(size <= most[name] * 1000, `${size} bytes`);
      });
    }

    test(`edgegrad/${name} is an entry of package.json, with declarations`, () => {
      const entry = readJson("package.json").exports[`./${name}`];
      assert.deepEqual(entry, {
        types: `./dist/${name}/index.d.ts`,
        default: `./dist/${name}/index.js`,
      });
      assert.match(readFileSync(`${kRoot}${entry.types}`, "utf8"), /\bexport\b/);
    });
  }
});

describe("the modules that bundlers take", () => {
  test("import nothing but each other, and say in one of them where files are", () => {
    assert.ok(kSources.length > 300);
    for (const { name, text } of kSources) {
      for (const [, from] of text.matchAll(/^(?:import|export)\b[^;]*?\bfrom "([^"]*)"/gm)) {
        assert.match(from, /^\.\.?\/.*\.js$/, name);
      }
      if (name === "files.js") continue;
      assert.doesNotMatch(text, /\bimport\s*\(|import\.meta|new Worker\(/, name);
    }
  });

  test("are those of package.json, and do nothing that it does not say", () => {
    const { exports, sideEffects } = readJson("package.json");
    assert.equal(exports["."].module, "./dist/index.modules.js");
    assert.deepEqual(sideEffects, ["./dist/vis/index.js", "./dist/wasm/*"]);
    const [index] = kSources.filter(({ name }) => name === "index.modules.js");
    assert.match(index.text, /^(?:(?:import|export) [^;]*;\s*)+$/);
  });
});
