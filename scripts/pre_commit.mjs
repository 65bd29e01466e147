// The pre-commit hook: formats and lints the staged files, and checks their layers. Repaired files are staged again; errors that cannot be
// repaired stop the commit. `npm run hooks` installs it, `npm run hooks -- --remove` removes it, `git commit --no-verify` skips it once.

import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { biome, clangFormat, kCppFolders } from "./checks/formatting.mjs";
import { findAllLayeringErrors } from "./checks/layering.mjs";
import { ensurePackages } from "./machine/apt.mjs";
import { ensureNodeModules } from "./machine/dependencies.mjs";
import { CommandError, expected, kRoot, main, quiet, read, step } from "./process.mjs";

const kFolder = "scripts/hooks";

const git = (...args) => quiet("git", args, { cwd: kRoot });

async function changedFiles(...more) {
  const names = await git("diff", "--name-only", "--diff-filter=ACMR", "-z", ...more);
  return names.split("\0").filter(Boolean);
}

const isCpp = (file) =>
  /\.(h|cpp)$/.test(file) && kCppFolders.some((folder) => file.startsWith(`${folder}/`));
const isBiomes = (file) => /\.([cm]?[jt]s|jsonc?|css|html)$/.test(file);
const isLayered = (file) => /^(?:src|web)\//.test(file);

/** Runs a formatter on files: it repairs those that are completely staged, and only checks the others. */
async function format(title, tool, files, isOnlyChecked) {
  const whole = files.filter((file) => !isOnlyChecked(file));
  if (whole.length > 0) {
    await step(`${title}, ${whole.length} staged`, () => tool(whole, { fix: true })).finally(() =>
      git("add", "--", ...whole),
    );
  }
  const partial = files.filter(isOnlyChecked);
  if (partial.length > 0) {
    const what = `${title}, ${partial.length} staged in part, which are only checked`;
    await step(what, () => checkCopies(tool, partial));
  }
}

/** Checks the staged versions of files, which differ from those in the working tree. */
async function checkCopies(tool, files) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-staged-"));
  try {
    for (const name of [".clang-format", "biome.json"])
      copyFileSync(join(kRoot, name), join(folder, name));
    await git("checkout-index", `--prefix=${folder}/`, "--", ...files);
    await tool(files, { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function checkLayers(files) {
  const errors = await findAllLayeringErrors();
  const own = errors.filter((line) => files.some((file) => line.startsWith(`${file} `)));
  if (own.length > 0) throw new CommandError("layers", own.length, own.join("\n"));
}

async function checkStaged() {
  const staged = await changedFiles("--cached");
  const unstaged = await changedFiles();
  // `git commit FILES` uses a temporary index: changes that a hook stages there are missing from the real one afterward.
  const isTemporary = basename(process.env.GIT_INDEX_FILE ?? "").startsWith("next-index");
  const isOnlyChecked = (file) => isTemporary || unstaged.includes(file);
  const [cpp, layered] = [isCpp, isLayered].map((is) => staged.filter(is));
  if (cpp.length > 0) await ensurePackages("check");
  const checks = [
    () => format("clang-format", clangFormat, cpp, isOnlyChecked),
    () => format("biome", biome, staged.filter(isBiomes), isOnlyChecked),
    () => layered.length > 0 && step("layers", () => checkLayers(layered)),
  ];
  let failed = 0;
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      failed = 1;
      if (error.code === "ENOENT") console.error(`  ${error.path} is not installed`);
    }
  }
  if (failed)
    console.error(
      "Nothing is committed. npm run format repairs; git commit --no-verify skips this.",
    );
  return failed;
}

/** Points core.hooksPath at scripts/hooks, or back; refuses to replace existing hooks. */
async function install(isRemoved) {
  const current = read("git", ["-C", kRoot, "config", "core.hooksPath"]);
  if (isRemoved) {
    if (current !== kFolder) throw expected("The hook is not installed.");
    await git("config", "--unset", "core.hooksPath");
    return console.log("git commit runs no hook of this project any more.");
  }
  const how = `Call ${kFolder}/pre-commit from`;
  if (current && current !== kFolder)
    throw expected(`core.hooksPath is ${current}. ${how} the hook there.`);
  const own = read("git", ["-C", kRoot, "rev-parse", "--git-path", "hooks/pre-commit"]);
  if (!current && own && existsSync(resolve(kRoot, own)))
    throw expected(`There is a hook in ${own} already. ${how} it.`);
  await git("config", "core.hooksPath", kFolder);
  console.log(`git commit now runs ${kFolder}/pre-commit (core.hooksPath).`);
}

await main(async () => {
  const flag = { type: "boolean", default: false };
  const { values } = parseArgs({ options: { install: flag, remove: flag } });
  await ensureNodeModules();
  return values.install || values.remove ? install(values.remove) : checkStaged();
});
