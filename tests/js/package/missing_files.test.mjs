// The package without some of its files, as in bundles of tools that do not support workers.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { build } from "esbuild";
import { runNode } from "../support/child.mjs";
import { kRoot } from "../support/files.mjs";

const kProgram = `
import * as eg from "./dist/index.js";
try {
  await eg.init(JSON.parse(process.argv[2]));
  const x = eg.ones([3], { requiresGrad: true });
  await x.mul(2).sum().backwardAsync();
  console.log(eg.runtime().variant, x.grad.arraySync().join());
} catch (error) {
  console.log(error.code, error.message);
}
`;

describe("a bundle in Node", () => {
  let folder;
  const bundle = () => join(folder, "program.mjs");
  const wasm = join(kRoot, "dist", "wasm");

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "edgegrad-bundle-"));
    await build({
      stdin: { contents: kProgram, resolveDir: kRoot },
      outfile: bundle(),
      bundle: true,
      format: "esm",
      platform: "node",
      logLevel: "error",
    });
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const run = async (options) => {
    const { status, stdout, stderr } = await runNode([bundle(), JSON.stringify(options)]);
    assert.equal(status, 0, stderr);
    return { stdout: stdout.trim(), warnings: stderr.trim().split("\n").filter(Boolean) };
  };

  test("without the .wasm files says what is missing, in its own words", async () => {
    const { stdout } = await run({ threads: 2 });
    assert.match(stdout, /^Internal \[init\].*edgegrad-\w+\.wasm.*Copy the package's folder/);
    assert.doesNotMatch(stdout, /ASSERTIONS|Aborted/);
  });

  test("without the workers' script has one thread, and one warning", async () => {
    for (const file of readdirSync(wasm).filter((file) => file.endsWith(".wasm"))) {
      cpSync(join(wasm, file), join(folder, file));
    }
    const { stdout, warnings } = await run({ threads: 2 });
    assert.equal(stdout, "single 2,2,2");
    assert.equal(warnings.length, 1, warnings.join("\n"));
    assert.match(warnings[0], /\[init\] the workers.*edgegrad-\w+\.mjs.*one thread/);
    const fixed = await run({ threads: 2, variant: "simd" });
    assert.match(fixed.stdout, /^Internal \[init\] the workers.*edgegrad-simd\.mjs/);
    const late = await run({ threads: 1, variant: "simd" });
    assert.match(late.stdout, /^Internal \[init\] the workers/);
  });

  test("takes the workers' script from wasmUrl", async () => {
    const { stdout, warnings } = await run({ threads: 2, variant: "simd", wasmUrl: wasm });
    assert.equal(stdout, "simd 2,2,2");
    assert.deepEqual(warnings, []);
  });
});
