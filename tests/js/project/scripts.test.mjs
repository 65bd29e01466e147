// The project's commands in a fresh clone, where nothing is installed yet.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { after, describe, test } from "node:test";
import { runNode } from "../support/child.mjs";
import { kRoot, readJson } from "../support/files.mjs";

const commands = Object.entries(readJson("package.json").scripts);
// It checks the checkout first, and leaves it to npm run build to install what is needed.
const kNeedNothing = ["release"];
const clone = mkdtempSync(join(tmpdir(), "edgegrad-clone-"));

const kParts = [
  "scripts",
  "tests/bench",
  "demos/site/pages.mjs",
  "package.json",
  "package-lock.json",
];
for (const part of kParts) {
  mkdirSync(dirname(join(clone, part)), { recursive: true });
  const filter = (path) => !path.includes("node_modules");
  cpSync(join(kRoot, part), join(clone, part), { recursive: true, filter });
}
// The only program on PATH: an npm that cannot install anything.
const bin = join(clone, "bin");
mkdirSync(bin);
writeFileSync(join(bin, "npm"), '#!/bin/sh\necho "no network for npm $*"\nexit 7\n', {
  mode: 0o755,
});
after(() => rmSync(clone, { recursive: true }));

/** Runs a script of package.json in the clone. */
function run(command, ...args) {
  const [, ...words] = command.split(" ");
  const env = { ...process.env, PATH: [bin, "/bin"].join(delimiter) };
  return runNode([...words, ...args], { cwd: clone, env });
}

describe("without node_modules", () => {
  for (const [name, command] of commands.filter(([name]) => !kNeedNothing.includes(name))) {
    test(`npm run ${name} installs them before anything else, and says when it cannot`, async () => {
      const { status, stdout, stderr } = await run(command);
      assert.equal(status, 1);
      assert.match(
        stderr,
        /^ {2}npm ci: failed.*\nno network for npm ci .*\nnpm ci .* failed \(7\)/,
      );
      assert.doesNotMatch(stdout + stderr, /^ {4}at /m);
    });
  }
});

describe("an argument that a command does not know", () => {
  // npm start passes these arguments on to the demo.
  for (const [name, command] of commands.filter(([name]) => name !== "start")) {
    test(`is refused by npm run ${name}`, async () => {
      for (const argument of ["--no-such-option", "no-such-part"]) {
        const { status, stdout, stderr } = await run(command, argument);
        assert.equal(status, 1, stdout);
        assert.notEqual(stderr, "");
        assert.doesNotMatch(stderr, /npm ci|^ {4}at /m);
      }
    });
  }
});
