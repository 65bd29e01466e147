// Builds a page of a project for production with each tool, as README.md describes. All functions return the folder to serve.

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { quiet } from "../../../scripts/process.mjs";
import { runVite } from "./servers.mjs";

const kScripts = ["deployed.js", "deployed_worker.js", "train.js", "rate.js"];
const kDeployed = { name: "deployed", workers: ["deployed_worker.js"] };

// For newer browsers Parcel writes an import map into the page, which a strict policy does not allow.
const kBrowsers = "chrome >= 95, firefox >= 100, safari >= 16.4";

/** The page that trains with WebGPU, for functions that take a page. */
export const kWebGpuPage = { name: "webgpu", workers: [] };

/** Builds without a bundler: every script imports the package by its URL. */
export function copyFiles(project) {
  const out = copyPage(project, "plain");
  cpSync(installed(project), join(out, "edgegrad"), { recursive: true });
  for (const name of kScripts) writeFileSync(join(out, name), byAddress(project, name));
  return out;
}

/** Builds without a bundler but with an import map, which does not apply to the worker. */
export function copyWithImportMap(project) {
  const out = copyPage(project, "import-map");
  cpSync(installed(project), join(out, "edgegrad"), { recursive: true });
  for (const name of kScripts) cpSync(join(project, name), join(out, name));
  const worker = "deployed_worker.js";
  writeFileSync(join(out, worker), byAddress(project, worker));
  const map =
    '<script type="importmap">{ "imports": { "edgegrad": "./edgegrad/index.js" } }</script>\n';
  const page = readFileSync(join(project, "deployed.html"), "utf8");
  writeFileSync(join(out, "deployed.html"), page.replace("<script", `${map}<script`));
  return out;
}

/** Builds the page `name` with the configuration `config`, by default that of the same name. */
export async function buildWithVite(project, base, { name, config = name } = kDeployed) {
  const out = `vite-${config}`;
  const args = ["--base", base, "--config", `${config}.config.mjs`, "--outDir", out];
  await runVite(project, ["build", ...args]);
  return join(project, out);
}

/** Builds with webpack; also returns its warnings. */
export async function buildWithWebpack(project, { name } = kDeployed) {
  const { default: webpack } = await importFrom(project, "webpack");
  const out = copyPage(project, "webpack", name);
  const stats = await new Promise((resolve, reject) => {
    const options = {
      mode: "production",
      context: project,
      entry: `./${name}.js`,
      output: { path: out, filename: `${name}.js` },
      performance: { hints: false },
    };
    webpack(options, (error, result) => (error ? reject(error) : resolve(result)));
  });
  const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
  return { out, messages: [...errors, ...warnings].map(({ message }) => message) };
}

export async function buildWithEsbuild(project, { name, workers } = kDeployed) {
  const { default: esbuild } = await importFrom(project, "esbuild");
  const out = copyPage(project, "esbuild", name);
  await esbuild.build({
    absWorkingDir: project,
    entryPoints: [`${name}.js`, ...workers],
    bundle: true,
    minify: true,
    format: "esm",
    external: ["./wasm/*"],
    outdir: out,
  });
  copyWasm(project, out);
  return out;
}

export async function buildWithRollup(project, { name, workers } = kDeployed) {
  const { rollup } = await importFrom(project, "rollup");
  const { nodeResolve } = await importFrom(project, "@rollup/plugin-node-resolve");
  const out = copyPage(project, "rollup", name);
  const bundle = await rollup({
    input: [`${name}.js`, ...workers].map((file) => join(project, file)),
    plugins: [nodeResolve()],
    external: /\.\/wasm\//,
    makeAbsoluteExternalsRelative: false,
  });
  await bundle.write({ dir: out, format: "es" });
  await bundle.close();
  copyWasm(project, out);
  return out;
}

export async function buildWithParcel(project, { name } = kDeployed) {
  const out = join(project, `parcel-${name}`);
  const manifest = { type: "module", private: true, browserslist: kBrowsers };
  writeFileSync(join(project, "package.json"), JSON.stringify(manifest));
  const parcel = join(project, "node_modules", "parcel", "lib", "bin.js");
  const options = ["--dist-dir", out, "--public-url", "./", "--no-cache"];
  await quiet(process.execPath, [parcel, "build", `${name}.html`, ...options], { cwd: project });
  return out;
}

/** Imports a package that is installed in a project; its version may differ from the checkout's. */
export function importFrom(project, name) {
  return import(pathToFileURL(createRequire(join(project, "package.json")).resolve(name)));
}

function copyWasm(project, out) {
  cpSync(join(installed(project), "wasm"), join(out, "wasm"), { recursive: true });
}

function installed(project) {
  return join(project, "node_modules", "edgegrad", "dist");
}

function copyPage(project, tool, name = kDeployed.name) {
  const out = join(project, `${tool}-${name}`);
  mkdirSync(out);
  cpSync(join(project, `${name}.html`), join(out, `${name}.html`));
  return out;
}

function byAddress(project, name) {
  const text = readFileSync(join(project, name), "utf8");
  return text.replace('from "edgegrad"', 'from "./edgegrad/index.js"');
}
