// Bundles programs with the package in dist/ as users' tools do, for the size report and for tests.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { gzipSync } from "node:zlib";
import { kRoot } from "../process.mjs";

/** The programs that are measured, from the smallest to one that uses everything. */
export const kPrograms = {
  "runtime()": `
    import { runtime } from "edgegrad";
    console.log(runtime);`,
  "init() and tensors": `
    import { init, tensor } from "edgegrad";
    await init();
    console.log(String(tensor([1, 2]).add(1)));`,
  "an MLP that is trained": `
    import { crossEntropy, init, nn, optim, randn, scope, tensor } from "edgegrad";
    await init();
    const model = new nn.Sequential(new nn.Linear(4, 16), new nn.ReLU(), new nn.Linear(16, 3));
    const optimizer = new optim.Adam(model.parameters(), { lr: 0.01 });
    scope(() => {
      optimizer.zeroGrad();
      crossEntropy(model.call(randn([2, 4])), tensor([0, 1], { dtype: "int64" })).backward();
      optimizer.step();
    });`,
  everything: `
    import * as eg from "edgegrad";
    await eg.init();
    globalThis.eg = eg;`,
};

/** The same MLP, with entries of namespaces. */
export const kWithEntries = kPrograms["an MLP that is trained"].replace(
  'import { crossEntropy, init, nn, optim, randn, scope, tensor } from "edgegrad";',
  `import { crossEntropy, init, randn, scope, tensor } from "edgegrad";
    import * as nn from "edgegrad/nn";
    import * as optim from "edgegrad/optim";`,
);

const kWasm = /\.\/wasm\//;

/** The tools, each a function from an entry file, the file to write and whether to minify it. */
export const kBundlers = {
  esbuild: async (entry, outfile, minify) => {
    const { build } = await import("esbuild");
    const external = ["./wasm/*"];
    const options = { bundle: true, format: "esm", external, logLevel: "error" };
    await build({ ...options, entryPoints: [entry], outfile, minify });
  },
  // The version that Vite depends on.
  Rolldown: async (input, file, minify) => {
    const ofVite = createRequire(createRequire(import.meta.url).resolve("vite/package.json"));
    const { rolldown } = await import(pathToFileURL(ofVite.resolve("rolldown")));
    const bundle = await rolldown({
      input,
      external: kWasm,
      makeAbsoluteExternalsRelative: false,
      logLevel: "silent",
    });
    await bundle.write({ file, format: "esm", minify, codeSplitting: false });
    await bundle.close();
  },
  webpack: async (entry, file, minimize) => {
    const { default: webpack } = await import("webpack");
    const [path, filename] = [join(file, ".."), file.split(/[\\/]/).pop()];
    const options = {
      mode: "production",
      target: "node20",
      entry,
      output: { path, filename, module: true, chunkFormat: "module" },
      experiments: { outputModule: true },
      optimization: { minimize },
      // Files of the package are not bundled.
      externals: ({ request }, done) =>
        kWasm.test(request) ? done(null, `import ${request}`) : done(),
      module: { parser: { javascript: { url: false, worker: false } } },
    };
    const stats = await new Promise((resolve, reject) => {
      webpack(options, (error, result) => (error ? reject(error) : resolve(result)));
    });
    const { errors } = stats.toJson({ all: false, errors: true });
    if (errors.length > 0) throw new Error(errors[0].message);
  },
};

/** A user's project folder, with the package of the checkout and its WebAssembly files where a bundle expects them. */
export class BundleFolder {
  #folder = mkdtempSync(join(tmpdir(), "edgegrad-bundle-"));
  #count = 0;

  constructor() {
    mkdirSync(join(this.#folder, "node_modules"));
    symlinkSync(kRoot, join(this.#folder, "node_modules", "edgegrad"), "junction");
    symlinkSync(join(kRoot, "dist", "wasm"), join(this.#folder, "wasm"), "junction");
  }

  /** Bundles the first of these files, given as texts by name. Returns the path of the bundle, which is different for every call. */
  async bundle(tool, files, { minify = true } = {}) {
    for (const [name, text] of Object.entries(files)) {
      writeFileSync(join(this.#folder, name), text);
    }
    const [entry] = Object.keys(files);
    const out = join(this.#folder, `bundle${++this.#count}.mjs`);
    await kBundlers[tool](join(this.#folder, entry), out, minify);
    return out;
  }

  remove() {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/** Returns { program, sizes } for each of kPrograms: the gzipped size of its bundle in bytes, by tool. */
export async function bundleSizes() {
  const folder = new BundleFolder();
  try {
    const rows = [];
    const programs = { ...kPrograms, "an MLP, with entries of namespaces": kWithEntries };
    for (const [program, text] of Object.entries(programs)) {
      const sizes = {};
      for (const tool of Object.keys(kBundlers)) {
        const file = await folder.bundle(tool, { "main.js": text });
        sizes[tool] = gzipped(readFileSync(file));
      }
      rows.push({ program, sizes });
    }
    return rows;
  } finally {
    folder.remove();
  }
}

/** Returns the gzipped size in bytes. */
export function gzipped(content) {
  return gzipSync(content, { level: 9 }).length;
}
