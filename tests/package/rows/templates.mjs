// The templates of `npm create edgegrad`: each project is written by the packed create-edgegrad, installed, built and trained.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { kTemplates } from "../../../create/project.mjs";
import { newerNode } from "../../../scripts/machine/newer_node.mjs";
import { kRoot, quiet } from "../../../scripts/process.mjs";
import { serveFolder } from "../../../scripts/serve_folder.mjs";
import { serveWith } from "../../browser/support/servers.mjs";
import { run, runTool } from "../running.mjs";

const manifest = JSON.parse(readFileSync(join(kRoot, "create", "package.json"), "utf8"));
const kLargestLoss = 1e-3;

const kChecks = {
  "vite-ts": (folder, browser) => assertSite(folder, browser, viteOf(folder), [], ["preview"]),
  async vanilla(folder, browser) {
    await assertSite(folder, browser, join(folder, "serve.mjs"), ["public"], ["dist"]);
    assert.match(await run(folder, "npm", "run", "compress"), /\.wasm: .* as \.br \(\d\d % less\)/);
  },
  react: (folder, browser) => assertSite(folder, browser, viteOf(folder), [], ["preview"]),
  node: assertProgram,
  cloudflare: assertWorker,
};

export const kTemplateRows = Object.entries(kTemplates).map(([name, { title }]) => ({
  id: `template-${name}`,
  group: "`npm create edgegrad`",
  title: `\`${name}\`: ${title}`,
  quick: true,
  version: () => manifest.version,
  async run({ tarball, starter, browsers }) {
    const place = mkdtempSync(join(tmpdir(), "edgegrad-template-"));
    try {
      const folder = await makeProject(place, name, [tarball, starter]);
      await kChecks[name](folder, await browsers.start("chromium"));
    } finally {
      rmSync(place, { recursive: true, force: true });
    }
  },
}));

/** Does what `npm create edgegrad` and `npm install` do, with the packages of this checkout. */
async function makeProject(place, name, [tarball, packed]) {
  const options = ["--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts=false"];
  const starter = join(place, "starter");
  mkdirSync(starter);
  await quiet("npm", ["install", ...options, packed], { cwd: starter });
  await runTool(starter, "create-edgegrad", "app", "--template", name);
  const folder = join(starter, "app");
  await quiet("npm", ["install", ...options, tarball], { cwd: folder });
  return folder;
}

function viteOf(folder) {
  return join(folder, "node_modules", "vite", "bin", "vite.js");
}

/** Asserts that a page trains with threads: in development, built, and built on a host that sends no headers. */
async function assertSite(folder, browser, program, development, preview) {
  await run(folder, "npm", "run", "build");
  const starts = [
    () => serveWith(folder, program, development),
    () => serveWith(folder, program, preview),
    () => serveFolder(join(folder, "dist"), { base: "/some/path/" }),
  ];
  for (const start of starts) {
    const server = await start();
    try {
      await assertPage(browser, server.url);
    } finally {
      server.stop();
    }
  }
}

async function assertPage(browser, url) {
  const page = await browser.newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  try {
    await page.goto(url);
    await page.getByText(/^step 300,/).waitFor();
    assertFell(await page.textContent("#progress"));
    assert.match(await page.textContent("#runtime"), /^threads: \d+, variant: (?:relaxed|simd)$/);
    assert.deepEqual(errors, []);
  } finally {
    await page.close();
  }
}

function assertFell(text) {
  const loss = Number(/step 300, loss ([\d.]+)/.exec(text)?.[1]);
  assert.ok(loss < kLargestLoss, text);
}

async function assertProgram(folder) {
  assertFell(await run(folder, "npm", "start"));
  assert.match(await run(folder, "npm", "test"), /^\D*pass 1$/m);
}

/** Asserts that the worker can be deployed, and trains in workerd. */
async function assertWorker(folder) {
  const bin = (tool, file) => join(folder, "node_modules", tool, "bin", file);
  const wrangler = bin("wrangler", "wrangler.js");
  // Wrangler does not support the oldest Node.js of the package.
  const node = await newerNode();
  await run(folder, node, bin("typescript", "tsc"));
  await run(folder, node, wrangler, "deploy", "--dry-run", "--outdir", "dist");
  const server = await serveWith(folder, wrangler, ["dev"], node);
  try {
    const response = await fetch(`${server.url}?steps=300`);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const { losses, runtime } = JSON.parse(text);
    assert.ok(losses.at(-1) < kLargestLoss, text);
    assert.equal(runtime.variant, "single");
  } finally {
    server.stop();
  }
}
