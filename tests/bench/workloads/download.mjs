// What a page downloads before it can train, gzipped: JavaScript and WebAssembly. The shortest program that trains is bundled and
// minified with each library by Vite's bundler, so that unused code does not count.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { kBundlers } from "../../../scripts/building/bundles.mjs";
import { kPartNames } from "../../../scripts/split/parts.mjs";
import { resultOf } from "../contenders.mjs";

const kRoot = fileURLToPath(new URL("../../..", import.meta.url));
const kWasmFolder = join(kRoot, "node_modules/@tensorflow/tfjs-backend-wasm/dist");

export default {
  name: "download",
  title: "Download, gzip -9",
  contenders: ["edgegrad", "tfjs", "jax"],
  newestNodeOnly: true,
  rows: () => [
    {
      id: "total",
      title: "before the first step of an MLP",
      unit: "kB",
      better: "lower",
      target: 200,
    },
    { id: "script", title: "of this JavaScript", unit: "kB" },
    { id: "wasm", title: "of this WebAssembly", unit: "kB" },
    { id: "conv", title: "and if it imports convolutions", unit: "kB" },
    { id: "attention", title: "and if it imports attention or embeddings", unit: "kB" },
    { id: "later", title: "the rest, once it trains", unit: "kB" },
    { id: "player", title: "for WebGPU, when it is used", unit: "kB" },
  ],

  async measureAll() {
    const parts = { edgegrad: ours, tfjs, jax };
    return Promise.all(
      this.contenders.map((contender) =>
        parts[contender]().then(
          (sizes) => resultOf(contender, sizes),
          (error) => resultOf(contender, {}, error.message.split("\n")[0]),
        ),
      ),
    );
  },
};

/** Returns the sizes of what is downloaded of a built dist/. */
export async function ours() {
  const dist = (name) => join(kRoot, "dist", name);
  if (!existsSync(dist("index.js"))) throw new Error("dist/ is missing: run npm run build");
  const script = (await bundled("edgegrad")) + gzipped(dist("wasm/edgegrad-relaxed.mjs"));
  const part = (name) => gzipped(dist(`wasm/edgegrad-relaxed.${name}.wasm`));
  const wasm = part("core");
  const [layers, conv, attention, extras, rest] = kPartNames.map(part);
  return {
    total: script + wasm,
    script,
    wasm,
    conv,
    attention: layers + attention,
    later: layers + conv + attention + extras + rest,
    player: gzipped(dist("wasm/edgegrad-webgpu.js")),
  };
}

async function tfjs() {
  const script = await bundled("tfjs_core");
  const wasm = gzipped(join(kWasmFolder, "tfjs-backend-wasm-simd.wasm"));
  return { total: script + wasm, script, wasm };
}

/** jax-js generates its WebAssembly at run time. */
async function jax() {
  const script = await bundled("jax");
  return { total: script, script };
}

async function bundled(program) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-download-"));
  try {
    const entry = fileURLToPath(new URL(`../programs/${program}.mjs`, import.meta.url));
    const bundle = join(folder, "bundle.mjs");
    await kBundlers.Rolldown(entry, bundle, true);
    return gzipped(bundle);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const gzipped = (path) => gzipSync(readFileSync(path), { level: 9 }).length / 1000;
