// edgegrad/vite: a plugin for Vite by which a page loads the engine together with its own scripts.
//
// Without it the files arrive one after the other: the page, its script, the engine's script, the WebAssembly file. Each costs a
// round trip, because a browser sees an address only in the file before it. Which files a browser will need depends on what it
// supports, so a small script at the top of the page chooses them.

import type { Plugin } from "vite";
import { kRelaxedSimdModule, kVariants, type Variant } from "../runtime/start/builds.js";
import { kParts, type Part, withShared } from "../runtime/start/parts.js";

/** The addresses of the files of a build that the page needs before it can train. */
interface Files {
  readonly script: string;
  readonly wasm: readonly string[];
  /** The script of the threads, which has an address of its own. */
  readonly worker: string | undefined;
}

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
  const partsOf = new Map<string, Part[]>();
  return {
    name: "edgegrad",
    apply: "build",
    configResolved: (config) => {
      ({ base } = config);
    },
    // A module of the package says which parts of the engine it needs; bundlers drop those of modules that are not used.
    transform(code, id) {
      const found = [...code.matchAll(/\bneedsPart\("(\w+)"\)/g)].map(([, part]) => part as Part);
      if (found.length > 0) partsOf.set(id, found);
    },
    transformIndexHtml: {
      order: "post",
      handler(_, { bundle, chunk, path }) {
        if (bundle === undefined || chunk === undefined) return [];
        const root = /^\.?\/?$/.test(base) && base !== "/" ? upFrom(path) : base;
        const files = filesIn(bundle, chunk, root, partsOf);
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
function filesIn(
  bundle: Bundle,
  entry: Chunk,
  root: string,
  partsOf: ReadonlyMap<string, readonly Part[]>,
): Map<Variant, Files> | null {
  const chunks = staticImportsOf(bundle, entry);
  const loaded = chunks
    .flatMap(({ dynamicImports }) => dynamicImports.map((name) => bundle[name]))
    .filter((file): file is Chunk => file?.type === "chunk");
  const needed = new Set(
    chunks.flatMap(({ moduleIds }) =>
      moduleIds.flatMap((id) => (partsOf.get(id) ?? []).flatMap(withShared)),
    ),
  );
  const parts = kParts.filter((part) => needed.has(part));
  const addressOf = (name: string) => {
    const isIt = (file: Bundle[string]) =>
      file.type === "asset" && endsIn(file.originalFileNames, name);
    const file = Object.values(bundle).find(isIt);
    return file === undefined ? [] : [root + file.fileName];
  };

  const files = new Map<Variant, Files>();
  for (const variant of kVariants) {
    const isScript = ({ moduleIds }: Chunk) => endsIn(moduleIds, `edgegrad-${variant}.mjs`);
    const script = loaded.find(isScript)?.fileName;
    const wasm = ["core", ...parts].flatMap((part) =>
      addressOf(`edgegrad-${variant}.${part}.wasm`),
    );
    const worker = workerIn(bundle, variant);
    if (script !== undefined && wasm.length > 0)
      files.set(variant, { script: root + script, wasm, worker: worker && root + worker });
  }
  return files.size > 0 ? files : null;
}

// Vite makes a file without the names of its sources from the script of a worker.
function workerIn(bundle: Bundle, variant: Variant): string | undefined {
  const name = new RegExp(`(?:^|/)edgegrad-${variant}\\b[^/.]*\\.m?js$`);
  const isIt = ({ type, fileName }: Bundle[string]) => type === "asset" && name.test(fileName);
  return Object.values(bundle).find(isIt)?.fileName;
}

function endsIn(paths: readonly string[], name: string): boolean {
  return paths.some((path) => path.split("?")[0]?.endsWith(`/${name}`));
}

// A chunk and those that it imports statically.
function staticImportsOf(bundle: Bundle, entry: Chunk): Chunk[] {
  const chunks = new Set([entry]);
  for (const { imports } of chunks) {
    for (const name of imports) {
      const chunk = bundle[name];
      if (chunk?.type === "chunk") chunks.add(chunk);
    }
  }
  return [...chunks];
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
    for (const wasm of chosen.wasm) link("preload", wasm, { as: "fetch", crossOrigin: "anonymous" });
    link("modulepreload", chosen.script);
    // No link preloads the script of a worker in every browser; this one then comes from the cache.
    if (chosen.worker) fetch(chosen.worker).catch(() => {});
  }
})();`;
}
