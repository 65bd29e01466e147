// Rewrites Emscripten's module so that bundlers accept it. The module must not construct its own workers: a script that is
// its own worker is a cycle, on which Turbopack never terminates (the package constructs the workers,
// web/src/runtime/threads/workers.ts). And a bundler that builds a page must not resolve Node.js's built-in modules, nor the
// modules passed to eg.spawn(), whose URLs are known only at run time. The module must also start where there is no
// import.meta.url: bundled to CommonJS, and in runtimes for the edge.

import { smaller } from "./smaller.mjs";

// The version of Emscripten whose script the rewrites below were written for.
const kWrittenFor = "3.1.69";

const kNodeTest =
  'typeof process=="object"&&typeof process.versions=="object"&&typeof process.versions.node=="string"&&process.type!="renderer"';
const kNodeRequire =
  /const\{createRequire\}=await import\("module"\);.*?var require=createRequire\(dirname\)/;
const kNodeFolder = '!import.meta.url.startsWith("data:")';

// Compilation starts when the file has been read, and an asynchronous read in Node.js is split into chunks with other
// tasks in between.
const kNodeRead =
  /return new Promise\(\(resolve, ?reject\) ?=> ?\{\s*fs\.readFile\(filename,[\s\S]*?\}\);?\s*\}\)/;
const kReadAtOnce =
  'return Promise.resolve().then(() => binary ? fs.readFileSync(filename).buffer : fs.readFileSync(filename, "utf8"))';

// The build without threads has its own maximum, so growth beyond the maximum of init() is refused here.
const kHeapMaximum = "getHeapMax=()=>4294901760";
const kGivenMaximum = 'getHeapMax=()=>Module["memoryMaximum"]??4294901760';

// Where the built-in prototypes are frozen (lockdown() of SES), what is inherited cannot be assigned.
const kAssigned =
  /\);errorClass\.prototype\.constructor=errorClass;errorClass\.prototype\.toString=(.*?);return errorClass/;
const kDefined = ",{constructor:{value:errorClass},toString:{value:$1}});return errorClass";

const kRewrites = [
  [kNodeTest, "isNode"],
  [kNodeRequire, ""],
  [/\brequire\("/g, 'builtin("'],
  [kNodeFolder, 'import.meta.url?.startsWith("file:")'],
  [kNodeRead, kReadAtOnce],
  ["scriptDirectory=self.location.href", 'scriptDirectory=self.location?.href??""'],
  [kHeapMaximum, kGivenMaximum],
  [kAssigned, kDefined],
];

const kThreadRewrites = [
  [
    /var workerOptions=\{[^}]*\};worker=new Worker\(new URL\([^)]*\),workerOptions\)/,
    'worker=Module["makeWorker"]()',
  ],
  // Only if it does not exist, because the program may have defined its own.
  ["global.Worker=worker_threads.Worker", "global.Worker??=worker_threads.Worker"],
  // A worker created by other code becomes a thread only on request.
  ['ENVIRONMENT_IS_WORKER&&self.name?.startsWith("em-pthread")', 'Module["isThread"]===true||$&'],
  [
    'ENVIRONMENT_IS_WORKER&&worker_threads["workerData"]=="em-pthread"',
    'Module["isThread"]===true||$&',
  ],
  // No top-level await, because Vite's workers are not modules.
  [
    /var isNode = .*\nif \(isNode\) isPthread = (.*);\n[\s\S]*?isPthread && (\w+)\(\);/,
    "if (isNode) isPthread = builtin('worker_threads').workerData === 'em-pthread';\nisPthread && $2();",
  ],
];

// A local variable hides Node's global, for which Parcel would install a polyfill. `isNode` is that of web/src/runtime/host/node.ts.
const kPrelude = `
const process = "EdgeRuntime" in globalThis ? undefined : globalThis.process;
const isNode =
  typeof process?.getBuiltinModule === "function" &&
  !["renderer", "worker", "service-worker"].includes(process.type) &&
  globalThis.navigator?.userAgent !== "Cloudflare-Workers";
const builtin = (name) => process.getBuiltinModule("node:" + name);
`;

// A package that exists only for Node.js. Vite resolves literal specifiers even if they are marked.
const kNodePackage = /\bimport\(("webgpu")\)/g;

// The minifier drops comments, but these keep bundlers from following an import.
const kComputedImport = /\bimport\((?!"[^"]*"\))/g;
const kUnfollowed = "import(/*@vite-ignore*//*webpackIgnore:true*//*turbopackIgnore:true*/";

/** Returns the module's script for dist/, rewritten for bundlers and minified. */
export async function bundlable(script, hasThreads) {
  const { transform } = await import("esbuild");
  const rewrites = hasThreads ? [...kThreadRewrites, ...kRewrites] : kRewrites;
  const rewritten = rewrites.reduce(rewrite, kPrelude + script);
  const options = { minify: true, format: "esm", target: "es2022" };
  const { code } = await smaller((await transform(rewritten, options)).code);
  return unfollowed(code);
}

/** Returns a minified script in which the imports that bundlers must not follow are marked. */
export function unfollowed(code) {
  return code.replace(kNodePackage, "import(String($1))").replace(kComputedImport, kUnfollowed);
}

function rewrite(text, [pattern, replacement]) {
  const result = text.replace(pattern, replacement);
  if (result === text)
    throw new Error(
      `scripts/building/bundlable.mjs rewrites the script of Emscripten ${kWrittenFor}; this one does not have ${pattern}`,
    );
  return result;
}
