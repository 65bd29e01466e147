#!/usr/bin/env node
// edgegrad-compress: writes a .br and a .gz file beside every file of a built site that compresses well, for servers that send
// such files instead of compressing each response.

import { readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { extname, join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { brotliCompress, brotliDecompress, constants, gunzip, gzip } from "node:zlib";

const kExtensions = ".wasm .js .mjs .css .html .json .svg .txt .xml .webmanifest".split(" ");
const kTypes = kExtensions.map((extension) => extension.slice(1)).join(", ");

const kHelp = `edgegrad-compress FOLDER...

Writes NAME.br (Brotli, level 11) and NAME.gz (gzip, level 9) beside every file of these types in the
folders and their subfolders: ${kTypes}.
Files that are up to date are left as they are. Run it after each build of your site, on the folder that the
build writes:

  npx edgegrad-compress dist

The server has to be told to send these files: see "Compression" in docs/guide/deploying.md of the package.`;

const [compressBrotli, expandBrotli, compressGzip, expandGzip] = [
  brotliCompress,
  brotliDecompress,
  gzip,
  gunzip,
].map((work) => promisify(work));

const kFormats = [
  {
    ending: ".br",
    expand: expandBrotli,
    compress: (bytes) =>
      compressBrotli(bytes, {
        params: {
          [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
          [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
          [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
        },
      }),
  },
  {
    ending: ".gz",
    expand: expandGzip,
    compress: (bytes) => compressGzip(bytes, { level: constants.Z_BEST_COMPRESSION }),
  },
];

/** A mistake of the user, which is reported without a stack. */
class Mistake extends Error {}

/** Returns the files below a folder that compress well; without packages, hidden folders and links. */
async function filesIn(folder) {
  const entries = await readdir(folder, { withFileTypes: true }).catch((error) => {
    throw new Mistake(whyUnreadable(folder, error));
  });
  const found = entries.map(async (entry) => {
    const path = join(folder, entry.name);
    if (entry.isFile()) return kExtensions.includes(extname(path)) ? [path] : [];
    const isSkipped = entry.name === "node_modules" || entry.name.startsWith(".");
    return entry.isDirectory() && !isSkipped ? filesIn(path) : [];
  });
  return (await Promise.all(found)).flat();
}

function whyUnreadable(folder, { code, message }) {
  if (code === "ENOENT") return `There is no folder ${folder}: build the site first.`;
  if (code === "ENOTDIR") return `${folder} is a file; expected the folder of a built site.`;
  return `${folder} cannot be read: ${message}`;
}

/** Writes the compressed forms of a file that are missing or old. Returns the sizes, and how many files were written. */
async function compressFile(path) {
  const bytes = await readFile(path);
  const sizes = { path, original: bytes.length, written: 0 };
  for (const { ending, expand, compress } of kFormats) {
    const target = path + ending;
    sizes[ending] = await sizeIfCurrent(target, expand, bytes);
    if (sizes[ending] !== null) continue;
    const compressed = await compress(bytes);
    // Where compression gains nothing, the server sends the original if there is no other file.
    sizes[ending] = Math.min(compressed.length, bytes.length);
    if (compressed.length < bytes.length) {
      await replaceFile(target, compressed);
      sizes.written++;
    } else await rm(target, { force: true });
  }
  return sizes;
}

/** Returns the size of a compressed file that still has the content `bytes`, or null. Dates would not tell: tools copy and set them. */
async function sizeIfCurrent(target, expand, bytes) {
  try {
    const compressed = await readFile(target);
    return (await expand(compressed)).equals(bytes) ? compressed.length : null;
  } catch {
    return null;
  }
}

// A server never sees half a file.
async function replaceFile(target, bytes) {
  const partial = `${target}.${process.pid}.part`;
  try {
    await writeFile(partial, bytes);
    await rename(partial, target);
  } catch (error) {
    await rm(partial, { force: true }).catch(() => {});
    throw new Mistake(`${target} cannot be written: ${error.message}`);
  }
}

/** Compresses files, as many at once as there are cores; returns their sizes. */
async function compressAll(paths) {
  const rest = [...paths];
  const results = [];
  const worker = async () => {
    for (let path = rest.shift(); path !== undefined; path = rest.shift()) {
      results.push(await compressFile(path));
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return results;
}

function report(folder, results) {
  const lines = results.filter(({ path }) => path.endsWith(".wasm")).sort(byPath);
  for (const line of lines) console.log(`  ${line.path}: ${sizesOf([line])}`);
  const written = results.reduce((sum, result) => sum + result.written, 0);
  const files = results.length === 1 ? "1 file" : `${results.length} files`;
  const change =
    written === 0 ? "everything was up to date" : `${written} compressed files written`;
  console.log(`${folder}: ${files}, ${sizesOf(results)} (${change})`);
}

const byPath = (a, b) => (a.path < b.path ? -1 : 1);

function sizesOf(results) {
  const total = (key) => results.reduce((sum, result) => sum + result[key], 0);
  const kilobytes = (key) => `${(total(key) / 1000).toFixed(1)} kB`;
  const forms = kFormats.map(({ ending }) => {
    const saved = total("original") === 0 ? 0 : 1 - total(ending) / total("original");
    return `${kilobytes(ending)} as ${ending} (${Math.round(100 * saved)} % less)`;
  });
  return [kilobytes("original"), ...forms].join(", ");
}

function readOptions() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: { help: { type: "boolean", short: "h", default: false } },
    });
  } catch (error) {
    throw new Mistake(`${error.message}\n\n${kHelp}`);
  }
}

async function main() {
  const { values, positionals: folders } = readOptions();
  if (values.help) return console.log(kHelp);
  if (folders.length === 0) throw new Mistake(`Which folder?\n\n${kHelp}`);
  for (const folder of folders) {
    if ((await stat(folder).catch(() => null))?.isFile())
      throw new Mistake(whyUnreadable(folder, { code: "ENOTDIR" }));
    const paths = await filesIn(folder);
    if (paths.length === 0)
      throw new Mistake(
        `${folder} has no file of the types ${kTypes}: expected the folder that the build of your site writes.`,
      );
    report(folder, await compressAll(paths));
  }
}

try {
  await main();
} catch (error) {
  if (!(error instanceof Mistake)) throw error;
  console.error(`edgegrad-compress: ${error.message}`);
  process.exitCode = 1;
}
