// npm run release, tested in a separate repository. npm is the real one, but it has no access to a registry.

import assert from "node:assert/strict";
import { cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, before, describe, test } from "node:test";
import { kVariants, wasmFiles } from "../../../scripts/build.mjs";
import { kLists } from "../../../scripts/docs/lists.mjs";
import {
  compareVersions,
  datedChangelog,
  kReleasedFiles,
  nextVersion,
  obstacles,
  withVersion,
} from "../../../scripts/releasing/release_plan.mjs";
import { runNode } from "../support/child.mjs";
import { kRoot, readJson } from "../support/files.mjs";
import { kGitEnvironment, makeRepository } from "../support/repository.mjs";

const { folder, git, at, textOf, write } = makeRepository();
const env = { ...kGitEnvironment, npm_config_registry: "http://localhost:1" };
const kOwners = {
  repository: { type: "git", url: "git+https://example.com/edgegrad.git" },
  homepage: "https://example.com/edgegrad",
  bugs: "https://example.com/edgegrad/issues",
};
const kChangelog =
  "# Changelog\n\n## Unreleased\n\n### Added\n\n- A change.\n- Another.\n\n## 0.0.9 (2026-01-01)\n\n- Old.\n";
const kToday = new Date().toISOString().slice(0, 10);

const release = (...args) => runNode(["scripts/release.mjs", ...args], { cwd: folder, env });

/** Commits a change of package.json and CHANGELOG.md. */
function commitWith({ manifest = {}, changelog = kChangelog }) {
  const all = { ...readJson("package.json"), ...kOwners, version: "0.1.0", ...manifest };
  write("package.json", `${JSON.stringify(all, null, 2)}\n`);
  const { repository } = all;
  const starter = { ...readJson("create/package.json"), version: all.version, repository };
  write("create/package.json", `${JSON.stringify(starter, null, 2)}\n`);
  write("CHANGELOG.md", changelog);
  git("add", "--all");
  git("commit", "--quiet", "--allow-empty", "--message=Start");
}

before(() => {
  const copied = ["scripts", ...kReleasedFiles, "README.md", "LICENSE", "THIRD_PARTY_NOTICES.md"];
  for (const name of copied) cpSync(join(kRoot, name), at(name), { recursive: true });
  for (const name of ["index.js", "index.modules.js"]) write(`dist/${name}`, "export {};\n");
  for (const name of kVariants.flatMap(wasmFiles)) write(`dist/wasm/${name}`, "");
  for (const name of kLists) write(`docs/generated/${name}.md`, "# A list\n");
  write(".gitignore", "/dist/\n/docs/generated/\n/node_modules/\n");
  commitWith({});
});
afterEach(() => {
  git("reset", "--quiet", "--hard");
  git("clean", "--quiet", "--force");
});

describe("npm run release", () => {
  test("--dry-run says what it would do, and changes nothing", async () => {
    const start = git("rev-parse", "HEAD");
    const { status, stdout, stderr } = await release("minor", "--dry-run");
    assert.equal(status, 0, stderr);
    assert.match(stdout, /edgegrad 0\.2\.0: 2 entries[\s\S]*v0\.2\.0[\s\S]*Nothing was changed/);
    assert.match(stdout, /npm publish --provenance --dry-run \(/);
    assert.equal(git("status", "--porcelain"), "");
    assert.equal(git("tag"), "");
    assert.equal(git("rev-parse", "HEAD"), start);
  });

  test("sets the version, dates the changelog, commits and tags, and says what comes next", async () => {
    const { status, stdout, stderr } = await release("minor", "--no-build");
    assert.equal(status, 0, stderr);
    assert.equal(JSON.parse(textOf("package.json")).version, "0.2.0");
    const lock = JSON.parse(textOf("package-lock.json"));
    const { "": own, create } = lock.packages;
    assert.deepEqual([lock.version, own.version, create.version], ["0.2.0", "0.2.0", "0.2.0"]);
    assert.equal(JSON.parse(textOf("create/package.json")).version, "0.2.0");
    assert.match(textOf("CMakeLists.txt"), /project\(edgegrad VERSION 0\.2\.0 /);
    assert.match(textOf("web/src/runtime/start/version.ts"), /kVersion = "0\.2\.0"/);
    assert.match(
      textOf("CHANGELOG.md"),
      new RegExp(`\n## 0\\.2\\.0 \\(${kToday}\\)\n\n### Added\n\n- A change`),
    );
    assert.equal(git("status", "--porcelain"), "");
    assert.equal(git("log", "-1", "--format=%s"), "Release 0.2.0");
    assert.equal(git("rev-parse", "v0.2.0^{commit}"), git("rev-parse", "HEAD"));
    assert.match(stdout, /Nothing has been pushed[\s\S]*git push origin HEAD v0\.2\.0/);
    assert.match(stdout, /publish\.yml --ref v0\.2\.0/);
    assert.equal(
      git("tag", "--list", "--format=%(contents)", "v0.2.0"),
      "edgegrad 0.2.0\n\n### Added\n\n- A change.\n- Another.",
    );
    assert.match(stdout, /gh release create v0\.2\.0 --notes-from-tag/);
    assert.ok(existsSync(join(kRoot, ".github/workflows/publish.yml")));

    const again = await release("0.2.0");
    assert.equal(again.status, 1);
    assert.match(again.stderr, /tag v0\.2\.0 exists/);
    git("tag", "--delete", "v0.2.0");
    git("reset", "--quiet", "--hard", "HEAD~1");
  });

  test("leaves the files as they were when npm does not take the package", async () => {
    const start = git("rev-parse", "HEAD");
    const wasm = at("dist/wasm/edgegrad-simd.wasm");
    rmSync(wasm);
    const { status, stderr } = await release("patch", "--no-build");
    writeFileSync(wasm, "");
    assert.equal(status, 1);
    assert.match(
      stderr,
      /have been restored[\s\S]*no dist\/wasm\/edgegrad-simd\.wasm: npm run build/,
    );
    assert.equal(git("status", "--porcelain"), "");
    assert.equal(git("rev-parse", "HEAD"), start);
    assert.equal(git("tag"), "");
  });

  test("refuses a working tree with changes", async () => {
    write("new.txt", "not committed\n");
    const { status, stderr } = await release("patch");
    assert.equal(status, 1);
    assert.match(stderr, /0\.1\.1 cannot be released:\n {2}The working tree has changes/);
    assert.doesNotMatch(stderr, /\n {4}at /);
  });

  test("refuses what the owner has not filled in, by name", async () => {
    commitWith({ manifest: { repository: undefined, bugs: undefined } });
    const { status, stderr } = await release("patch");
    git("reset", "--quiet", "--hard", "HEAD~1");
    assert.equal(status, 1);
    assert.match(stderr, /package\.json has no repository, no bugs: the owner/);
    assert.match(stderr, /create\/package\.json has no repository: npm refuses/);
  });

  test("refuses an invalid version", async () => {
    for (const wanted of ["1.0", "next", "v1.0.0"]) {
      const { status, stderr } = await release(wanted);
      assert.equal(status, 1);
      assert.match(stderr, /is not a version/);
    }
  });
});

describe("the plan of a release", () => {
  const given = (more) =>
    obstacles({
      manifest: { ...kOwners, version: "0.1.0" },
      starter: kOwners,
      changelog: kChangelog,
      version: "0.1.1",
      isClean: true,
      hasTag: false,
      ...more,
    });

  test("finds nothing in the way of a good release", () => assert.deepEqual(given({}), []));

  test("asks for a section of the changelog that says something and is of this version", () => {
    const changelogOf = (heading, body) =>
      `# Changelog\n\n${heading}\n\n${body}\n## 0.0.9 (2026-01-01)\n\n- Old.\n`;
    const one = (changelog, version = "0.1.1") => given({ changelog, version }).join();
    assert.match(one("# Changelog\n\n## 0.0.9 (2026-01-01)\n\n- Old.\n"), /no section/);
    assert.match(one(changelogOf("## Unreleased", "")), /is empty/);
    assert.match(one(changelogOf("## 0.2.0 (unreleased)", "- New.\n")), /called 0\.2\.0/);
    assert.equal(one(changelogOf("## 0.2.0 (unreleased)", "- New.\n"), "0.2.0"), "");
    assert.equal(one(changelogOf("## [Unreleased]", "- New.\n")), "");
  });

  test("refuses an older version, and takes the present one where it is not out yet", () => {
    assert.match(given({ version: "0.0.9" }).join(), /0\.0\.9 is older/);
    assert.deepEqual(given({ version: "0.1.0" }), []);
  });

  test("knows the next versions, and which of two is older", () => {
    assert.equal(nextVersion("1.9.3", "patch"), "1.9.4");
    assert.equal(nextVersion("1.9.3", "minor"), "1.10.0");
    assert.equal(nextVersion("1.9.3", "major"), "2.0.0");
    assert.equal(nextVersion("1.9.3", "1.9.10"), "1.9.10");
    assert.equal(nextVersion("1.9.3", "2.0.0-beta.1"), null);
    assert.ok(compareVersions("1.9.3", "1.10.0") < 0);
    assert.equal(compareVersions("1.9.3", "1.9.3"), 0);
  });

  test("changes the heading of one section alone", () => {
    const text = "## Unreleased\n\n- About ## Unreleased.\n\n## 0.0.9 (2026-01-01)\n";
    const dated = datedChangelog(text, "0.1.0", "2026-02-03");
    assert.equal(dated, text.replace("## Unreleased\n\n-", "## 0.1.0 (2026-02-03)\n\n-"));
  });
});

describe("this checkout", () => {
  const current = readJson("package.json").version;

  test("has one version in all its files, and a place for the next", () => {
    for (const file of kReleasedFiles.filter((name) => name !== "CHANGELOG.md")) {
      const text = readFileSync(join(kRoot, file), "utf8");
      assert.equal(withVersion(file, text, current), text, file);
      assert.notEqual(withVersion(file, text, "9.8.7"), text, file);
    }
  });

  test("fails where a file no longer has its version in its place", () => {
    assert.throws(
      () => withVersion("CMakeLists.txt", "project(other)\n", "1.0.0"),
      /CMakeLists\.txt/,
    );
  });
});
