// What a page downloads before it can train, gzipped: JavaScript and one WebAssembly file. The shortest program that trains
// is bundled and minified with each library by Vite's bundler, so that unused code does not count.

import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { kBundlers } from "../../../scripts/bundles.mjs";

const kRoot = fileURLToPath(new URL("../../..", import.meta.url));
const kWasmFolder = join(kRoot, "node_modules/@tensorflow/tfjs-backend-wasm/dist");

export default {
  name: "download",
  title: "Download, gzip -9",
  contenders: ["edgegrad", "tfjs", "jax"],
  newestNodeOnly: true,
  rows: () => [
    { id: "total", title: "JavaScript + one wasm", unit: "kB", better: "lower", target: 264 },
    { id: "script", title: "JavaScript", unit: "kB" },
    { id: "wasm", title: "WebAssembly", unit: "kB" },
    { id: "player", title: "for WebGPU, when it is used", unit: "kB" },
    { id: "page", title: "fetched by a page in Chromium before its first step", unit: "kB" },
  ],

  async measureAll() {
    const parts = { edgegrad: ours, tfjs, jax };
    return Promise.all(
      this.contenders.map(async (contender) => {
        const result = { contender, values: {}, errors: {}, data: {}, failure: null };
        await parts[contender]().then(
          (sizes) => Object.assign(result.values, sizes),
          (error) => {
            result.failure = error.message.split("\n")[0];
          },
        );
        return result;
      }),
    ).then(withPage);
  },
};

async function withPage(results) {
  const [{ values, errors }] = results;
  // Imported here, because Playwright is available only after `npm run bench` has installed it.
  const { fetchedByPage } = await import("../page_trace.mjs");
  await fetchedByPage("edgegrad").then(
    ({ bytes }) => Object.assign(values, { page: bytes / 1000 }),
    (error) => Object.assign(errors, { page: error.message.split("\n")[0] }),
  );
  return results;
}

/** Returns the parts of a built dist/ that are downloaded. */
export async function ours() {
  const dist = (name) => join(kRoot, "dist", name);
  if (!existsSync(dist("index.js"))) throw new Error("dist/ is missing: run npm run build");
  const script = (await bundled("edgegrad")) + gzipped(dist("wasm/edgegrad-relaxed.mjs"));
  const wasm = gzipped(dist("wasm/edgegrad-relaxed.wasm"));
  return { total: script + wasm, script, wasm, player: gzipped(dist("wasm/edgegrad-webgpu.js")) };
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
