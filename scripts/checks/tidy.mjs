// Runs clang-tidy on src/. A file is checked again only if the file, a header that it includes, or the rules have
// changed.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join } from "node:path";
import { cacheFolder, kRoot, quiet } from "../process.mjs";

const kPreset = "clang-tidy";

/**
 * The number of files of a folder that are checked as one translation unit. Most of the time is spent in the headers of the standard
 * library, which are then read once.
 */
const kTogether = 8;

// The files besides the sources on which a result depends.
const kRules = [
  ".clang-tidy",
  "CMakePresets.json",
  "CMakeLists.txt",
  "cmake/Machine.cmake",
  "cmake/Warnings.cmake",
];

/** Returns clang-tidy's reports for the files that have findings. */
export async function findTidyErrors(files) {
  const folder = join(kRoot, "build", kPreset);
  await quiet("cmake", ["--preset", kPreset], { cwd: kRoot });
  const passed = join(cacheFolder(), "clang-tidy");
  mkdirSync(passed, { recursive: true });
  const waiting = files
    .map((file) => ({ file, stamp: join(passed, fingerprint(file)) }))
    .filter(({ stamp }) => !existsSync(stamp));
  const queue = batchesOf(waiting);
  const commands = JSON.parse(readFileSync(join(folder, "compile_commands.json"), "utf8"));
  const reports = [];
  const worker = async (_, index) => {
    const unit = join(folder, `together${index}.cpp`);
    for (let next = queue.pop(); next; next = queue.pop()) {
      if (next.length > 1 && (await passTogether(next, unit, commands))) {
        for (const { stamp } of next) writeFileSync(stamp, "");
        continue;
      }
      for (const { file, stamp } of next) {
        const report = await reportOn(["-p", folder, file]);
        if (report === null) writeFileSync(stamp, "");
        else reports.push(report);
      }
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return reports;
}

function batchesOf(waiting) {
  const folders = new Set(waiting.map(({ file }) => dirname(file)));
  return [...folders].flatMap((folder) => {
    const all = waiting.filter(({ file }) => dirname(file) === folder);
    const count = Math.ceil(all.length / kTogether);
    return Array.from({ length: count }, (_, i) => all.filter((_, k) => k % count === i));
  });
}

// Files with the same local names cannot be compiled together; they are then checked one by one, like a batch with findings.
async function passTogether(files, unit, commands) {
  writeFileSync(unit, files.map(({ file }) => `#include "${join(kRoot, file)}"\n`).join(""));
  const { command } = commands.find(({ file }) => file === join(kRoot, files[0].file));
  const [, ...options] = command.slice(0, command.lastIndexOf(" -o ")).split(" ");
  // Including a source file is the point here.
  const checks = "--checks=-bugprone-suspicious-include";
  const rules = `--config-file=${join(kRoot, ".clang-tidy")}`;
  return (await reportOn([checks, rules, unit, "--", ...options])) === null;
}

/** Returns what clang-tidy reports, or null if there is nothing. */
async function reportOn(options) {
  try {
    await quiet("clang-tidy-19", ["--quiet", ...options], { cwd: kRoot });
    return null;
  } catch (error) {
    return (error.output ?? String(error)).replace(/^\d+ warnings? generated\.\n/gm, "");
  }
}

/** Returns a hash of everything that the result for a file depends on. */
function fingerprint(file) {
  const hash = createHash("sha256");
  for (const path of [...kRules, ...withHeaders(file)])
    hash.update(path).update(readFileSync(join(kRoot, path)));
  return hash.digest("hex");
}

/** Returns a source file and every header of the project that it includes, directly or indirectly, relative to the checkout. */
function withHeaders(file, seen = new Set()) {
  if (seen.has(file)) return seen;
  seen.add(file);
  const text = readFileSync(join(kRoot, file), "utf8");
  for (const [, path] of text.matchAll(/^\s*#include "([^"]+)"/gm)) {
    const header = `src/${path}`;
    if (existsSync(join(kRoot, header))) withHeaders(header, seen);
  }
  return seen;
}
