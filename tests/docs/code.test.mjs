// Every code block in README.md and docs/ does what the page says. The words after the language of a fence select the check:
//
//   ```js              a program: runs in Node, and prints the lines after its arrows (// → ...)
//   ```js gpu          the same, with WebGPU
//   ```js mistake      the same, with a mistake that TypeScript finds (types.test.mjs)
//   ```js worker.mjs   a file beside the programs of its page; a configuration is loaded
//   ```js page         code for a page or a test runner: is bundled, and imports only names that the package exports
//   ```python          parses; with arrows (# → ...) after a program in JavaScript, it is the same program, which python.test.mjs runs
//   ```ts              a program in TypeScript: compiles, runs, and prints the lines after its arrows

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { build, transform } from "esbuild";
import { runNode } from "../js/support/child.mjs";
import { kRoot } from "../js/support/files.mjs";
import { preferSoftwareAdapter } from "../webgpu/support/software_adapter.mjs";
import { codeOf, kPages } from "./support/markdown.mjs";
import { expectedOutput, makeFolder, runIn } from "./support/programs.mjs";

const noGpu = preferSoftwareAdapter() ? false : "no software renderer: apt-get install chromium";

const kChecks = {
  html: checkHtml,
  js: checkScript,
  ts: checkTypeScript,
  json: ({ code }) => JSON.parse(code),
  sh: ({ code }) => assert.equal(run("bash", ["-n"], code), ""),
  python: ({ code }) => assert.equal(run("python3", ["-c", kParsePython], code), ""),
  // No tool here can check these.
  nginx: () => {},
  text: () => {},
};

const kParsePython = "import ast, sys; ast.parse(sys.stdin.read())";

for (const page of kPages) describe(page, { concurrency: 2 }, () => testPage(page));

function testPage(page) {
  const blocks = codeOf(page);
  const files = blocks.filter(isFile);
  const { folder, remove } = makeFolder(files);
  after(remove);
  for (const block of blocks) {
    const { language, note, line } = block;
    const skip = note === "gpu" && noGpu;
    test(`line ${line}: ${language} ${note}`, { skip }, async () => {
      const check = kChecks[language];
      assert.ok(check, `nothing here knows what to do with "${language}"`);
      await check(block, folder, blocks);
    });
  }
}

function isFile({ language, note }) {
  return language === "js" && note.includes(".");
}

async function checkTypeScript({ code, line }, folder) {
  const name = `program_${line}.ts`;
  writeFileSync(join(folder, name), code);
  const compiler = join(kRoot, "node_modules", "typescript", "bin", "tsc");
  const options = [
    "--noEmit",
    "--strict",
    "--noUncheckedIndexedAccess",
    "--exactOptionalPropertyTypes",
  ];
  const target = [
    "--target",
    "es2022",
    "--module",
    "nodenext",
    "--types",
    "node",
    "--ignoreConfig",
  ];
  const { status, stdout } = await runNode([compiler, ...options, ...target, name], {
    cwd: folder,
  });
  assert.equal(status, 0, stdout);
  await checkProgram({ code: (await transform(code, { loader: "ts" })).code, line }, folder);
}

function checkScript(block, folder, blocks) {
  if (block.note === "page") return checkPage(block, folder);
  if (isFile(block)) return checkFile(block, folder, blocks);
  assert.ok(["", "gpu", "mistake"].includes(block.note), `"${block.note}" is not known`);
  return checkProgram(block, folder);
}

async function checkProgram({ code, line }, folder) {
  const { status, stdout, stderr } = await runIn(folder, `program_${line}.mjs`, code);
  assert.equal(status, 0, stderr);
  const expected = expectedOutput(code);
  if (expected === null) assert.notEqual(stdout, "");
  else assert.equal(stdout, expected);
}

async function checkFile({ note }, folder, blocks) {
  if (note.includes(".config.")) {
    const { default: config } = await import(pathToFileURL(join(folder, note)).href);
    assert.equal(typeof config, "object");
    await config.headers?.();
  } else {
    const isUsed = blocks.some((other) => !isFile(other) && other.code.includes(`./${note}`));
    assert.ok(isUsed, `no program of the page uses ${note}`);
  }
}

async function checkPage({ code }, folder) {
  const { warnings } = await build({
    stdin: { contents: code, resolveDir: folder },
    bundle: true,
    write: false,
    format: "esm",
    external: ["./wasm/*", "node:*", "webgpu", "react", "vitest"],
    loader: { ".wasm": "binary" },
    logLevel: "silent",
  });
  assert.deepEqual(
    warnings.map(({ text }) => text),
    [],
  );
}

async function checkHtml({ code }) {
  for (const [, script] of code.matchAll(/<script[^>]*>([\s\S]*?)<\/script>/g)) {
    await transform(script);
  }
}

// Returns the error output of a program; "" if it succeeds.
function run(command, args, input) {
  const { status, stderr } = spawnSync(command, args, { input, encoding: "utf8" });
  return status === 0 ? "" : stderr || `${command} ended with ${status}`;
}
