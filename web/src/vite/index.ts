// edgegrad/vite: a plugin for Vite by which a page loads the engine together with its own scripts.
//
// Without it the files arrive one after the other: the page, its script, the engine's script, the WebAssembly file. Each costs a
// round trip, because a browser sees an address only in the file before it. Which files a browser will need depends on what it
// supports, so a small script at the top of the page chooses them.

import type { Plugin } from "vite";
import { kRelaxedSimdModule, kVariants, type Variant } from "../runtime/builds.js";

/** The addresses of the two files of a build. */
type Files = readonly [script: string, wasm: string];

type Bundle = NonNullable<Parameters<NonNullable<Handler>>[1]["bundle"]>;
type Handler = Extract<Plugin["transformIndexHtml"], (...given: never[]) => unknown>;
type Chunk = Extract<Bundle[string], { type: "chunk" }>;

/**
 * Returns the plugin. In every page that imports edgegrad, a build then has an inline script that preloads the files of the engine.
 * Where a content security policy forbids it, the page starts without the preloading.
 *
 *     // vite.config.js
 *     import edgegrad from 'edgegrad/vite';
 *     export default { plugins: [edgegrad()] };
 */
export default function edgegrad(): Plugin {
  let base = "/";
  return {
    name: "edgegrad",
    apply: "build",
    configResolved: (config) => {
      ({ base } = config);
    },
    transformIndexHtml: {
      order: "post",
      handler(_, { bundle, chunk, path }) {
        if (bundle === undefined || chunk === undefined) return [];
        const root = /^\.?\/?$/.test(base) && base !== "/" ? upFrom(path) : base;
        const files = filesIn(bundle, chunk, root);
        if (files === null) return [];
        return [{ tag: "script", children: scriptFor(files), injectTo: "head-prepend" as const }];
      },
    },
  };
}

// The way from a page to the folder of the build.
function upFrom(path: string): string {
  return "../".repeat(path.split("/").length - 2) || "./";
}

// The files that the page's own scripts load; null if they do not load the engine, or only later.
function filesIn(bundle: Bundle, entry: Chunk, root: string): Map<Variant, Files> | null {
  const loaded = dynamicImportsOf(bundle, entry);
  const files = new Map<Variant, Files>();
  for (const variant of kVariants) {
    const isScript = ({ moduleIds }: Chunk) => endsIn(moduleIds, `edgegrad-${variant}.mjs`);
    const script = loaded.find(isScript)?.fileName;
    const wasm = Object.values(bundle).find(
      (file) => file.type === "asset" && endsIn(file.originalFileNames, `edgegrad-${variant}.wasm`),
    )?.fileName;
    if (script !== undefined && wasm !== undefined) {
      files.set(variant, [root + script, root + wasm]);
    }
  }
  return files.size > 0 ? files : null;
}

function endsIn(paths: readonly string[], name: string): boolean {
  return paths.some((path) => path.split("?")[0]?.endsWith(`/${name}`));
}

// The chunks that a chunk, or one that it imports statically, imports dynamically.
function dynamicImportsOf(bundle: Bundle, entry: Chunk): Chunk[] {
  const chunks = new Set([entry]);
  for (const { imports } of chunks) {
    for (const name of imports) {
      const chunk = bundle[name];
      if (chunk?.type === "chunk") chunks.add(chunk);
    }
  }
  return [...chunks]
    .flatMap(({ dynamicImports }) => dynamicImports.map((name) => bundle[name]))
    .filter((file): file is Chunk => file?.type === "chunk");
}

// The same choice as that of init({ variant: "auto" }).
function scriptFor(files: ReadonlyMap<Variant, Files>): string {
  return `(() => {
  const files = ${JSON.stringify(Object.fromEntries(files)).replaceAll("<", "\\u003c")};
  const isShared = typeof SharedArrayBuffer === "function" && crossOriginIsolated !== false;
  const isRelaxed = () => WebAssembly.validate(new Uint8Array([${kRelaxedSimdModule}]));
  const chosen = files[!isShared ? "single" : isRelaxed() ? "relaxed" : "simd"];
  const link = (rel, href, more) =>
    document.head.append(Object.assign(document.createElement("link"), { rel, href, ...more }));
  if (chosen) {
    link("preload", chosen[1], { as: "fetch", crossOrigin: "anonymous" });
    link("modulepreload", chosen[0]);
  }
})();`;
}
