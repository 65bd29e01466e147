// Runs clang-tidy on src/. A file is checked again only if the file, a header that it includes, or the rules have
// changed.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { cacheFolder, kRoot, quiet } from "../process.mjs";

const kPreset = "clang-tidy";

/**
 * At most so many files are checked as one translation unit: of the 12 s that a file alone takes, 11 s are spent in the headers of the
 * standard library, which are then read once.
 */
const kTogether = 28;

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
  const options = optionsIn(join(folder, "compile_commands.json"));
  const waiting = files
    .map((file) => ({
      file,
      stamp: join(passed, fingerprint(file)),
      options: options.get(join(kRoot, file)),
    }))
    .filter(({ stamp }) => !existsSync(stamp));
  const reports = [];
  let batches = batchesOf(waiting);
  while (batches.length > 0) {
    const left = [];
    const worker = async (_, index) => {
      const unit = join(folder, `together${index}.cpp`);
      for (let batch = batches.shift(); batch; batch = batches.shift()) {
        const { together, others } = await dividedByNames(batch, unit);
        left.push(...others);
        const report = await reportOn(together, unit);
        if (report === null) for (const { stamp } of together) writeFileSync(stamp, "");
        else if (together.length === 1) reports.push(report);
        else batches.push(...halvesOf(together));
      }
    };
    await Promise.all(Array.from({ length: availableParallelism() }, worker));
    batches = batchesOf(left);
  }
  return reports;
}

/** Returns the compiler's options for each source file. */
function optionsIn(commands) {
  const optionsOf = (command) => command.slice(0, command.lastIndexOf(" -o ")).split(" ").slice(1);
  return new Map(
    JSON.parse(readFileSync(commands, "utf8")).map(({ file, command }) => [
      file,
      optionsOf(command),
    ]),
  );
}

/** Divides files into batches of about the same number of neighbors that have the same options. */
function batchesOf(files) {
  const wayOf = ({ options }) => options.join(" ");
  return [...new Set(files.map(wayOf))].flatMap((way) => {
    const all = files.filter((file) => wayOf(file) === way);
    const size = Math.ceil(all.length / Math.ceil(all.length / kTogether));
    return Array.from({ length: Math.ceil(all.length / size) }, (_, i) =>
      all.slice(i * size, (i + 1) * size),
    );
  });
}

/** Takes out of a batch the files that cannot follow the others, because of names that they have in common. */
async function dividedByNames(files, unit) {
  let together = files;
  const others = [];
  while (together.length > 1) {
    writeUnit(together, unit);
    const wrong = await wrongLines(unit, files[0].options);
    wrong.delete(0); // an error of its own, which clang-tidy reports
    if (wrong.size === 0) break;
    others.push(...together.filter((_, i) => wrong.has(i)));
    together = together.filter((_, i) => !wrong.has(i));
  }
  return { together, others };
}

/** Returns the lines of a unit, from 0, in whose files the compiler finds errors. */
async function wrongLines(unit, options) {
  const more = ["-fsyntax-only", "-w", "-ferror-limit=0", "-fno-caret-diagnostics"];
  const output = await quiet("clang++-19", [...options, ...more, unit]).then(
    () => "",
    (error) => error.output ?? "",
  );
  const wrong = new Set();
  const start = `In file included from ${unit}:`;
  let line = 0;
  for (const text of output.split("\n")) {
    if (text.startsWith(start)) line = Number.parseInt(text.slice(start.length), 10) - 1;
    else if (/: (?:fatal )?error: /.test(text)) wrong.add(line);
  }
  return wrong;
}

function writeUnit(files, unit) {
  writeFileSync(unit, files.map(({ file }) => `#include "${join(kRoot, file)}"\n`).join(""));
}

const halvesOf = (batch) => {
  const middle = Math.ceil(batch.length / 2);
  return [batch.slice(0, middle), batch.slice(middle)];
};

/** Returns what clang-tidy reports on files, which are compiled together as `unit`, or null if there is nothing. */
async function reportOn(files, unit) {
  const isAlone = files.length === 1;
  if (!isAlone) writeUnit(files, unit);
  // Including a source file is the point here, and local variables may have the names of another file's.
  const checks = isAlone ? [] : ["--checks=-bugprone-suspicious-include"];
  const warnings = isAlone ? [] : ["-Wno-shadow"];
  const rules = `--config-file=${join(kRoot, ".clang-tidy")}`;
  const source = isAlone ? join(kRoot, files[0].file) : unit;
  try {
    const options = ["--quiet", ...checks, rules, source, "--", ...files[0].options, ...warnings];
    await quiet("clang-tidy-19", options, { cwd: kRoot });
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
