// Runs clang-tidy on src/. A file is checked again only if the file, a header that it includes, or the rules have
// changed.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { cacheFolder, kRoot, quiet } from "../process.mjs";

const kPreset = "clang-tidy";

/** Returns clang-tidy's reports for the files that have findings. */
export async function findTidyErrors(files) {
  const folder = join(kRoot, "build", kPreset);
  await quiet("cmake", ["--preset", kPreset], { cwd: kRoot });
  const passed = join(cacheFolder(), "clang-tidy");
  mkdirSync(passed, { recursive: true });
  const waiting = files.map((file) => [file, join(passed, fingerprint(file))]);
  const queue = waiting.filter(([, stamp]) => !existsSync(stamp));
  const reports = [];
  const worker = async () => {
    for (let next = queue.pop(); next; next = queue.pop()) {
      const [file, stamp] = next;
      try {
        await quiet("clang-tidy-19", ["--quiet", "-p", folder, file], { cwd: kRoot });
        writeFileSync(stamp, "");
      } catch (error) {
        reports.push((error.output ?? String(error)).replace(/^\d+ warnings? generated\.\n/gm, ""));
      }
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, worker));
  return reports;
}

/** Returns a hash of everything that the result for a file depends on. */
function fingerprint(file) {
  const hash = createHash("sha256");
  const rules = [
    ".clang-tidy",
    "CMakePresets.json",
    "CMakeLists.txt",
    "cmake/Machine.cmake",
    "cmake/Warnings.cmake",
  ];
  for (const path of [...rules, ...withHeaders(file)])
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
