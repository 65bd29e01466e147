// Emscripten's module, changed so that bundlers take it as it is. It must not construct its own workers: a script that
// is its own worker is a circle, on which Turbopack never ends (the package constructs them,
// web/src/runtime/workers.ts). And no bundler may look for Node's own modules when it builds a page, nor for the modules of
// eg.spawn(), whose addresses are known at run time only.

import { smaller } from "./smaller.mjs";

const kNodeModule = /\bawait import\((["'])(\w+)\1\)/g;

// Compiling begins when the file is read, and Node reads one bit by bit, with other tasks in between.
const kNodeRead =
  /return new Promise\(\(resolve, ?reject\) ?=> ?\{\s*fs\.readFile\(filename,[\s\S]*?\}\);?\s*\}\)/;
const kReadAtOnce =
  'return Promise.resolve().then(() => binary ? fs.readFileSync(filename).buffer : fs.readFileSync(filename, "utf8"))';

const kRewrites = [
  [kNodeModule, 'await builtin("$2")'],
  [kNodeRead, kReadAtOnce],
];

const kThreadRewrites = [
  [
    /var workerOptions=\{[^}]*\};worker=new Worker\(new URL\([^)]*\),workerOptions\)/,
    'worker=Module["makeWorker"]()',
  ],
  // Only where there is none: a program may have brought its own.
  ["global.Worker=worker_threads.Worker", "global.Worker??=worker_threads.Worker"],
  // A worker that somebody else made becomes a thread when it is told to.
  ['ENVIRONMENT_IS_WORKER&&self.name?.startsWith("em-pthread")', 'Module["isThread"]===true||$&'],
  [
    'ENVIRONMENT_IS_WORKER&&worker_threads["workerData"]=="em-pthread"',
    'Module["isThread"]===true||$&',
  ],
  // No top-level await: Vite's workers are no modules.
  [
    /if \(isNode\) isPthread = (.*);\n[\s\S]*?isPthread && (\w+)\(\);/,
    "if (isNode) builtin('worker_threads').then((node) => node.workerData === 'em-pthread' && $2());\nelse isPthread && $2();",
  ],
];

// Of a variable of the module no bundler thinks that it is Node's global, for which Parcel installs a substitute.
const kPrelude = `
const process = globalThis.process;
const builtin = async (name) => process.getBuiltinModule?.("node:" + name) ?? import("node:" + name);
`;

// Node's, which no page has. Vite looks for what is written out even where there are marks.
const kNodePackage = /\bimport\(("webgpu")\)/g;

// The minifier drops comments, and these are what keeps a bundler from following an import.
const kComputedImport = /\bimport\((?!"[^"]*"\))/g;
const kUnfollowed = "import(/*@vite-ignore*//*webpackIgnore:true*//*turbopackIgnore:true*/";

/** Returns the module's script for dist/: bundlable and minified. */
export async function bundlable(script, hasThreads) {
  const { transform } = await import("esbuild");
  const rewrites = hasThreads ? [...kThreadRewrites, ...kRewrites] : kRewrites;
  const rewritten = rewrites.reduce(rewrite, kPrelude + script);
  const options = { minify: true, format: "esm", target: "es2022" };
  const { code } = await smaller((await transform(rewritten, options)).code);
  return unfollowed(code);
}

/** Returns a minified script with marks at the imports that bundlers are not to follow. */
export function unfollowed(code) {
  return code.replace(kNodePackage, "import(String($1))").replace(kComputedImport, kUnfollowed);
}

function rewrite(text, [pattern, replacement]) {
  const result = text.replace(pattern, replacement);
  if (result === text) throw new Error(`Emscripten's script has no ${pattern} any more`);
  return result;
}
