// What a page downloads before it can train, gzipped: JavaScript and one WebAssembly file. Peers are bundled and
// minified from a minimal training program, so that their unused parts do not count; of ours, all counts.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

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
    );
  },
};

/** What is downloaded of a built dist/. */
export async function ours() {
  const dist = (name) => join(kRoot, "dist", name);
  if (!existsSync(dist("index.js"))) throw new Error("no dist/");
  const script = gzipped(dist("index.js")) + gzipped(dist("wasm/edgegrad-relaxed.mjs"));
  const wasm = gzipped(dist("wasm/edgegrad-relaxed.wasm"));
  return { total: script + wasm, script, wasm, player: gzipped(dist("wasm/edgegrad-webgpu.js")) };
}

async function tfjs() {
  const script = await bundled("tfjs_core");
  const wasm = gzipped(join(kWasmFolder, "tfjs-backend-wasm-simd.wasm"));
  return { total: script + wasm, script, wasm };
}

/** jax-js writes its WebAssembly at run time. */
async function jax() {
  const script = await bundled("jax");
  return { total: script, script };
}

async function bundled(program) {
  const { build } = await import("esbuild"); // not above: the list of workloads is read before packages are installed
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../programs/${program}.mjs`, import.meta.url))],
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    write: false,
    logLevel: "silent",
  });
  return kilobytes(outputFiles[0].contents);
}

const gzipped = (path) => kilobytes(readFileSync(path));
const kilobytes = (bytes) => gzipSync(bytes, { level: 9 }).length / 1000;
