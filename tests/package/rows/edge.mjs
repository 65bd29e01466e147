// Runtimes for the edge, which compile WebAssembly ahead, and programs in which the package is part of one file.

import assert from "node:assert/strict";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { newerNode } from "../../../scripts/machine/newer_node.mjs";
import { read } from "../../../scripts/process.mjs";
import { importFrom } from "../../browser/support/bundlers.mjs";
import { assertTrained, run, runTool } from "../running.mjs";
import { versionOf } from "../tools.mjs";

const kWasm = join("node_modules", "edgegrad", "dist", "wasm");

/** Bundles a program as tools for the edge do: with their condition, and WebAssembly as a module of its own. */
async function bundle(folder, program, out, options) {
  const { default: esbuild } = await importFrom(folder, "esbuild");
  mkdirSync(join(folder, out), { recursive: true });
  const outfile = join(folder, out, "program.mjs");
  const shared = { bundle: true, format: "esm", logLevel: "silent" };
  const entryPoints = [join(folder, "edge", program)];
  await esbuild.build({ ...shared, entryPoints, outfile, ...options });
  return outfile;
}

const kCompiledAhead = {
  name: "compiled ahead",
  setup: ({ onResolve }) =>
    onResolve({ filter: /\.wasm(\?module)?$/ }, ({ path }) => ({
      path: `./${basename(path).replace(/\?.*/, "")}`,
      external: true,
    })),
};

function assertEdge({ variant, threads, isSame, filled, code }) {
  assert.deepEqual({ variant, threads, isSame }, { variant: "single", threads: 1, isSame: true });
  assert.equal(code, "OutOfMemory");
  assert.ok(filled < 96 * 2 ** 20, `${filled} bytes fitted`);
}

const kWorkerds = {
  newest: { date: "2026-01-01", flags: [] },
  nodejs: { date: "2026-01-01", flags: ["nodejs_compat"] },
  "no-finalizers": { date: "2024-01-01", flags: [] },
  "no-finalizers-nodejs": { date: "2024-01-01", flags: ["nodejs_compat"] },
};

const configOf = (
  program,
  wasm,
  { date, flags },
) => `using Workerd = import "/workerd/workerd.capnp";
const tests :Workerd.Config = (services = [(name = "main", worker = .main)]);
const main :Workerd.Worker = (
  modules = [
    (name = "worker", esModule = embed "${program}"),
    (name = "./${wasm}", wasm = embed "${wasm}"),
  ],
  compatibilityDate = "${date}",
  compatibilityFlags = [${flags.map((flag) => `"${flag}"`).join(", ")}],
);
`;

const workerdRows = Object.entries(kWorkerds).map(([name, settings]) => ({
  id: `workerd-${name}`,
  group: "Cloudflare's workerd",
  title: `compatibility date ${settings.date}${settings.flags.map((flag) => ` with \`${flag}\``).join("")}`,
  quick: true,
  version: () => versionOf("workerd"),
  async run({ projects }) {
    const folder = await projects.with("workerd", "esbuild");
    const out = `out-workerd-${name}`;
    await bundle(folder, "worker.mjs", out, {
      conditions: ["workerd", "worker", "browser"],
      external: ["node:*"],
      plugins: [kCompiledAhead],
    });
    const wasm = "edgegrad-single.wasm";
    copyFileSync(join(folder, kWasm, wasm), join(folder, out, wasm));
    await assertRunsIn(folder, out, configOf("program.mjs", wasm, settings), settings);
  },
}));

async function assertRunsIn(folder, out, config, { date }) {
  writeFileSync(join(folder, out, "config.capnp"), config);
  const result = assertTrained(await runTool(folder, "workerd", "test", join(out, "config.capnp")));
  assertEdge(result);
  assert.equal(result.hasFinalizers, date > "2025-05-05");
}

const wranglerRow = {
  id: "wrangler",
  group: "Cloudflare's wrangler",
  title: "without configuration",
  version: () => versionOf("wrangler"),
  async run({ projects }) {
    const folder = await projects.with("wrangler");
    const out = "out-wrangler";
    const settings = kWorkerds.newest;
    const config = { name: "edge", compatibility_date: settings.date, send_metrics: false };
    const main = join("edge", "worker.mjs");
    writeFileSync(join(folder, "wrangler.json"), JSON.stringify({ ...config, main }));
    const script = join(folder, "node_modules", "wrangler", "bin", "wrangler.js");
    await run(folder, await newerNode(), script, "deploy", "--dry-run", "--outdir", out);
    const wasm = readdirSync(join(folder, out)).find((name) => name.endsWith(".wasm"));
    await assertRunsIn(folder, out, configOf("worker.js", wasm, settings), settings);
  },
};

const edgeRuntimeRow = {
  id: "edge-runtime",
  group: "Vercel's edge runtime",
  title: "in its virtual machine",
  quick: true,
  version: () => versionOf("@edge-runtime/vm"),
  async run({ projects }) {
    const folder = await projects.with("@edge-runtime/vm", "esbuild");
    const program = await bundle(folder, "script.mjs", "out-edge-runtime", {
      format: "iife",
      conditions: ["edge-light", "worker", "browser"],
      external: ["node:*"],
      plugins: [inScope("wasmModule")],
    });
    const { EdgeVM } = await importFrom(folder, "@edge-runtime/vm");
    const bytes = readFileSync(join(folder, kWasm, "edgegrad-single.wasm"));
    const vm = new EdgeVM({
      extend: (context) => Object.assign(context, { wasmModule: new WebAssembly.Module(bytes) }),
    });
    vm.evaluate(readFileSync(program, "utf8"));
    const result = await vm.evaluate("result");
    assertTrained(JSON.stringify(result));
    assertEdge(result);
  },
};

// A compiled module that is a global variable.
function inScope(name) {
  return {
    name: "in scope",
    setup: ({ onResolve, onLoad }) => {
      onResolve({ filter: /\.wasm\?module$/ }, () => ({ path: name, namespace: "global" }));
      onLoad({ filter: /.*/, namespace: "global" }, () => ({
        contents: `export default ${name};`,
      }));
    },
  };
}

const kNodeBundle = { platform: "node", external: [] };

/** Runs a bundle in a folder of its own; returns its output. */
async function runBundle(folder, format, options, copy = () => {}) {
  const out = `out-${format}-${Object.keys(options).join("-")}-${copy.name}`;
  const outfile = join(folder, out, format === "cjs" ? "program.cjs" : "program.mjs");
  await bundle(folder, "bundled.mjs", out, { ...kNodeBundle, format, outfile });
  copy(folder, join(folder, out));
  return run(folder, process.execPath, outfile, JSON.stringify(options));
}

function copyFolder(folder, out) {
  cpSync(join(folder, kWasm), join(out, "wasm"), { recursive: true });
}

const kFormats = { cjs: "bundles of CommonJS (AWS Lambda)", esm: "bundles that are modules" };

const bundleRows = Object.entries(kFormats).map(([format, title]) => ({
  id: `bundled-${format}`,
  group: "esbuild for Node.js",
  title,
  quick: true,
  version: () => versionOf("esbuild"),
  async run({ projects }) {
    const folder = await projects.with("esbuild");
    const alone = await runBundle(folder, format, {});
    assert.match(
      alone,
      /Internal: \[init\] .*edgegrad-\w+\.wasm.*Copy the package's folder dist\/wasm/,
    );
    const single = assertTrained(
      await runBundle(folder, format, { variant: "single" }, copyFolder),
    );
    assert.equal(single.variant, "single");
    const threads = assertTrained(await runBundle(folder, format, { threads: 2 }, copyFolder));
    assert.notEqual(threads.variant, "single");
    const wasmUrl = join(folder, kWasm);
    assertTrained(await runBundle(folder, format, { threads: 2, wasmUrl }));
  },
}));

const seaRow = {
  id: "node-sea",
  group: "Node.js",
  title: "in one executable file (SEA)",
  quick: true,
  version: async () => read(await newerNode(), ["--version"]).slice(1),
  async run({ projects }) {
    const folder = await projects.with("postject", "esbuild");
    const out = join(folder, "out-sea");
    mkdirSync(out, { recursive: true });
    const main = join(out, "program.cjs");
    await bundle(folder, "sea.mjs", "out-sea", { ...kNodeBundle, format: "cjs", outfile: main });
    const blob = join(out, "program.blob");
    const assets = { "edgegrad-single.wasm": join(folder, kWasm, "edgegrad-single.wasm") };
    const config = { main, output: blob, disableExperimentalSEAWarning: true, assets };
    writeFileSync(join(out, "sea.json"), JSON.stringify(config));
    const node = await newerNode();
    await run(folder, node, "--experimental-sea-config", join(out, "sea.json"));
    const executable = join(out, "program");
    copyFileSync(node, executable);
    chmodSync(executable, 0o755);
    const fuse = ["--sentinel-fuse", "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2"];
    await runTool(folder, "postject", executable, "NODE_SEA_BLOB", blob, ...fuse);
    assert.equal(assertTrained(await run(out, executable)).variant, "single");
  },
};

const bunRow = {
  id: "bun-compile",
  group: "Bun",
  title: "in one executable file (`bun build --compile`)",
  version: () => versionOf("bun"),
  async run({ projects }) {
    const folder = await projects.with("bun");
    const executable = join(folder, "out-bun-compiled");
    const program = join("edge", "compiled.mjs");
    await runTool(folder, "bun", "build", "--compile", program, "--outfile", executable);
    assert.equal(assertTrained(await run(folder, executable)).variant, "single");
  },
};

export const kEdgeRows = [
  ...workerdRows,
  wranglerRow,
  edgeRuntimeRow,
  ...bundleRows,
  seaRow,
  bunRow,
];
