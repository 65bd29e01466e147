// npm run check: formatting, lint, types, layers, and what else is kept in step. `--fix` fixes what can be fixed automatically.
// `--quick` skips clang-tidy, which takes minutes on its first run; `--tidy` runs only clang-tidy.

import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findRuleErrors } from "./checks/autograd_rules.mjs";
import { findCircles } from "./checks/circles.mjs";
import { biome, clangFormat, kCppFolders } from "./checks/formatting.mjs";
import { findAllLayeringErrors } from "./checks/layering.mjs";
import { findMessageErrors } from "./checks/messages.mjs";
import { findNamesDefinedTwice } from "./checks/public_names.mjs";
import { findSpellingErrors } from "./checks/spelling.mjs";
import { findTidyErrors } from "./checks/tidy.mjs";
import { findTimers } from "./checks/timers.mjs";
import { writeNativeFunctions } from "./generating/native_functions.mjs";
import { ensurePackages } from "./machine/apt.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { checkPatterns } from "./patterns.mjs";
import { CommandError, kRoot, main, quiet, step } from "./process.mjs";

/** The C++ files of folders, relative to the checkout. */
function cppFiles(folders, pattern = /\.(h|cpp)$/) {
  return folders.flatMap((folder) => {
    const names = readdirSync(join(kRoot, folder), { recursive: true });
    checkPatterns([pattern], names, folder);
    return names.filter((name) => pattern.test(name)).map((name) => join(folder, name));
  });
}

async function types() {
  const tsc = join(kRoot, "node_modules", "typescript", "bin", "tsc");
  for (const project of [kRoot, join(kRoot, "web"), join(kRoot, "demos")]) {
    await quiet(process.execPath, [tsc, "--noEmit", "--project", project], { cwd: kRoot });
  }
}

function reject(name, errors) {
  if (errors.length) throw new CommandError(name, errors.length, errors.join("\n"));
}

await main(async () => {
  const flag = { type: "boolean", default: false };
  const { fix, quick, tidy } = parseArgs({
    options: { fix: flag, quick: flag, tidy: flag },
  }).values;
  await ensureNodeModules();
  await ensurePackages("native", "check");
  const clangTidy = [
    "clang-tidy",
    async () => reject("clang-tidy", await findTidyErrors(cppFiles(["src"], /\.cpp$/))),
  ];
  const checks = [
    ["tsc", types], // the longest first
    ["clang-format", () => clangFormat(cppFiles(kCppFolders), { fix })],
    ["biome", () => biome(["."], { fix })],
    [
      "native functions",
      async () => reject("native functions", writeNativeFunctions({ check: !fix })),
    ],
    ["rules of autograd", () => reject("rules of autograd", findRuleErrors())],
    ["messages", () => reject("messages", findMessageErrors())],
    ["layers", async () => reject("layers", await findAllLayeringErrors())],
    ["circles of imports", async () => reject("circles of imports", findCircles())],
    ["spelling", async () => reject("spelling", findSpellingErrors())],
    ["public names", async () => reject("public names", await findNamesDefinedTwice())],
    ["timers in tests", () => reject("timers in tests", findTimers())],
  ];
  const wanted = fix
    ? checks.slice(1, 4)
    : [...(tidy ? [] : checks), ...(quick ? [] : [clangTidy])];
  let failed = 0;
  const queue = [...wanted];
  const worker = async () => {
    for (let next = queue.shift(); next; next = queue.shift())
      await step(...next).catch(() => failed++);
  };
  // What repairs files runs one after the other.
  const workers = fix ? 1 : availableParallelism();
  await Promise.all(Array.from({ length: workers }, worker));
  if (!fix) console.log(`${wanted.length - failed} passed, ${failed} failed`);
  return failed ? 1 : 0;
});
