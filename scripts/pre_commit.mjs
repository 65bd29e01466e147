// The pre-commit hook: formats and lints the staged files, and checks the layers if they are in src or web/src. Repaired files
// are staged again; what cannot be repaired stops the commit. `npm run hooks` installs it, `npm run hooks -- --remove` removes
// it, `git commit --no-verify` skips it once.

import { copyFileSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { ensurePackages } from "./apt.mjs";
import { biome, clangFormat, kCppFolders } from "./checks/formatting.mjs";
import { findLayeringErrors } from "./checks/layering.mjs";
import { findWebLayeringErrors } from "./checks/layering_web.mjs";
import { ensureNodeModules } from "./dependencies.mjs";
import { CommandError, expected, kRoot, main, quiet, read, step } from "./process.mjs";

const kFolder = "scripts/hooks";

/** The names that a git command prints with -z. */
async function gitNames(...args) {
  const output = await quiet("git", [...args, "-z"], { cwd: kRoot });
  return output.split("\0").filter(Boolean);
}

async function stagedFiles() {
  const changed = ["diff", "--name-only", "--diff-filter=ACMR"];
  const staged = await gitNames(...changed, "--cached");
  const unstaged = await gitNames(...changed);
  return { staged, isPartial: (file) => unstaged.includes(file) };
}

/** `git commit FILES` uses a temporary index: what a hook stages there is missing from the real one afterwards. */
function isTemporaryIndex() {
  return basename(process.env.GIT_INDEX_FILE ?? "").startsWith("next-index");
}

const isCpp = (file) =>
  /\.(h|cpp)$/.test(file) && kCppFolders.some((folder) => file.startsWith(`${folder}/`));
const isBiomes = (file) => /\.([cm]?[jt]s|jsonc?|css|html)$/.test(file);

/** Runs a formatter over files: it repairs those that are staged whole and only checks the others. */
async function format(title, tool, files, isPartial) {
  const whole = files.filter((file) => !isPartial(file));
  if (whole.length > 0) {
    await step(`${title}, ${whole.length} staged`, () => tool(whole, { fix: true })).finally(() =>
      quiet("git", ["add", "--", ...whole], { cwd: kRoot }),
    );
  }
  const partial = files.filter(isPartial);
  if (partial.length > 0) {
    const what = `${title}, ${partial.length} staged in part, which are only checked`;
    await step(what, () => checkCopies(tool, partial));
  }
}

/** Checks the staged versions of files, which differ from those in the working tree. */
async function checkCopies(tool, files) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-staged-"));
  try {
    const rules = [".clang-format", "biome.json"];
    for (const name of rules) copyFileSync(join(kRoot, name), join(folder, name));
    await quiet("git", ["checkout-index", `--prefix=${folder}/`, "--", ...files], { cwd: kRoot });
    await tool(files, { cwd: folder });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function checkLayers(staged) {
  const errors = [];
  if (staged.some((file) => file.startsWith("src/"))) errors.push(...findLayeringErrors());
  if (staged.some((file) => file.startsWith("web/src/")))
    errors.push(...(await findWebLayeringErrors()));
  if (errors.length > 0) throw new CommandError("layers", errors.length, errors.join("\n"));
}

async function checkStaged() {
  const { staged, isPartial } = await stagedFiles();
  const onlyChecked = isTemporaryIndex() ? () => true : isPartial;
  const cpp = staged.filter(isCpp);
  if (cpp.length > 0) await ensurePackages("check");
  const checks = [
    () => format("clang-format", clangFormat, cpp, onlyChecked),
    () => format("biome", biome, staged.filter(isBiomes), onlyChecked),
    () =>
      staged.some((file) => /^(web\/)?src\//.test(file))
        ? step("layers", () => checkLayers(staged))
        : null,
  ];
  let failed = 0;
  for (const check of checks) {
    try {
      await check();
    } catch (error) {
      failed++;
      if (error.code === "ENOENT") console.error(`  ${error.path} is not installed`);
    }
  }
  if (failed > 0) {
    console.error(
      "Nothing is committed. npm run format repairs; git commit --no-verify skips this.",
    );
  }
  return failed > 0 ? 1 : 0;
}

/** Points core.hooksPath at scripts/hooks; refuses to replace existing hooks. */
async function install() {
  const current = read("git", ["-C", kRoot, "config", "core.hooksPath"]);
  if (current && current !== kFolder) {
    throw expected(`core.hooksPath is ${current}. Call ${kFolder}/pre-commit from the hook there.`);
  }
  const own = read("git", ["-C", kRoot, "rev-parse", "--git-path", "hooks/pre-commit"]);
  if (!current && own && existsSync(resolve(kRoot, own))) {
    throw expected(`There is a hook in ${own} already. Call ${kFolder}/pre-commit from it.`);
  }
  await quiet("git", ["config", "core.hooksPath", kFolder], { cwd: kRoot });
  console.log(`git commit now runs ${kFolder}/pre-commit (core.hooksPath).`);
}

async function remove() {
  const current = read("git", ["-C", kRoot, "config", "core.hooksPath"]);
  if (current !== kFolder) throw expected("The hook is not installed.");
  await quiet("git", ["config", "--unset", "core.hooksPath"], { cwd: kRoot });
  console.log("git commit runs no hook of this project any more.");
}

await main(async () => {
  const flag = { type: "boolean", default: false };
  const { values } = parseArgs({ options: { install: flag, remove: flag } });
  await ensureNodeModules();
  if (values.remove) return remove();
  return values.install ? install() : checkStaged();
});
