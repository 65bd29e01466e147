// Hosts that lack something, and what the engine's workers take over from their process.

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runNode } from "../support/child.mjs";
import { kRoot } from "../support/files.mjs";

const kStart = `
  try {
    await eg.init({ threads: 2 });
    await eg.ones([4]).sum().data();
    console.log(eg.runtime().variant);
  } catch (error) {
    console.log(error.code, error.message);
  }`;

/** Runs a program in Node with some flags; resolves to what it writes. */
async function output(flags, text) {
  const { stdout, stderr } = await runNode([...flags, "--input-type=module", "--eval", text]);
  return stdout + stderr;
}

describe("init() says what a host lacks:", () => {
  test("a newer version of Node", async () => {
    const text = await output(
      [],
      `delete process.getBuiltinModule; const eg = await import("edgegrad"); ${kStart}`,
    );
    const { node } = process.versions;
    const message = `[init] this is Node ${node}, and edgegrad needs 20.16 or newer.`;
    assert.equal(text, `Internal ${message}\n`);
  });

  test("WebAssembly", async () => {
    const text = await output(["--jitless"], `import * as eg from "edgegrad"; ${kStart}`);
    assert.match(text, /^Internal \[init\] WebAssembly is missing or switched off here/m);
  });

  test("workers that Node's permission model does not allow", async () => {
    const isNewer = Number.parseInt(process.versions.node, 10) >= 24;
    const flags = [isNewer ? "--permission" : "--experimental-permission", "--allow-fs-read=*"];
    const program = `import * as eg from "edgegrad"; ${kStart}`;
    const text = await output(flags, program);
    assert.match(text, /^\[init\] the workers .* Start Node with --allow-worker\. .* one thread/m);
    assert.match(text, /^single$/m);
    assert.match(await output([...flags, "--allow-worker"], program), /^(simd|relaxed)$/m);
  });
});

describe("workers of the engine", () => {
  // As a runner of TypeScript does it: its flag registers a hook that makes JavaScript of other files.
  const kHook = `
    import { register } from "node:module";
    const hook = \`
      export async function load(url, context, next) {
        if (!url.endsWith(".other")) return next(url, context);
        const source = 'import "edgegrad"; export const doubled = (x) => x.mul(2);';
        return { format: "module", shortCircuit: true, source };
      }\`;
    register("data:text/javascript," + encodeURIComponent(hook));`;
  const kMain = `
    import * as eg from "edgegrad";
    await eg.init({ threads: 2 });
    const y = await eg.spawn(new URL("./worker.other", import.meta.url), "doubled", eg.ones([2]));
    console.log(JSON.stringify(y.tolist()));
    await eg.shutdown();`;

  test("load modules as the flags of their process say", async () => {
    const folder = mkdtempSync(join(kRoot, "build", "modules-"));
    try {
      const files = { "hook.mjs": kHook, "main.mjs": kMain, "worker.other": "" };
      for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
      const [hook, main] = [join(folder, "hook.mjs"), join(folder, "main.mjs")];
      for (const flags of [["--import", hook], [`--import=${hook}`]]) {
        const { stdout, stderr } = await runNode([...flags, main]);
        assert.equal(stdout, "[2,2]\n", stderr);
      }
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("do not take over flags of the main script", async () => {
    const text = await output(
      ["--expose-gc", "--no-warnings", "--conditions=development"],
      `
      import * as eg from "edgegrad"; ${kStart}`,
    );
    assert.match(text, /^(simd|relaxed)$/m);
  });
});
