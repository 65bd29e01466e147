// The two builds to compare: existing folders, or commits that are built in separate worktrees.

import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expected, kRoot, quiet, read, step } from "../../../scripts/process.mjs";

/**
 * Resolves to { name, dist }: `what` is a folder with a build, a checkout with a build in dist/, or a commit of the repository.
 */
export async function versionOf(what, variant, repository = kRoot) {
  for (const dist of [resolve(what), resolve(what, "dist")]) {
    if (existsSync(join(dist, "index.js"))) return { name: what, dist };
  }
  const commit = read("git", [
    "-C",
    repository,
    "rev-parse",
    "--verify",
    "--quiet",
    `${what}^{commit}`,
  ]);
  if (!commit) throw expected(`"${what}" is neither a folder with a build nor a commit`);
  const dist = join(repository, "build", "bench", "dists", commit);
  const isThere = ["index.js", `wasm/edgegrad-${variant}.wasm`].every((name) =>
    existsSync(join(dist, name)),
  );
  if (!isThere) await buildCommit(commit, variant, dist, repository);
  return { name: `${what} (${commit.slice(0, 10)})`, dist };
}

async function buildCommit(commit, variant, dist, repository) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-commit-"));
  const git = (...args) => quiet("git", ["-C", repository, ...args]);
  await git("worktree", "add", "--detach", "--force", folder, commit);
  try {
    shareNodeModules(repository, folder);
    await step(`build ${commit.slice(0, 10)}`, () =>
      quiet(process.execPath, ["scripts/build.mjs", variant, "web"], { cwd: folder }),
    );
    rmSync(dist, { recursive: true, force: true });
    mkdirSync(dirname(dist), { recursive: true });
    cpSync(join(folder, "dist"), dist, { recursive: true });
  } finally {
    await git("worktree", "remove", "--force", folder);
  }
}

// Only if both lock files are the same: otherwise the build would install its packages into the folder of this checkout.
function shareNodeModules(repository, folder) {
  const [here, there] = [repository, folder].map((root) => {
    const lock = join(root, "package-lock.json");
    return existsSync(lock) ? readFileSync(lock, "utf8") : null;
  });
  const modules = join(repository, "node_modules");
  if (here === there && existsSync(modules))
    symlinkSync(modules, join(folder, "node_modules"), "junction");
}
