// What `npm pack` puts into the package: every file belongs to a group, and no group grows unnoticed.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { before, describe, test } from "node:test";
import { promisify } from "node:util";
import { kAddons } from "../../../scripts/addons.mjs";
import { kVariants } from "../../../scripts/build.mjs";
import { kRoot } from "../support/files.mjs";

const kAnyVariant = `edgegrad-(?:${kVariants.join("|")})(?:\\.\\w+)?`;

const kAnyAddon = `(?:${kAddons.join("|")})`;

// The groups of files by their paths, with the most kilobytes that each may have.
const kGroups = {
  "engine, WebAssembly": { path: new RegExp(`^dist/wasm/${kAnyVariant}\\.wasm$`), most: 14800 },
  "engine, scripts": { path: new RegExp(`^dist/wasm/${kAnyVariant}\\.mjs$`), most: 100 },
  "WebGPU, script": { path: /^dist\/wasm\/edgegrad-webgpu\.js$/, most: 350 },
  "the package as one file": { path: /^dist\/(?:single\/)?index\.js$/, most: 1510 },
  "the package as modules": {
    path: new RegExp(`^dist/(?!(?:wasm|${kAnyAddon})/)(?!(?:single/)?index\\.js$).*\\.js$`),
    most: 1660,
  },
  // Files of GGUF and of other tools that quantize are 45 kB of it, all loaded when such a file is opened.
  "add-ons": { path: new RegExp(`^dist/${kAnyAddon}/[\\w-]+\\.js$`), most: 900 },
  // The Python package of edgegrad/pyodide, which only programs in Python fetch. What PyTorch's tests found missing is 32 kB of it (12 for copies and
  // states of optimizers and schedulers, orthogonal weights and the older norms), and the stubs that editors read are 30 kB.
  wheel: { path: /^dist\/pyodide\/edgegrad-[\w.]+-py3-none-any\.whl$/, most: 198 },
  declarations: { path: /^dist\/(?!wasm\/).*\.d\.ts$/, most: 1715 },
  "source maps": { path: /^dist\/(?:index|wasm\/edgegrad-webgpu)\.js\.map$/, most: 1415 },
  documentation: { path: /^(?:docs\/.*|README|CHANGELOG)\.md$/, most: 725 },
  pictures: { path: /^docs\/guide\/pictures\/\w+\.webp$/, most: 120 },
  // That of federated runs is 15 kB: its page, metrics, and the commands for runs and rollouts.
  "command-line tools": { path: /^bin\/[\w-]+\.mjs$/, most: 23 },
  licenses: { path: /^(?:LICENSE|THIRD_PARTY_NOTICES\.md)$/, most: 40 },
  manifest: { path: /^package\.json$/, most: 12 },
};
const kMostPacked = 7323;

const run = promisify(execFile);

describe("the files that npm packs", () => {
  let packed;
  before(async () => {
    const options = ["pack", "--dry-run", "--json", "--ignore-scripts"];
    const { stdout } = await run("npm", options, { cwd: kRoot, maxBuffer: 2 ** 24 });
    [packed] = JSON.parse(stdout);
  });

  test("each belong to one group", () => {
    const isIn = (path) => Object.values(kGroups).filter((group) => group.path.test(path));
    const odd = packed.files.filter(({ path }) => isIn(path).length !== 1);
    assert.deepEqual(
      odd.map(({ path }) => path),
      [],
    );
  });

  for (const [name, group] of Object.entries(kGroups)) {
    test(`${name}: at most ${group.most} kB`, (context) => {
      const files = packed.files.filter(({ path }) => group.path.test(path));
      const kilobytes = files.reduce((sum, { size }) => sum + size, 0) / 1000;
      context.diagnostic(`${files.length} files, ${kilobytes.toFixed(1)} kB`);
      assert.ok(files.length > 0);
      assert.ok(kilobytes <= group.most, `${kilobytes} kB`);
    });
  }

  test(`are at most ${kMostPacked} kB when packed`, (context) => {
    context.diagnostic(`${packed.entryCount} files, ${(packed.size / 1000).toFixed(1)} kB`);
    assert.ok(packed.size / 1000 <= kMostPacked, `${packed.size / 1000} kB`);
  });

  test("include source maps without the sources", () => {
    const maps = packed.files.filter(({ path }) => path.endsWith(".map"));
    for (const { path } of maps) {
      const map = JSON.parse(readFileSync(kRoot + path, "utf8"));
      assert.ok(map.sources.length > 50 && map.mappings.length > 1000, path);
      assert.equal(map.sourcesContent, undefined, path);
    }
  });
});
