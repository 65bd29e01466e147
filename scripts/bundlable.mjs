// Emscripten's module, changed so that bundlers take it as it is: Vite wants a worker's options to be a literal and
// no top-level await in it, and none of them may look for Node's own modules when it builds a page.

const kRewrites = [
  // execArgv: a worker must not inherit what only the main script can take, such as --input-type.
  [
    /var workerOptions=\{([^}]*)\};(worker=new Worker\(new URL\([^)]*\),)workerOptions\)/,
    "$2{$1,execArgv:[]})",
  ],
  [
    /\bimport\((["'])(module|worker_threads)\1\)/g,
    'import(/* @vite-ignore */ /* webpackIgnore: true */ builtin("$2"))',
  ],
  [
    /if \(isNode\) isPthread = \(await (import\(.*\))\)\.workerData === 'em-pthread';\n[\s\S]*?isPthread && (\w+)\(\);/,
    "if (isNode) $1.then((node) => node.workerData === 'em-pthread' && $2());\nelse isPthread && $2();",
  ],
];

/** Returns the module's script for dist/: bundlable and minified. */
export async function bundlable(script) {
  const { transform } = await import("esbuild");
  const prelude = 'const builtin = (name) => "node:" + name;\n';
  const rewritten = kRewrites.reduce(
    (text, [pattern, replacement]) => text.replace(pattern, replacement),
    script,
  );
  const result = await transform(prelude + rewritten, {
    minify: true,
    format: "esm",
    target: "es2022",
  });
  return result.code;
}
