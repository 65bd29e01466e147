// Builds the JavaScript of the package: web/ into dist/.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { kAddons, kAddonsWithWorker, kNodeModulesOfAddon, kPeersOfAddon } from "../addons.mjs";
import { kRoot, quiet, step } from "../process.mjs";
import { unfollowed } from "./bundlable.mjs";
import { writeNamespaces } from "./namespaces.mjs";
import { smaller } from "./smaller.mjs";
import { kShaders, kWebBundle } from "./web_bundle.mjs";
import { writeWheel } from "./wheel.mjs";

export const kDist = join(kRoot, "dist");
const kWebGpu = join(kDist, "wasm", "edgegrad-webgpu.js");
const kModules = "index.modules.js";
// The hash of everything that dist/ was built from.
const kStamp = join(kRoot, "build", "web.stamp");

/**
 * Compiles web/src into dist/ in two forms, the code that only WebGPU needs into a separate file, and the declarations.
 *
 * dist/index.js is a single file: a page without a bundler requests one file instead of 330, and Node.js imports it in a
 * fifth of the time that separate modules take. Bundlers find the other form through the condition "module" in package.json:
 * one module per source file, so that they can drop what a program does not import. Node.js does not know that condition, so
 * it never loads both forms. During development nothing is dropped and the single file loads faster, so it is used there
 * ("development").
 *
 * dist/namespaces has the entries edgegrad/nn and the like. dist/single/index.js is edgegrad/single, also one file, and dist/single/edge.js is
 * what both entries are in edge runtimes. An add-on is a file that imports `edgegrad`, so that it uses the program's engine, and files that
 * it loads later.
 */
export async function buildWeb() {
  const source = join(kRoot, "web", "src");
  const stamp = hashOfSources();
  const isThere = [kStamp, join(kDist, "index.js"), kWebGpu].every(existsSync);
  if (isThere && readFileSync(kStamp, "utf8") === stamp) return;
  rmSync(kStamp, { force: true });
  await step("build web", async () => {
    removeOldFiles();
    await bundle(join(source, "one_file.ts"), join(kDist, "index.js"));
    await writeSingle(join(source, "single"), join(kDist, "single"));
    await writeModules(source);
    await writeNamespaces(join(kDist, "index.js"));
    await bundle(join(source, "webgpu", "index.ts"), kWebGpu);
    await writeAddons();
    await writeWheel(join(kRoot, "web", "pyodide"), join(kDist, "pyodide"));
    const tsc = join(kRoot, "node_modules", "typescript", "bin", "tsc");
    const options = ["--declaration", "--emitDeclarationOnly", "--noEmit", "false"];
    const writeTypes = (...more) =>
      quiet(process.execPath, [tsc, ...options, "--outDir", kDist, ...more], { cwd: kRoot });
    await writeTypes("--project", kRoot);
    // Without the paths of tsconfig.json, `edgegrad` resolves to the declarations that were just written.
    await writeTypes("--project", join(kRoot, "web"), "--paths", "null");
    // That project also has the declarations of the engine's scripts, for the checks, and so writes those of the package that they use.
    rmSync(join(kDist, "src"), { recursive: true });
    mkdirSync(dirname(kStamp), { recursive: true });
    writeFileSync(kStamp, stamp);
  });
}

function hashOfSources() {
  const hash = createHash("sha256");
  const filesOf = (folder) =>
    readdirSync(join(kRoot, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  const own = ["package.json", "package-lock.json", "tsconfig.json"].map((name) =>
    join(kRoot, name),
  );
  for (const file of [...own, ...filesOf("web"), ...filesOf("scripts")].sort())
    hash.update(file).update(readFileSync(file));
  return hash.digest("hex");
}

// Removes files of earlier builds whose sources no longer exist; otherwise they would be published. The folder wasm has
// fixed file names and is not cleared.
function removeOldFiles() {
  if (!existsSync(kDist)) return;
  for (const name of readdirSync(kDist).filter((name) => name !== "wasm")) {
    rmSync(join(kDist, name), { recursive: true });
  }
}

// edgegrad/single is one file in every environment, so that a program never has it twice. The entry for edge runtimes imports it.
async function writeSingle(source, folder) {
  const ownFiles = {
    name: "files",
    setup: ({ onResolve }) =>
      onResolve({ filter: /\/files\.js$/ }, () => ({ path: join(source, "files.ts") })),
  };
  const { build } = await import("esbuild");
  for (const name of ["index", "edge"]) {
    const outfile = join(folder, `${name}.js`);
    const options = minified(join(source, `${name}.ts`), outfile);
    const external = [...options.external, "./index.js"];
    // No source map: it would be as large as that of index.js, with the same sources, and bundlers minify the file again.
    await build({ ...options, external, plugins: [...options.plugins, ownFiles] });
    await shrink(outfile);
  }
}

// No source maps: they would be as large as the add-ons, and bundlers minify the files again. Code that an add-on imports only by import()
// is a separate file, which a page loads when it is needed. The package.json of bundled packages (kBundledInAddon) names their modules;
// their licenses are in THIRD_PARTY_NOTICES.md.
async function writeAddons() {
  const { build } = await import("esbuild");
  for (const name of kAddons) {
    const { outfile: _, ...options } = minified(join(kRoot, "web", name, "index.ts"));
    const outdir = join(kDist, name);
    const packages = [...(kPeersOfAddon[name] ?? []), ...(kNodeModulesOfAddon[name] ?? [])];
    const external = [...options.external, ...packages];
    const entryPoints = [...options.entryPoints];
    if (kAddonsWithWorker.includes(name)) entryPoints.push(join(kRoot, "web", name, "worker.ts"));
    const bundled = { mainFields: ["module", "main"], legalComments: "none" };
    await build({ ...options, ...bundled, entryPoints, external, outdir, splitting: true });
    const files = readdirSync(outdir).filter((file) => file.endsWith(".js"));
    for (const file of files) {
      await shrink(join(outdir, file));
      leaveOutBareImports(join(outdir, file));
    }
  }
}

// esbuild imports a shared file even if nothing in it is used. Other bundlers warn about such imports, because package.json declares that
// imports have no side effects.
function leaveOutBareImports(path) {
  const text = readFileSync(path, "utf8");
  const rest = text.replaceAll(/\bimport\s*"\.\/chunk-\w+\.js";/g, "");
  if (rest !== text) writeFileSync(path, rest);
}

function minified(entry, outfile) {
  return {
    ...kWebBundle,
    entryPoints: [entry],
    outfile,
    platform: "neutral",
    target: "es2022",
    // smaller() does the rest, because it keeps the names of classes.
    minifySyntax: true,
    // Keeps the script on one line, which finish() requires.
    supported: { "template-literal": false },
    plugins: [kNames, kShaders],
  };
}

async function bundle(entry, outfile) {
  const { build } = await import("esbuild");
  // The sources would be a quarter of the package; file, line and name are what a stack trace needs.
  await build({ ...minified(entry, outfile), sourcemap: true, sourcesContent: false });
  await shrink(outfile, `${outfile}.map`);
}

// Minifies esbuild's output further, with its source map if it has one.
async function shrink(outfile, mapFile) {
  const script = withOwnMembers(withOwnNames(readFileSync(outfile, "utf8")));
  const made = mapFile
    ? await smaller(script, readFileSync(mapFile, "utf8"), basename(mapFile))
    : await smaller(script);
  writeFileSync(outfile, made.code);
  if (mapFile) writeFileSync(mapFile, made.map);
  finish(outfile);
}

// Errors and printed modules show the names of classes, which minifiers change, also in users' bundles. A static property
// preserves the name, and bundlers can still drop a class that is not used.
const kClass =
  /^((?:export )?(?:abstract )?class (\w+)(?:(?!\(\{$)[^;])*?\{)(\}?)$(?!\n\s+static (?:override |readonly )*name\b)/gm;

// Matches a class that extends the result of a call with a declaration; the body begins after that call.
const kDeclaredClass =
  /^((?:export )?(?:abstract )?class (\w+)[^;{(]* extends \w+(?:<[^;(]*>)?\(\{$(?:\n(?!\}).*)*\n\}\).*\{)(\}?)$/gm;

function withNames(code) {
  const named = '$1\n  static name = "$2";\n$3';
  return code.replace(kClass, named).replace(kDeclaredClass, named);
}

// esbuild writes a class as `Slice = class {`, as `Tensor = class _Tensor {` if it refers to itself, and as `Buffer2 = class {` if the
// name is taken. Errors of the engine ("Class constructor Slice cannot be invoked without 'new'") and consoles show the name after
// the keyword, whatever the property says.
function withOwnNames(code) {
  const ofThemselves = new Set();
  const named = code.replace(
    /\b(\w+) = class(?: (_\w+))?(?= extends | \{)/g,
    (_, name, own, at) => {
      if (own !== undefined) ofThemselves.add(own);
      return `${name} = class ${nameInside(code.slice(at, code.indexOf("\n}", at))) ?? name}`;
    },
  );
  return named.replace(/\b_\w+\b/g, (word) => (ofThemselves.has(word) ? word.slice(1) : word));
}

// esbuild's function for `export * as` would also define properties that a page has added to Object.prototype.
const kMembers = /(?<=^ *for \(var \w+ )in (all\d*)(?=\)$)/gm;

function withOwnMembers(code) {
  return code.replace(kMembers, "of Object.keys($1)");
}

// Returns the static name of a class, unless the name means something else in it.
function nameInside(text) {
  const [, name] = /^.*\n +static name = "(\w+)";/.exec(text) ?? [];
  return new RegExp(`(?<!")\\b${name}\\b(?!")`).test(text) ? undefined : name;
}

// Removed: in a file with all modules, these calls do not tell what a page needs.
const kNeeds = /^needsPart\(.*\);$/gm;

const kNames = {
  name: "names",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.ts$/ }, ({ path }) => ({
      contents: withNames(readFileSync(path, "utf8")).replace(kNeeds, ""),
      loader: "ts",
    })),
};

// Functions that only define values. A bundler cannot detect that they have no side effects.
const kDefiners = [
  "define",
  "defineInPlace",
  "defineFactory",
  "withGenerator",
  "sameSized",
  "composite",
  "compositeFactory",
  "constraint",
];
const kDefinition = new RegExp(`(= |\\()(?=(?:${kDefiners.join("|")})\\()`, "g");

// An unindented class that extends the result of a function: layer(rules, names, op). Such functions only create classes.
const kMadeClass = /^((?:export )?(?:default )?class \w+ extends )(?=\w+\()/gm;

// Written next to their declarations, so that the relative URLs in files.ts are the same in both forms.
async function writeModules(source) {
  const { transform } = await import("esbuild");
  const tsconfigRaw = readFileSync(join(kRoot, "tsconfig.json"), "utf8");
  const names = readdirSync(source, { recursive: true }).filter(
    (name) => /(?<!\.d)\.ts$/.test(name) && !/^(webgpu\b|single\b|one_file\.ts)/.test(name),
  );
  for (const name of names) {
    const text = withNames(readFileSync(join(source, name), "utf8"));
    const options = { loader: "ts", format: "esm", target: "es2022", tsconfigRaw };
    const { code } = await transform(text, options);
    // An unindented line is not inside a function.
    const marked = code
      .replace(/^(?:export )?const .*$/gm, (line) =>
        line.replace(kDefinition, "$1/* @__PURE__ */ "),
      )
      .replace(kMadeClass, "$1/* @__PURE__ */ ");
    const file = name === "index.ts" ? kModules : name.replace(/\.ts$/, ".js");
    mkdirSync(dirname(join(kDist, file)), { recursive: true });
    writeFileSync(join(kDist, file), marked);
  }
}

// For an uncaught error Node.js prints the source line, which would be the whole package, unless the line contains this
// marker.
function finish(file) {
  const [code, ...rest] = readFileSync(file, "utf8").split("\n");
  if (rest.length > 2) throw new Error(`${file} has ${rest.length} lines; expected one`);
  writeFileSync(
    file,
    [`${unfollowed(code)} // node-do-not-add-exception-line`, ...rest].join("\n"),
  );
}

/** Returns the files of dist/ that the entry of an add-on consists of: itself, and those that it imports statically. */
export function addonEntryFiles(name) {
  const found = new Set();
  const visit = (file) => {
    if (found.has(file)) return;
    found.add(file);
    const text = readFileSync(join(kDist, file), "utf8");
    for (const [, path] of text.matchAll(/\b(?:from|import) ?"\.\/([^"]+)"/g))
      visit(`${name}/${path}`);
  };
  visit(`${name}/index.js`);
  return [...found];
}

/** Returns the scripts of an add-on that its entry does not import statically, but loads when they are needed. */
export function addonLaterFiles(name) {
  const first = addonEntryFiles(name);
  const files = readdirSync(join(kDist, name)).filter((file) => file.endsWith(".js"));
  return files.map((file) => `${name}/${file}`).filter((file) => !first.includes(file));
}
