// A git repository in a temporary folder, for tests of commands that use git.

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after } from "node:test";

// These tests may run inside a hook of this checkout, whose GIT_ variables must not affect the other repository.
const kOthers = Object.entries(process.env).filter(([key]) => !/^GIT_/.test(key));
const kIdentity = ["AUTHOR", "COMMITTER"].flatMap((who) => [
  [`GIT_${who}_NAME`, "Test"],
  [`GIT_${who}_EMAIL`, "test@example.com"],
]);

/** The environment of git there. */
export const kGitEnvironment = Object.fromEntries([...kOthers, ...kIdentity]);

/** Makes a repository, which is removed after the file's tests. */
export function makeRepository() {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-repository-"));
  const options = { cwd: folder, env: kGitEnvironment, encoding: "utf8", stdio: "pipe" };
  /** Returns what a git command prints. */
  const git = (...args) => execFileSync("git", args, options).trim();
  const at = (name) => join(folder, name);
  const textOf = (name) => readFileSync(at(name), "utf8");
  const write = (name, text) => {
    mkdirSync(dirname(at(name)), { recursive: true });
    writeFileSync(at(name), text);
  };
  git("init", "--quiet", "--initial-branch=main");
  after(() => rmSync(folder, { recursive: true }));
  return { folder, git, at, textOf, write };
}
