// After the heap has been full, nearly all of it can be reused for blocks of any size. Each test runs in a separate process.
// empty() writes nothing, so little of the memory becomes resident.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";

const kPrelude = `
  import * as eg from "edgegrad";
  await eg.init({ threads: 2, variant: process.argv[1], webgpu: "off" });
  const MiB = 2 ** 20;
  const outcome = (make) => {
    try {
      return make();
    } catch (error) {
      if (error.code !== "OutOfMemory") throw error;
      return error;
    }
  };
  /** Fills the heap with blocks of these sizes in turn until none of them fits. */
  function fill(sizes, meanwhile = () => {}) {
    const blocks = [];
    for (let i = 0, misses = 0; misses < sizes.length; ++i) {
      const block = outcome(() => eg.empty([sizes[i % sizes.length] / 4]));
      if (block instanceof Error) {
        ++misses;
        continue;
      }
      misses = 0;
      blocks.push(block);
      meanwhile();
    }
    return blocks;
  }
  const bytesOf = (blocks) => blocks.reduce((sum, block) => sum + block.numel * 4, 0) / MiB;
  /** Frees them in an order that is unrelated to the order of allocation. */
  function free(blocks) {
    for (let i = 0; blocks.length > 0; i = (i * 7919 + 13) % 1_000_003) {
      const at = i % blocks.length;
      blocks[at].dispose();
      blocks[at] = blocks.at(-1);
      blocks.pop();
    }
  }
  function filled(sizes, meanwhile) {
    const blocks = fill(sizes, meanwhile);
    const bytes = bytesOf(blocks);
    free(blocks);
    return bytes;
  }
  const print = (value) => console.log(JSON.stringify(value));
`;

const kVariants = ["simd", "single"];

/** Runs a program and returns the JSON value that it prints last. */
async function result(variant, text) {
  const { status, stdout, stderr, signal } = await runProgram(
    kPrelude.replace("process.argv[1]", JSON.stringify(variant)) + text,
  );
  assert.equal(status, 0, `${signal} ${stderr}`);
  return JSON.parse(stdout.trim().split("\n").pop());
}

for (const variant of kVariants) {
  describe(`memory of ${variant}`, () => {
    test("that was full serves the same blocks again", async () => {
      const [first, second] = await result(
        variant,
        "print([filled([16 * MiB]), filled([16 * MiB])]);",
      );
      assert.ok(first > 3900, `${first} MiB at first`);
      assert.ok(second >= 0.9 * first, `${second} MiB after ${first}`);
    });

    test("serves one block of 1.9 GB again and again", async () => {
      const done = await result(
        variant,
        `let done = 0;
        for (; done < 5; ++done) eg.empty([1900 * 2 ** 18]).dispose();
        filled([16 * MiB]);
        for (; done < 10; ++done) eg.empty([1900 * 2 ** 18]).dispose();
        print(done);`,
      );
      assert.equal(done, 10);
    });

    const sizes = `{
      "16 MB": [16 * MiB], "64 kB": [64 * 1024], "1.9 GB": [1900 * MiB], "1 MB": [MiB], "100 MB": [100 * MiB],
      "odd": [16 * MiB + 4, 700_000, 5 * MiB - 4],
      "ascending": [1, 4, 16, 64, 256, 1024].map((n) => n * MiB),
      "descending": [1024, 256, 64, 16, 4, 1].map((n) => n * MiB),
      "mixed": [3 * MiB, 40 * MiB, 700 * MiB],
    }`;
    for (const [what, meanwhile] of [
      ["any sizes after any others", "() => {}"],
      [
        "any sizes, with small tensors and graphs that stay",
        // If there are very many blocks, not each of them has these bytes.
        `() => {
          if (kept.length > 10_000 || ++calls % 3) return;
          for (let i = 0; i < 20; ++i) kept.push(eg.ones([1 + (i % 40)]));
          kept.push(kept.at(-1).clone().requiresGrad_().mul(2).exp());
        }`,
      ],
    ]) {
      test(`serves ${what}`, async () => {
        const filled = await result(
          variant,
          `const kept = [];
          let calls = 0;
          const all = {};
          for (const [name, sizes] of Object.entries(${sizes})) all[name] = filled(sizes, ${meanwhile});
          for (const [name, sizes] of Object.entries(${sizes})) all[name + " again"] = filled(sizes);
          print(all);`,
        );
        for (const [name, bytes] of Object.entries(filled)) {
          // One of the remaining blocks is where the second of two such blocks would be.
          const least = name.startsWith("1.9 GB") ? 1900 : 3600;
          assert.ok(bytes >= least, `${name}: ${bytes} MiB`);
        }
      });
    }

    test("that is full: the error names the bytes, and what is there can be used", async () => {
      const [message, usable, again] = await result(
        variant,
        `const x = eg.ones([1000]).requiresGrad_();
        const blocks = fill([16 * MiB, MiB, 64 * 1024]);
        const { message } = outcome(() => eg.empty([4 * MiB]));
        const usable = [];
        for (let i = 0; i < 100; ++i) {
          const usual = eg.scope(() => {
            x.mul(3).sum().backward();
            return x.grad.sum().item();
          });
          usable.push(usual);
          x.grad = null;
          outcome(() => eg.empty([4 * MiB]));
        }
        free(blocks);
        print([message, usable.every((value) => value === 3000), filled([16 * MiB])]);`,
      );
      assert.match(message, /^\[empty\] out of memory: 16777216 bytes requested, \d+ bytes in use/);
      assert.ok(usable);
      assert.ok(again >= 3600, `${again} MiB`);
    });

    test("that is full of small blocks: OutOfMemory, and usable when they have been freed", async () => {
      const [codes, sum, again] = await result(
        variant,
        `const blocks = fill([16 * MiB, MiB, 64 * 1024]);
        const codes = [];
        const x = eg.ones([4]).requiresGrad_();
        const makers = [
          () => eg.ones([4]),
          () => x.mul(2),
          () => eg.empty([1000]),
          () => eg.zeros([3, 1, 2]).unsqueeze(0),
          () => x.clone(),
        ];
        for (const make of makers) {
          const small = [];
          for (;;) {
            const made = outcome(make);
            if (made instanceof Error) {
              codes.push([made.code, made.message]);
              break;
            }
            small.push(made);
          }
          free(small);
        }
        free(blocks);
        print([codes, x.sum().item(), filled([16 * MiB])]);`,
      );
      for (const [code, message] of codes) {
        assert.equal(code, "OutOfMemory");
        assert.match(message, /out of memory/);
      }
      assert.equal(codes.length, 5);
      assert.equal(sum, 4);
      assert.ok(again >= 3600, `${again} MiB`);
    });

    // Addresses beyond 2 GiB are negative as 32-bit integers. Blocks are placed roughly in order of allocation, so
    // everything that is allocated next uses the space that two of them leave.
    for (const [where, fraction] of [
      ["2 GiB", 0.53],
      ["3 GiB", 0.78],
      ["the very end", 0.99],
    ]) {
      test(`beyond ${where} is read and written like any`, async () => {
        const values = await result(
          variant,
          `const blocks = fill([16 * MiB, MiB, 64 * 1024, 4096, 256]);
          const from = blocks.findIndex((_, i) => bytesOf(blocks.slice(0, i)) > 4080 * ${fraction} - 40);
          for (const block of blocks.splice(from, 400)) block.dispose();
          const n = 300_000;
          const numbers = Float32Array.from({ length: n }, (_, i) => i % 1000);
          const x = eg.tensor(numbers);
          const values = {};
          const same = (data) => data.length === n && data.every((value, i) => value === numbers[i]);
          values.dataSync = same(x.dataSync());
          values.data = same(await x.data());
          values.clone = same(x.clone().dataSync());
          values.strided = same(x.view([1000, 300]).t().contiguous().t().reshape([-1]).dataSync());
          values.item = [x.at(777).item(), eg.tensor([5]).item()];
          values.bytes = [...eg.tensor(numbers.slice(0, 5)).to("uint8").dataSync()];
          values.bigints = String(eg.tensor([1n, -2n]).dataSync());
          values.doubles = eg.tensor([0.1], { dtype: "float64" }).item();
          x.narrow(0, 10, 5).fill_(-1);
          values.narrow = [...x.narrow(0, 8, 9).dataSync()];
          values.text = String(eg.tensor([[1, 2]]));
          const w = eg.ones([300, 300]).requiresGrad_();
          w.matmul(w).sum().backward();
          values.grad = w.grad.sum().item();
          await w.mul(2).sum().backwardAsync();
          values.gradAsync = w.grad.sum().item();
          const file = eg.io.saveSafetensors({ w: w.detach() });
          values.loaded = eg.io.loadSafetensors(file).w.sum().item();
          const hook = w.registerHook((grad) => grad.mul(10));
          w.sum().backward();
          hook.remove();
          values.hooked = w.grad.sum().item();
          values.error = outcomeOf(() => eg.ones([2]).add(eg.ones([3])));
          values.many = eg.cat(Array.from({ length: 2000 }, (_, i) => eg.tensor([i]))).sum().item();
          values.shape = eg.ones([2, 1, 3]).squeeze().shape;
          print(values);
          function outcomeOf(run) { try { run(); } catch (error) { return error.code; } }`,
        );
        assert.deepEqual(values, {
          dataSync: true,
          data: true,
          clone: true,
          strided: true,
          item: [777, 5],
          bytes: [0, 1, 2, 3, 4],
          bigints: "1,-2",
          doubles: 0.1,
          narrow: [8, 9, -1, -1, -1, -1, -1, 15, 16],
          text: "tensor([[1., 2.]])",
          grad: 54_000_000,
          gradAsync: 54_180_000,
          loaded: 90_000,
          hooked: 55_080_000,
          error: "ShapeMismatch",
          many: 1_999_000,
          shape: [2, 3],
        });
      });
    }
  });
}

describe("memory of several threads", () => {
  test("that came and went there serves blocks of any size", async () => {
    const module = new URL("../support/thread_module.mjs", import.meta.url).href;
    const [done, filled, large] = await result(
      "simd",
      `const url = ${JSON.stringify(module)};
      const threads = [1, 2, 3].map((seed) => eg.spawn(new URL(url), "makeAndFree", seed, 1500));
      const w = eg.ones([100, 100]).requiresGrad_();
      for (let i = 0; i < 100; ++i) await w.matmul(w).relu().sum().backwardAsync();
      const done = await Promise.all(threads);
      const all = filled([16 * MiB]);
      eg.empty([1900 * 2 ** 18]).dispose();
      print([done, all, eg.empty([1900 * 2 ** 18]).numel]);
      await eg.shutdown();`,
    );
    assert.deepEqual(done, [true, true, true]);
    assert.ok(filled >= 3600, `${filled} MiB`);
    assert.equal(large, 1900 * 2 ** 18);
  });
});
