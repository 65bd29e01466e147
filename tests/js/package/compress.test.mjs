// npx edgegrad-compress: what it writes beside the files of a site, what it leaves alone, and what it says.

import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { runNode } from "../support/child.mjs";
import { kRoot, readJson } from "../support/files.mjs";

const kProgram = join(kRoot, readJson("package.json").bin["edgegrad-compress"]);
const kText = "let x = 1;\n".repeat(200);

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgegrad-compress-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const compress = (...args) => runNode([kProgram, ...args], { cwd: folder });

function write(name, content) {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), content);
}

function assertForms(name, content) {
  const path = join(folder, name);
  assert.equal(brotliDecompressSync(readFileSync(`${path}.br`)).toString(), content);
  assert.equal(gunzipSync(readFileSync(`${path}.gz`)).toString(), content);
}

describe("edgegrad-compress", () => {
  test("is a program of the package", () => {
    assert.ok(readJson("package.json").files.includes("bin"));
    assert.match(readFileSync(kProgram, "utf8"), /^#!\/usr\/bin\/env node\n/);
    assert.ok(statSync(kProgram).mode & 0o100);
  });

  test("writes both forms beside what compresses well, in subfolders too, and says what that saves", async () => {
    const names = ["index.html", "a/b/app.js", "a/style.css", "a/data.json", "icon.svg", "e.wasm"];
    for (const name of names) write(`dist/${name}`, kText);
    write("dist/picture.png", kText);
    write("dist/node_modules/x/index.js", kText);
    write("dist/.git/index.js", kText);
    const { status, stdout, stderr } = await compress("dist");
    assert.deepEqual([status, stderr], [0, ""]);
    for (const name of names) assertForms(`dist/${name}`, kText);
    const written = readdirSync(folder, { recursive: true }).filter((name) =>
      /\.(br|gz)$/.test(name),
    );
    assert.equal(written.length, 2 * names.length);
    assert.match(
      stdout,
      /^ {2}dist\/e\.wasm: 2\.2 kB, 0\.0 kB as \.br \(\d\d % less\), 0\.\d kB as \.gz \(\d\d % less\)$/m,
    );
    assert.match(stdout, /^dist: 6 files, 13\.2 kB, .*\(12 compressed files written\)$/m);
  });

  test("writes again only what has changed, whatever the dates say", async () => {
    write("dist/same.js", kText);
    write("dist/changed.js", kText);
    await compress("dist");
    const before = statSync(join(folder, "dist/same.js.br")).mtimeMs;
    write("dist/changed.js", `${kText}more();`);
    const { stdout } = await compress("dist");
    assert.match(stdout, /\(2 compressed files written\)/);
    assert.equal(statSync(join(folder, "dist/same.js.br")).mtimeMs, before);
    assertForms("dist/changed.js", `${kText}more();`);
    assert.match((await compress("dist")).stdout, /\(everything was up to date\)/);
  });

  test("repairs a damaged form, and removes one that is no use any longer", async () => {
    write("dist/a.js", kText);
    write("dist/a.js.br", "damaged");
    write("dist/short.js", "1");
    write("dist/short.js.gz", "of an earlier, longer file");
    assert.equal((await compress("dist")).status, 0);
    assertForms("dist/a.js", kText);
    assert.ok(!existsSync(join(folder, "dist/short.js.gz")));
  });

  test("takes an empty file and several folders", async () => {
    write("one/empty.js", "");
    write("two/a.js", kText);
    const { status, stdout } = await compress("one", "two");
    assert.equal(status, 0);
    assert.match(stdout, /^one: 1 file, 0\.0 kB[^\n]*\ntwo: 1 file, 2\.2 kB/);
  });

  for (const [title, args, message] of [
    ["no folder", [], /^edgegrad-compress: Which folder\?[\s\S]*npx edgegrad-compress dist/],
    ["a folder that is not there", ["dist"], /There is no folder dist: build the site first\.$/m],
    ["a file", ["file.js"], /file\.js is a file; expected the folder of a built site\.$/m],
    [
      "a folder without such files",
      ["pictures"],
      /pictures has no file of the types wasm, js, .*: expected/,
    ],
    ["an unknown option", ["--level=3", "dist"], /Unknown option '--level'[\s\S]*FOLDER/],
  ]) {
    test(`says what is wrong with ${title}, and ends with 1`, async () => {
      write("file.js", kText);
      write("pictures/a.png", kText);
      const { status, stderr } = await compress(...args);
      assert.equal(status, 1);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /\n {4}at /);
    });
  }

  test("says what it cannot write", async () => {
    write("dist/a.js", kText);
    write("dist/a.js.br/in_the_way", "");
    const { status, stderr } = await compress("dist");
    assert.equal(status, 1);
    assert.match(stderr, /dist\/a\.js\.br cannot be written: /);
    assert.deepEqual(readdirSync(join(folder, "dist")).sort(), ["a.js", "a.js.br"]);
  });

  test("--help says how it is called", async () => {
    const { status, stdout } = await compress("--help");
    assert.equal(status, 0);
    assert.match(stdout, /npx edgegrad-compress dist/);
  });
});
