// The tarball itself: its contents, and the reports of tools that check packages.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { kAddonFolders, kAddons } from "../../../scripts/addons.mjs";
import { kVariants } from "../../../scripts/build.mjs";
import { namespaceEntries } from "../../../scripts/building/namespaces.mjs";
import { kRoot } from "../../../scripts/process.mjs";
import { runTool } from "../running.mjs";
import { versionOf } from "../tools.mjs";

const manifest = JSON.parse(readFileSync(join(kRoot, "package.json"), "utf8"));

// The files of a variant, which may be several.
const kOfVariants = new RegExp(`^edgegrad-(?:${kVariants.join("|")})(?:\\.\\w+)?\\.(?:mjs|wasm)$`);
const kScripts = [
  "index.js",
  "single/index.js",
  "single/edge.js",
  ...namespaceEntries().flatMap(({ name }) => [
    `namespaces/${name}.js`,
    `namespaces/${name}.modules.js`,
  ]),
  ...kAddons.flatMap(scriptsOfAddon),
  "wasm/edgegrad-webgpu.js",
  ...filesOf(join(kRoot, "dist", "wasm"))
    .filter((name) => kOfVariants.test(name))
    .map((name) => `wasm/${name}`),
];
const kMaps = ["index.js.map", "wasm/edgegrad-webgpu.js.map"];
const kTexts = ["CHANGELOG.md", "LICENSE", "README.md", "THIRD_PARTY_NOTICES.md", "package.json"];

/** Returns the scripts of an add-on: its entry, and those that it loads later. */
function scriptsOfAddon(name) {
  const files = filesOf(join(kRoot, "dist", name)).filter((file) => /^[\w-]+\.js$/.test(file));
  assert.ok(files.includes("index.js"));
  return files.map((file) => `${name}/${file}`);
}

/** Returns the files of a folder and its subfolders, with "/" between folders. */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      posix.join(entry.parentPath.slice(folder.length), entry.name).replace(/^\//, ""),
    )
    .sort();
}

/** Returns the names of a folder's sources without their endings. */
function sourcesOf(folder) {
  return filesOf(join(kRoot, "web", folder))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => name.replace(/\.ts$/, ""));
}

// Sources of the WebGPU script alone, which is one file and has no declarations.
const kOfWebGpu = /^(?:webgpu\/|generated\/stream$)/;

function expectedFiles() {
  const sources = sourcesOf("src").filter((name) => !kOfWebGpu.test(name));
  const ofAddons = kAddonFolders.flatMap((folder) =>
    sourcesOf(folder).map((name) => `${folder}/${name}`),
  );
  const types = [...sources, ...ofAddons].map((name) => `${name}.d.ts`);
  const docs = filesOf(join(kRoot, "docs")).filter((name) => /\.(?:md|webp)$/.test(name));
  const wheel = `pyodide/edgegrad-${manifest.version}-py3-none-any.whl`;
  const dist = [...kScripts, ...kMaps, wheel, ...types, ...modulesOf(sources)].map(
    (name) => `dist/${name}`,
  );
  const programs = filesOf(join(kRoot, "bin")).map((name) => `bin/${name}`);
  return [...kTexts, ...programs, ...docs.map((name) => `docs/${name}`), ...dist].sort();
}

/** Returns the modules for bundlers: one for every source except those that are bundled into a single file. */
function modulesOf(sources) {
  return sources
    .filter((name) => name !== "one_file" && !name.startsWith("single/"))
    .map((name) => (name === "index" ? "index.modules.js" : `${name}.js`));
}

/** Returns the links of a Markdown file that are neither URLs nor anchors. */
function linksOf(text) {
  const links = [...text.matchAll(/\]\(([^)\s#]+)[^)]*\)/g)].map(([, link]) => link);
  return links.filter((link) => !/^\w+:/.test(link));
}

function assertLinks(installed, files) {
  for (const file of files.filter((name) => name.endsWith(".md"))) {
    for (const link of linksOf(readFileSync(join(installed, file), "utf8"))) {
      const target = join(installed, dirname(file), link);
      assert.ok(existsSync(target), `${file} links to ${link}, which is not in the tarball`);
    }
  }
}

export const kTarballRows = [
  {
    id: "files",
    group: "The tarball",
    title: "complete, no other files, no links to missing files",
    quick: true,
    version: () => manifest.version,
    async run({ projects }) {
      const installed = join(await projects.with(), "node_modules", "edgegrad");
      const files = filesOf(installed);
      assert.deepEqual(files, expectedFiles());
      assertLinks(installed, files);
    },
  },
  {
    id: "publint",
    group: "publint",
    title: "no problems",
    quick: true,
    version: () => versionOf("publint"),
    async run({ projects, tarball, starter }) {
      const folder = await projects.with("publint", "@arethetypeswrong/cli");
      for (const packed of [tarball, starter]) {
        const output = await runTool(folder, "publint", "run", packed, "--strict");
        assert.match(output, /All good!/);
      }
    },
  },
  {
    id: "attw",
    group: "Are the types wrong?",
    title: "no",
    quick: true,
    version: () => versionOf("@arethetypeswrong/cli"),
    async run({ projects, tarball }) {
      const folder = await projects.with("publint", "@arethetypeswrong/cli");
      // This rule is for Node.js before 20.19, in which require() does not support modules.
      const rules = ["--ignore-rules", "cjs-resolves-to-esm"];
      // TypeScript's oldest rules do not know "exports"; with them, only the main entry is found.
      const namespaces = namespaceEntries().map(({ name }) => name);
      const others = ["single", "vite", ...namespaces, ...kAddons];
      await runTool(folder, "attw", tarball, ...rules, "--exclude-entrypoints", ...others);
      const newer = ["--profile", "node16"];
      await runTool(folder, "attw", tarball, ...rules, "--entrypoints", ...others, ...newer);
    },
  },
];
