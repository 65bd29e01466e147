// The tarball itself: what is in it, and what the tools for that think of it.

import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { kVariants } from "../../../scripts/build.mjs";
import { kRoot } from "../../../scripts/process.mjs";
import { runTool } from "../running.mjs";
import { versionOf } from "../tools.mjs";

const manifest = JSON.parse(readFileSync(join(kRoot, "package.json"), "utf8"));

const kScripts = [
  "index.js",
  "wasm/edgegrad-webgpu.js",
  ...kVariants.flatMap((variant) => [
    `wasm/edgegrad-${variant}.mjs`,
    `wasm/edgegrad-${variant}.wasm`,
  ]),
];
const kMaps = ["index.js.map", "wasm/edgegrad-webgpu.js.map"];
const kTexts = ["CHANGELOG.md", "LICENSE", "README.md", "package.json"];

/** Files of a folder and those below, with "/" between folders. */
function filesOf(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      posix.join(entry.parentPath.slice(folder.length), entry.name).replace(/^\//, ""),
    )
    .sort();
}

function expectedFiles() {
  const sources = filesOf(join(kRoot, "web", "src"))
    .filter((name) => name.endsWith(".ts") && !name.endsWith(".d.ts"))
    .map((name) => name.replace(/\.ts$/, ""));
  const types = sources.map((name) => `${name}.d.ts`);
  const docs = filesOf(join(kRoot, "docs")).filter((name) => name.endsWith(".md"));
  const dist = [...kScripts, ...kMaps, ...types, ...modulesOf(sources)].map(
    (name) => `dist/${name}`,
  );
  return [...kTexts, ...docs.map((name) => `docs/${name}`), ...dist].sort();
}

/** What bundlers are given: a module for every source but those of the files that are one. */
function modulesOf(sources) {
  return sources
    .filter((name) => name !== "one_file" && !name.startsWith("webgpu/"))
    .map((name) => (name === "index" ? "index.modules.js" : `${name}.js`));
}

/** The links of a Markdown file that are neither addresses nor places in itself. */
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
    title: "complete, no other files, no dead links",
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
    async run({ projects, tarball }) {
      const folder = await projects.with("publint", "@arethetypeswrong/cli");
      const output = await runTool(folder, "publint", "run", tarball, "--strict");
      assert.match(output, /All good!/);
    },
  },
  {
    id: "attw",
    group: "Are the types wrong?",
    title: "no problems",
    quick: true,
    version: () => versionOf("@arethetypeswrong/cli"),
    async run({ projects, tarball }) {
      const folder = await projects.with("publint", "@arethetypeswrong/cli");
      // That rule is for Node before 20.19, where require() of a module does not work.
      await runTool(folder, "attw", tarball, "--ignore-rules", "cjs-resolves-to-esm");
    },
  },
];
