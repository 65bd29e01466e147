// Pages that start under difficult conditions: a strict content security policy, another origin, missing files.

import assert from "node:assert/strict";
import { cpSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { build } from "esbuild";
import { noBrowser } from "./support/chromium.mjs";
import { kIsolation } from "./support/project.mjs";
import { useProject } from "./support/suite.mjs";

const kPolicy = "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'";
const kCdn = {
  "Access-Control-Allow-Origin": "*",
  "Cross-Origin-Resource-Policy": "cross-origin",
};

describe("a page", { skip: noBrowser }, () => {
  const suite = useProject();

  const { start } = suite;
  const serve = async (...given) => (await suite.serve(...given)).url;

  function assertTrains(result, variant, warnings = []) {
    assert.equal(result.error, undefined);
    assert.equal(result.variant, variant);
    assert.equal(result.threads, variant === "single" ? 1 : 2);
    assert.equal(result.trained, true);
    assert.ok(result.frames > 3, `${result.frames} frames while backward ran`);
    assert.equal(result.warnings.length, warnings.length, result.warnings.join("\n"));
    warnings.forEach((pattern, i) => {
      assert.match(result.warnings[i], pattern);
    });
  }

  // The files of a bundler that does not support workers and includes at most the .wasm files.
  async function bundled(name, copies, format = "esm") {
    const folder = join(suite.project.folder, name);
    mkdirSync(folder);
    cpSync(join(suite.project.folder, "start.html"), join(folder, "start.html"));
    await build({
      entryPoints: [join(suite.project.folder, "start.js")],
      outfile: join(folder, "start.js"),
      bundle: true,
      format,
      // In scripts that are no modules, import.meta is empty.
      logOverride: { "empty-import-meta": "silent" },
      logLevel: "error",
      external: ["node:*"],
    });
    const wasm = join(suite.project.folder, "node_modules/edgegrad/dist/wasm");
    for (const [extension, place] of Object.entries(copies)) {
      mkdirSync(join(folder, place), { recursive: true });
      for (const file of readdirSync(wasm).filter((file) => file.endsWith(extension))) {
        cpSync(join(wasm, file), join(folder, place, file));
      }
    }
    return folder;
  }

  test("under a policy without unsafe-eval trains with threads", async () => {
    const headers = { ...kIsolation, "Content-Security-Policy": kPolicy };
    assertTrains(await start(await serve(suite.project.folder, headers)), "relaxed");
  });

  test("under a policy without unsafe-eval trains on one thread, and draws meanwhile", async () => {
    const url = await serve(suite.project.folder, { "Content-Security-Policy": kPolicy });
    assertTrains(await start(url), "single", [/\[init\] threads: 2 has no effect/]);
    assertTrains(await start(url, { threads: 1 }), "single");
  });

  test("under a policy without WebAssembly: the error says what to allow", async () => {
    const url = await serve(suite.project.folder, {
      "Content-Security-Policy": "script-src 'self'",
    });
    const { error } = await start(url);
    assert.match(error, /^Internal: \[init\].*'wasm-unsafe-eval'/);
  });

  test("whose policy allows no workers trains on one thread, with one warning", async () => {
    const policy = `${kPolicy}; worker-src 'none'`;
    const url = await serve(suite.project.folder, {
      ...kIsolation,
      "Content-Security-Policy": policy,
    });
    assertTrains(await start(url), "single", [/workers.*could not be started.*one thread/s]);
  });

  test("whose bundler left the workers' script out trains on one thread, with one warning", async () => {
    const url = await serve(await bundled("no-script", { ".wasm": "." }), kIsolation);
    assertTrains(await start(url), "single", [/edgegrad-relaxed\.mjs.*wasmUrl/s]);
    const { error } = await start(url, { variant: "relaxed" });
    assert.match(error, /^Internal: \[init\] the workers.*edgegrad-relaxed\.mjs/);
  });

  test("whose server gives the workers' script another type trains on one thread", async () => {
    const folder = await bundled("wrong-type", { ".wasm": ".", ".mjs": "wasm" });
    const url = await serve(folder, kIsolation, { types: { ".mjs": "text/plain" } });
    assertTrains(await start(url), "single", [/edgegrad-relaxed\.mjs/]);
  });

  // These tests run concurrently because they wait in real time.
  describe("with a silent server", { concurrency: true }, () => {
    test("whose server never answers for the workers' script trains on one thread, with one warning", async () => {
      const isSilent = ({ headers }) => headers["sec-fetch-dest"] === "worker";
      const url = await serve(suite.project.folder, kIsolation, { isSilent });
      assertTrains(await start(url), "single", [/workers.*none of them answered within 10 s/]);
      const { error } = await start(url, { variant: "simd" });
      assert.match(error, /^Internal: \[init\] the workers.*none of them answered/);
    });

    test("whose server answers only for the first worker: the error names the others", async () => {
      let asked = 0;
      const isSilent = ({ headers }) => headers["sec-fetch-dest"] === "worker" && asked++ > 0;
      const url = await serve(suite.project.folder, kIsolation, { isSilent });
      const { error } = await start(url, { threads: 4 });
      assert.match(error, /^Internal: \[init\] a thread of the engine.*did not answer within 30 s/);
    });
  });

  // Browsers that prevent fingerprinting report such numbers.
  test("on a machine that says nothing sensible of its cores trains on one thread", async () => {
    const url = await serve(suite.project.folder, kIsolation);
    for (const cores of [0, -1, Number.NaN, undefined]) {
      const result = await start(url, { threads: undefined }, { cores });
      assertTrains({ ...result, threads: 2 }, "relaxed");
      assert.equal(result.threads, 1);
    }
  });

  test("whose bundle is no module finds the files beside it", async () => {
    const folder = await bundled("classic", { "": "wasm" }, "iife");
    assertTrains(await start(await serve(folder, kIsolation)), "relaxed");
    assertTrains(await start(await serve(folder)), "single", [/threads: 2 has no effect/]);
  });

  test("takes all files from wasmUrl", async () => {
    const url = await serve(await bundled("elsewhere", { "": "static/eg" }), kIsolation);
    assertTrains(await start(url, { wasmUrl: "/static/eg/" }), "relaxed");
    const { error } = await start(url, { wasmUrl: "/nowhere/" });
    assert.match(error, /^InvalidArgument: \[init\].*wasmUrl/);
    assert.doesNotMatch(error, /ASSERTIONS|Abort|falling back/);
  });

  test("whose wasmUrl names the .wasm files alone has the script where it was", async () => {
    const folder = await bundled("wasm-elsewhere", { ".wasm": "static/eg", ".mjs": "wasm" });
    const url = await serve(folder, kIsolation);
    assertTrains(await start(url, { wasmUrl: "/static/eg/" }), "relaxed");
  });

  describe("that takes the package from another origin", () => {
    let cdn;

    before(async () => {
      cdn = `${await serve(suite.project.folder, kCdn)}node_modules/edgegrad/dist/index.js`;
    });

    test("trains with threads", async () => {
      const url = await serve(suite.project.folder, kIsolation, { package: cdn });
      assertTrains(await start(url), "relaxed");
    });

    test("trains on one thread", async () => {
      const url = await serve(suite.project.folder, {}, { package: cdn });
      assertTrains(await start(url, { threads: 1 }), "single");
    });

    test("trains on one thread when its policy forbids workers of blobs", async () => {
      const policy = `script-src 'self' ${new URL(cdn).origin} 'wasm-unsafe-eval'`;
      const headers = { ...kIsolation, "Content-Security-Policy": policy };
      const url = await serve(suite.project.folder, headers, { package: cdn });
      assertTrains(await start(url), "single", [/workers.*could not be started/]);
    });
  });
});
