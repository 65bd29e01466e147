// Starting and stopping the engine, each test in a separate process.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { runProgram } from "../support/child.mjs";
import { kRoot } from "../support/files.mjs";

const kBorder = readFileSync(`${kRoot}web/src/generated/border.ts`, "utf8");
const [, kBorderHash] = kBorder.match(/kBorderHash = (\d+);/);
const kImport = 'import * as eg from "edgegrad";\n';

/** Runs a program and returns the JSON value that it prints last. */
async function result(text) {
  const { status, stdout, stderr } = await runProgram(kImport + text);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout.trim().split("\n").pop());
}

describe("init", () => {
  test("may be called at once and again, and starts one engine", async () => {
    const [first, second] = await result(`
      await Promise.all([eg.init({ threads: 2 }), eg.init({ threads: 2 })]);
      const first = eg.runtime();
      await eg.init();
      await eg.init({ threads: 2 });
      console.log(JSON.stringify([first, eg.runtime()]));`);
    assert.deepEqual(first, second);
    assert.equal(first.threads, 2);
    assert.equal(first.simd, true);
    assert.equal(first.relaxedSimd, first.variant === "relaxed");
    assert.equal(first.webgpu, null);
  });

  // Node has relaxed SIMD from version 22 on.
  const hasRelaxed = Number.parseInt(process.versions.node, 10) >= 22;
  for (const variant of hasRelaxed ? ["relaxed", "simd", "single"] : ["simd", "single"]) {
    test(`runs the variant ${variant} if that is wanted, and says so`, async () => {
      const runtime = await result(`
        await eg.init({ variant: "${variant}" });
        console.log(JSON.stringify(eg.runtime()));`);
      assert.equal(runtime.variant, variant);
    });
  }

  test("refuses options that it does not have, and others than the engine has", async () => {
    const messages = await result(`
      const wrong = [null, 5, { threads: 1e9 }, { threads: 1.5 }, { webgpu: "on" }, { workers: 2 },
        { variant: "fast" }, { wasmUrl: 5 }, { wasmUrl: () => null }, { spawnWorkers: 0 }];
      const messages = [];
      const note = (error) => messages.push(error.code + " " + error.message);
      for (const options of wrong) await eg.init(options).catch(note);
      await eg.init({ threads: 2 });
      await eg.init({ threads: 3 }).catch(note);
      await eg.init({ variant: "single" }).catch(note);
      await eg.shutdown();
      await eg.init({ threads: 3 });
      messages.push(String(eg.runtime().threads));
      console.log(JSON.stringify(messages));`);
    const expected = [
      /expected an object with the options { threads\?/,
      /expected an object/,
      /threads: expected a whole number from 1 to 128/,
      /threads/,
      /webgpu: expected one of "auto"/,
      /Did you mean "threads"/,
      /variant: expected one of/,
      /wasmUrl/,
      /wasmUrl.*a string or a URL/,
      /spawnWorkers: expected a whole number from 1 to 128/,
      /started with 2.*shutdown/,
      /variant: "single" was requested.*shutdown/,
      /^3$/,
    ];
    assert.equal(messages.length, expected.length);
    expected.forEach((text, i) => {
      assert.match(messages[i], text);
      if (i < 12) assert.match(messages[i], /^InvalidArgument \[init\]/);
    });
  });

  for (const variant of ["simd", "single"]) {
    test(`runs the variant ${variant}`, async () => {
      const [name, threads, sum] = await result(`
        await eg.init({ variant: "${variant}", threads: 2 });
        const x = eg.ones([300, 300]);
        const { variant, threads } = eg.runtime();
        console.log(JSON.stringify([variant, threads, x.matmul(x).sum().item()]));`);
      assert.deepEqual([name, threads, sum], [variant, variant === "single" ? 1 : 2, 300 ** 3]);
    });
  }

  test("refuses a WebAssembly file of another build", async () => {
    const copy = mkdtempSync(join(tmpdir(), "edgegrad-"));
    try {
      cpSync(join(kRoot, "dist"), copy, { recursive: true });
      const script = join(copy, "index.js");
      const hash = kBorderHash;
      const text = readFileSync(script, "utf8");
      assert.ok(text.includes(hash));
      writeFileSync(script, text.replaceAll(hash, "1"));
      const { stdout } = await runProgram(`
        const eg = await import(${JSON.stringify(pathToFileURL(script).href)});
        const error = await eg.init().catch((error) => error);
        console.log(error.code, error.message);`);
      assert.match(stdout, /^Internal \[init\].* from another build/);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });

  test("refuses what it cannot do, and may be tried again", async () => {
    const codes = await result(`
      const code = (options) => eg.init(options).then(() => "none", (error) => error.code);
      const codes = [
        await code({ variant: "mmx" }),
        await code({ threads: 0 }),
        await code({ webgpu: "required" }),
        await code({ wasmUrl: "file:///nowhere/" }),
      ];
      await eg.init();
      console.log(JSON.stringify([...codes, eg.ones([2]).sum().item()]));`);
    assert.deepEqual(codes, [
      "InvalidArgument",
      "InvalidArgument",
      "DeviceUnavailable",
      "InvalidArgument",
      2,
    ]);
  });

  test("takes the WebAssembly file from where wasmUrl says", async () => {
    const folder = `file://${join(kRoot, "dist", "wasm")}`;
    for (const wasmUrl of [`"${folder}"`, `(file) => new URL(file, "${folder}/")`]) {
      assert.equal(
        await result(
          `await eg.init({ wasmUrl: ${wasmUrl} }); console.log(eg.ones([2]).sum().item());`,
        ),
        2,
      );
    }
  });

  test("is what every use before it asks for", async () => {
    const errors = await result(`
      const uses = [
        () => eg.tensor([1]), () => eg.zeros([2]), () => eg.manualSeed(1), () => eg.memory(), () => eg.runtime(),
        () => eg.noGrad(() => 1), () => eg.isGradEnabled(), () => new eg.nn.Linear(1, 1),
        () => eg.data.idx(new Uint8Array([0, 0, 8, 1, 0, 0, 0, 0])),
      ];
      const outcome = (use) => { try { use(); return "nothing"; } catch (e) { return e.code + e.message; } };
      console.log(JSON.stringify(uses.map(outcome)));`);
    for (const error of errors) assert.match(error, /^NotInitialized.*await init\(\)/);
  });
});

describe("shutdown", () => {
  test("frees everything, and init() may follow", async () => {
    const [code, memory, sum] = await result(`
      await eg.init({ threads: 2 });
      const old = eg.ones([1000]);
      await eg.shutdown();
      await eg.shutdown();
      let code;
      try { old.sum(); } catch (error) { ({ code } = error); }
      old.dispose();
      await eg.init({ threads: 2 });
      console.log(JSON.stringify([code, eg.memory().cpuBytes, eg.ones([3]).sum().item()]));`);
    assert.deepEqual([code, memory, sum], ["NotInitialized", 0, 3]);
  });

  test("leaves tensors of the engine before it void", async () => {
    const code = await result(`
      await eg.init({ threads: 1 });
      const old = eg.ones([2]);
      await eg.shutdown();
      await eg.init({ threads: 1 });
      const fresh = Array.from({ length: 50 }, () => eg.zeros([2]));
      let code = "none";
      try { old.sum(); } catch (error) { ({ code } = error); }
      old.dispose();
      console.log(JSON.stringify([code, fresh.every((x) => x.sum().item() === 0)]));`);
    assert.deepEqual(code, ["Disposed", true]);
  });
});

describe("a Node program", () => {
  test("ends by itself with code 0", async () => {
    const { status, stdout, stderr } = await runProgram(`${kImport}
      await eg.init({ threads: 4 });
      const x = eg.ones([200, 200], { requiresGrad: true });
      x.matmul(x).sum().backward();
      console.log(process.getActiveResourcesInfo().includes("Timeout"));`);
    assert.equal(status, 0, stderr);
    assert.equal(stderr, "");
    // It does not wait for a time first.
    assert.equal(stdout, "false\n");
  });
});
