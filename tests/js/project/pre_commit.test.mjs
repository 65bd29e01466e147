// The pre-commit hook, tested in a separate repository: it formats what is staged, and rejects what it cannot repair.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { before, beforeEach, describe, test } from "node:test";
import { kRoot } from "../support/files.mjs";
import { kGitEnvironment, makeRepository } from "../support/repository.mjs";

const kClangFormat = "/usr/bin/clang-format-19";
const kFiles = [
  "scripts",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "biome.json",
  ".clang-format",
];

const { folder, git, at, textOf, write } = makeRepository();
const options = { cwd: folder, env: kGitEnvironment, encoding: "utf8" };
const committed = (name) => git("show", `HEAD:${name}`);

/** Tries to commit; returns the exit status and the output. */
function commit(...args) {
  const { status, stdout, stderr } = spawnSync(
    "git",
    ["commit", "-m", "A change", ...args],
    options,
  );
  return { status, output: stdout + stderr };
}

const hooks = (...args) =>
  spawnSync(process.execPath, [at("scripts/pre_commit.mjs"), ...args], options);

before(() => {
  for (const name of kFiles) cpSync(join(kRoot, name), at(name), { recursive: true });
  symlinkSync(join(kRoot, "node_modules"), at("node_modules"), "junction");
  write(".gitignore", "node_modules\n");
  write("web/src/index.ts", "export const one = 1;\n");
  mkdirSync(at("src"), { recursive: true });
  git("add", "--all");
  git("commit", "--quiet", "--message=Start");
  assert.equal(hooks("--install").status, 0);
});
beforeEach(() => git("reset", "--hard", "--quiet"));

describe("the pre-commit hook", () => {
  test("formats what is staged, commits that, and leaves other files alone", () => {
    write("scripts/staged.mjs", "export const a=1\n");
    write("scripts/other.mjs", "export const b=1\n");
    git("add", "scripts/staged.mjs");
    const { status, output } = commit();
    assert.equal(status, 0, output);
    assert.equal(committed("scripts/staged.mjs"), "export const a = 1;");
    assert.equal(textOf("scripts/staged.mjs"), "export const a = 1;\n");
    assert.equal(textOf("scripts/other.mjs"), "export const b=1\n");
    rmSync(at("scripts/other.mjs"));
  });

  test("stops a commit with what it cannot repair, and says what that is", () => {
    write("scripts/wrong.mjs", "export const a = 1;\ndebugger;\n");
    git("add", "scripts/wrong.mjs");
    const { status, output } = commit();
    assert.equal(status, 1);
    assert.match(output, /noDebugger[\s\S]*Nothing is committed/);
    assert.throws(() => committed("scripts/wrong.mjs"));
    assert.equal(commit("--no-verify").status, 0);
  });

  test("checks a file that is staged in part as it is staged, and changes neither version", () => {
    write("scripts/part.mjs", "export const a=1\n");
    git("add", "scripts/part.mjs");
    write("scripts/part.mjs", "export const a = 1;\nexport const later=2\n");
    const { status, output } = commit();
    assert.equal(status, 1, output);
    assert.match(output, /staged in part/);
    assert.equal(git("show", ":scripts/part.mjs"), "export const a=1");
    assert.equal(textOf("scripts/part.mjs"), "export const a = 1;\nexport const later=2\n");

    write("scripts/part.mjs", "export const a = 1;\n");
    git("add", "scripts/part.mjs");
    write("scripts/part.mjs", "export const a = 1;\nexport const later=2\n");
    assert.equal(commit().status, 0);
    assert.equal(committed("scripts/part.mjs"), "export const a = 1;");
  });

  test("only checks in `git commit FILES`, whose index is for that commit alone", () => {
    write("scripts/named.mjs", "export const a=1\n");
    git("add", "scripts/named.mjs");
    const { status, output } = commit("scripts/named.mjs");
    assert.equal(status, 1, output);
    assert.equal(textOf("scripts/named.mjs"), "export const a=1\n");
  });

  test("formats C++", { skip: existsSync(kClangFormat) ? false : "no clang-format-19" }, () => {
    write("src/base/number.h", "#pragma once\nint   number( );\n");
    git("add", "src");
    const { status, output } = commit();
    assert.equal(status, 0, output);
    assert.equal(committed("src/base/number.h"), "#pragma once\nint number();");
  });

  test("stops an include and an import against the layers", () => {
    write("src/base/high.h", '#pragma once\n#include "ops/all.h"\n');
    write(
      "web/src/runtime/low.ts",
      'import { Tensor } from "../tensor/high.js";\n\nnew Tensor();\n',
    );
    write("web/src/tensor/high.ts", "export class Tensor {}\n");
    git("add", "src", "web");
    const { status, output } = commit();
    assert.equal(status, 1);
    assert.match(output, /base\/high\.h \(base\) may not include ops\/all\.h/);
    assert.match(
      output,
      /web\/src\/runtime\/low\.ts .*may not import values from tensor\/high\.ts/,
    );
  });

  test("has nothing to do where only text is staged", () => {
    write("notes.md", "*  a list\n");
    git("add", "notes.md");
    assert.equal(commit().status, 0);
    assert.equal(committed("notes.md"), "*  a list");
  });
});

describe("npm run hooks", () => {
  const path = () => spawnSync("git", ["config", "core.hooksPath"], options).stdout;

  test("installs the hook, twice as well as once, and removes it", () => {
    assert.equal(hooks("--install").status, 0);
    assert.equal(path(), "scripts/hooks\n");
    assert.equal(hooks("--remove").status, 0);
    assert.equal(path(), "");
    const again = hooks("--remove");
    assert.equal(again.status, 1);
    assert.match(again.stderr, /not installed/);
  });

  test("does not take the place of hooks that are there", () => {
    const own = at(".git/hooks/pre-commit");
    mkdirSync(dirname(own), { recursive: true });
    copyFileSync(at("scripts/hooks/pre-commit"), own);
    chmodSync(own, 0o755);
    const refused = hooks("--install");
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /\.git\/hooks\/pre-commit already/);
    rmSync(own);
    git("config", "core.hooksPath", "elsewhere");
    assert.match(hooks("--install").stderr, /core\.hooksPath is elsewhere/);
    git("config", "core.hooksPath", "scripts/hooks");
  });
});
