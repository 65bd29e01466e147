// npm create edgegrad: what it writes, and what it says. The templates themselves are built and trained by npm run pack:check.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, test } from "node:test";
import { kTemplates } from "../../../create/project.mjs";
import { kIsolation } from "../../../scripts/isolation.mjs";
import { versionOf } from "../../package/tools.mjs";
import { runNode } from "../support/child.mjs";
import { kRoot, readJson } from "../support/files.mjs";

const kProgram = join(kRoot, "create", readJson("create/package.json").bin["create-edgegrad"]);
const kNames = Object.keys(kTemplates);

let folder;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "edgegrad-create-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const create = (...args) => runNode([kProgram, ...args], { cwd: folder });
const textOf = (path) => readFileSync(join(folder, path), "utf8");

/** Runs the program in a terminal, and gives an answer whenever it has asked. */
async function answerInTerminal(answers) {
  const command = `'${process.execPath}' '${kProgram}'`;
  const child = spawn("/usr/bin/script", ["-qec", command, "/dev/null"], { cwd: folder });
  let output = "";
  let asked = 0;
  child.stdout.setEncoding("utf8").on("data", (text) => {
    output += text;
    const questions = output.match(/\): /g)?.length ?? 0;
    if (questions > asked) child.stdin.write(answers[asked++] ?? "");
  });
  const [status] = await once(child, "close");
  return { status, output };
}

describe("npm create edgegrad", () => {
  test("has a folder for every template, and no other", () => {
    assert.deepEqual(readdirSync(join(kRoot, "create/templates")).sort(), kNames.toSorted());
  });

  for (const name of kNames) {
    test(`${name}: a project with this version of edgegrad, named after its folder`, async () => {
      const { status, stdout, stderr } = await create("My App", "--template", name);
      assert.deepEqual([status, stderr], [0, ""]);
      const { command } = kTemplates[name];
      assert.match(stdout, new RegExp(`cd "My App"\n  npm install\n  npm run ${command}\n$`));
      const manifest = JSON.parse(textOf("My App/package.json"));
      assert.equal(manifest.name, "my-app");
      assert.ok(manifest.scripts[command]);
      assert.equal(manifest.private, true);
      const { edgegrad, ...tools } = { ...manifest.dependencies, ...manifest.devDependencies };
      assert.equal(edgegrad, `^${readJson("package.json").version}`);
      for (const [tool, version] of Object.entries(tools)) {
        assert.equal(version, `^${versionOf(tool)}`, tool);
      }
      assert.match(textOf("My App/.gitignore"), /^node_modules\/$/m);
    });
  }

  for (const name of kNames.filter((name) => kTemplates[name].shared.hosting)) {
    test(`${name}: the headers for isolation, here and on hosts, and a worker for those that cannot send them`, async () => {
      await create("app", "--template", name);
      const manifest = JSON.parse(textOf("app/package.json"));
      const commands = [...textOf("app/README.md").matchAll(/npm run (\w+)/g)];
      for (const [, command] of commands) assert.ok(manifest.scripts[command], command);
      const { headers } = JSON.parse(textOf("app/vercel.json"));
      assert.deepEqual(
        Object.fromEntries(headers[0].headers.map(({ key, value }) => [key, value])),
        kIsolation,
      );
      const server = name === "vanilla" ? "app/serve.mjs" : "app/vite.config.ts";
      for (const [header, value] of Object.entries(kIsolation)) {
        assert.match(
          textOf("app/public/_headers"),
          new RegExp(`^/\\*\n(?:  .*\n)*?  ${header}: ${value}$`, "m"),
        );
        assert.match(
          textOf("app/public/.htaccess"),
          new RegExp(`Header always set ${header} ${value}$`, "m"),
        );
        assert.ok(textOf(server).includes(`'${header}': '${value}'`), header);
      }
      const page = textOf(name === "vanilla" ? "app/public/index.html" : "app/index.html");
      assert.match(
        page,
        /<script src="\/?coi-serviceworker\.js"><\/script>[\s\S]*<script type="module"/,
      );
      assert.match(textOf("app/public/coi-serviceworker.js"), /licensed under MIT/);
    });
  }

  test("takes an empty folder, and one with nothing but .git", async () => {
    for (const name of ["empty", "with/.git"]) mkdirSync(join(folder, name), { recursive: true });
    for (const name of ["empty", "with"]) {
      assert.equal((await create(name, "-t", "node")).status, 0);
      assert.ok(textOf(`${name}/main.js`));
    }
  });

  test("without a terminal asks nothing", async () => {
    const { status, stdout } = await create();
    assert.equal(status, 0);
    assert.match(stdout, /edgegrad-app has a project of the template vite-ts/);
  });

  const noTerminal = existsSync("/usr/bin/script") ? false : "no /usr/bin/script for a terminal";
  for (const [title, answers, expected] of [
    ["takes what is usual", ["\r", "\r"], { status: 0, made: "edgegrad-app/src/main.ts" }],
    ["takes a name and a number", ["mine\r", "4\r"], { status: 0, made: "mine/main.js" }],
    ["ends at Ctrl-C", ["\x03"], { status: 130 }],
    ["ends at Ctrl-D", ["mine\r", "\x04"], { status: 130 }],
  ]) {
    test(`in a terminal asks: ${title}`, { skip: noTerminal }, async () => {
      const { status, output } = await answerInTerminal(answers);
      assert.equal(status, expected.status, output);
      assert.doesNotMatch(output, /\n {4}at /);
      if (expected.made) assert.ok(textOf(expected.made));
      else assert.deepEqual(readdirSync(folder), []);
    });
  }

  for (const [title, args, message] of [
    ["a folder that is in use", ["used"], /The folder used is not empty: it has file\.txt/],
    ["a file in its place", ["used/file.txt"], /used\/file\.txt is a file: choose a new folder/],
    ["an unknown template", ["a", "-t", "vue"], /no template "vue"\. There are vite-ts, vanilla, /],
    ["an unknown option", ["a", "--tempalte=node"], /Unknown option '--tempalte'[\s\S]*--template/],
    ["two folders", ["a", "b"], /One folder is expected; these are 2/],
  ]) {
    test(`says what is wrong with ${title}, and writes nothing`, async () => {
      mkdirSync(join(folder, "used"));
      writeFileSync(join(folder, "used", "file.txt"), "");
      const { status, stderr } = await create(...args);
      assert.equal(status, 1);
      assert.match(stderr, message);
      assert.doesNotMatch(stderr, /\n {4}at /);
      assert.deepEqual(readdirSync(folder, { recursive: true }).sort(), ["used", "used/file.txt"]);
    });
  }

  test("has the version and the license of the package that it installs", () => {
    assert.equal(readJson("create/package.json").version, readJson("package.json").version);
    const [own, other] = ["create/LICENSE", "LICENSE"].map((name) =>
      readFileSync(kRoot + name, "utf8"),
    );
    assert.equal(own, other);
  });
});
