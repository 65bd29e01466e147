// init({ wasmModule }): the WebAssembly file that a program passes.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";

const kPrelude = `
  import { readFileSync } from "node:fs";
  import vm from "node:vm";
  import * as eg from "edgegrad";
  const bytesOf = (variant) => readFileSync("dist/wasm/edgegrad-" + variant + ".wasm");
  const trained = async (options) => {
    await eg.init({ webgpu: "off", ...options });
    const x = eg.tensor([1, 2, 3], { requiresGrad: true });
    x.square().sum().backward();
    const { variant, threads } = eg.runtime();
    const result = [variant, threads, x.grad.tolist().join()].join(" ");
    await eg.shutdown();
    return result;
  };
  const refused = (options) => eg.init({ webgpu: "off", ...options }).then(() => "started", ({ code, message }) => code + ": " + message);
  const results = {};
`;

async function resultsOf(body) {
  const { stdout, stderr } = await runProgram(
    `${kPrelude} ${body} console.log(JSON.stringify(results));`,
  );
  assert.equal(stderr, "");
  return JSON.parse(stdout);
}

describe("wasmModule", () => {
  test("is a module, bytes, a response or a promise, and then the build is single", async () => {
    const results = await resultsOf(`
      const bytes = bytesOf("single");
      const module = await WebAssembly.compile(bytes);
      const type = { "Content-Type": "application/wasm" };
      const given = {
        module,
        bytes,
        buffer: new Uint8Array(bytes).buffer,
        view: new DataView(new Uint8Array(bytes).buffer),
        response: new Response(bytes, { headers: type }),
        untyped: new Response(bytes),
        promise: Promise.resolve(module),
        late: (async () => new Response(bytes))(),
        foreign: vm.runInNewContext("new WebAssembly.Module(bytes)", { bytes }),
      };
      for (const [name, wasmModule] of Object.entries(given)) results[name] = await trained({ wasmModule });
    `);
    for (const [name, result] of Object.entries(results))
      assert.equal(result, "single 1 2,4,6", name);
    assert.equal(Object.keys(results).length, 9);
  });

  test("may be a build with threads", async () => {
    const results = await resultsOf(`
      const wasmModule = bytesOf("simd");
      results.named = await trained({ wasmModule, variant: "simd", threads: 2 });
      results.found = await trained({ wasmModule, threads: 2 });
    `);
    assert.deepEqual(results, { named: "simd 2 2,4,6", found: "simd 2 2,4,6" });
  });

  test("is refused where it is something else, and the next start works", async () => {
    const results = await resultsOf(`
      results.text = await refused({ wasmModule: "edgegrad.wasm" });
      results.promised = await refused({ wasmModule: Promise.resolve(5) });
      results.garbage = await refused({ wasmModule: new Uint8Array(9) });
      results.page = await refused({ wasmModule: new Response("<html>", { headers: { "Content-Type": "text/html" } }) });
      results.rejected = await eg.init({ wasmModule: Promise.reject(new Error("mine")) }).catch(({ message }) => message);
      const other = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
      results.other = await refused({ wasmModule: other });
      results.threads = await refused({ wasmModule: bytesOf("simd"), variant: "single" });
      results.single = await refused({ wasmModule: bytesOf("single"), variant: "simd" });
      results.next = await trained({ wasmModule: bytesOf("single") });
    `);
    const start = (rest) => new RegExp(`^InvalidArgument: \\[init\\] ${rest}`);
    assert.match(
      results.text,
      start('wasmModule: expected a WebAssembly.Module.*got "edgegrad.wasm"'),
    );
    assert.match(results.promised, start("wasmModule: expected .*got number 5"));
    assert.match(results.garbage, start("wasmModule cannot be compiled: .*magic"));
    assert.match(results.page, start("wasmModule cannot be compiled: .*HTML page"));
    assert.equal(results.rejected, "mine");
    assert.match(results.other, start(".*wasmModule is not edgegrad's"));
    assert.match(
      results.threads,
      start('wasmModule is a build with threads, but variant is "single"'),
    );
    assert.match(results.single, start('wasmModule is the build "single", but variant is "simd"'));
    assert.equal(results.next, "single 1 2,4,6");
  });
});
