// Where the system refuses to reserve 4 GiB of shared memory, the engine starts with less.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";

/** Refuses shared memory of more than `megabytes`, as iOS does. */
const refusing = (megabytes) => `
  const Memory = WebAssembly.Memory;
  const asked = [];
  WebAssembly.Memory = function (descriptor) {
    if (descriptor.shared) asked.push(descriptor.maximum / 16);
    if (descriptor.shared && descriptor.maximum / 16 > ${megabytes})
      throw new RangeError("could not allocate memory");
    return new Memory(descriptor);
  };
  WebAssembly.Memory.prototype = Memory.prototype;
  const warnings = [];
  console.warn = (text) => warnings.push(text);
  const eg = await import("edgegrad");
`;

const kTrained = `
  const model = new eg.nn.Sequential(new eg.nn.Linear(64, 256), new eg.nn.ReLU(), new eg.nn.Linear(256, 1));
  const optimizer = new eg.optim.SGD(model.parameters(), { lr: 0.01 });
  const x = eg.randn([512, 64]);
  const y = x.sum(1, true);
  const losses = [];
  for (let step = 0; step < 20; step++) {
    optimizer.zeroGrad();
    const loss = eg.nn.functional.mseLoss(model.call(x), y);
    loss.backward();
    optimizer.step();
    losses.push(loss.item());
  }
  const isBetter = losses.at(-1) < losses[0];
`;

const resultOf = async (text) => {
  const { stdout, stderr } = await runProgram(text);
  assert.equal(stderr, "");
  return JSON.parse(stdout);
};

describe("the maximum of shared memory", () => {
  for (const megabytes of [4096, 2048, 1024, 512, 256]) {
    test(`is ${megabytes} MiB where no more can be reserved`, async () => {
      const { asked, isBetter, warnings, variant, threads } = await resultOf(`${refusing(megabytes)}
        await eg.init({ threads: 2 });
        ${kTrained}
        const { variant, threads } = eg.runtime();
        console.log(JSON.stringify({ asked, isBetter, warnings, variant, threads }));
        await eg.shutdown();`);
      assert.equal(asked[0], 4096);
      assert.equal(asked.at(-1), megabytes);
      assert.ok(isBetter);
      assert.deepEqual(warnings, []);
      assert.notEqual(variant, "single");
      assert.equal(threads, 2);
    });
  }

  test("bounds what tensors may take: then OutOfMemory, and the engine stays usable", async () => {
    const { code, sum } = await resultOf(`${refusing(256)}
      await eg.init({ threads: 2 });
      const held = [];
      let code = null;
      try {
        for (let i = 0; i < 64; i++) held.push(eg.ones([4, 1024, 1024]));
      } catch (error) {
        code = error.code;
      }
      for (const tensor of held) tensor.dispose();
      console.log(JSON.stringify({ code, sum: eg.ones([1024, 1024]).sum().item() }));
      await eg.shutdown();`);
    assert.equal(code, "OutOfMemory");
    assert.equal(sum, 1024 * 1024);
  });

  test('is none where nothing can be reserved: then "auto" is "single", with a warning', async () => {
    const { isBetter, warnings, variant } = await resultOf(`${refusing(0)}
      await eg.init();
      ${kTrained}
      console.log(JSON.stringify({ isBetter, warnings, variant: eg.runtime().variant }));
      await eg.shutdown();`);
    assert.ok(isBetter);
    assert.equal(variant, "single");
    assert.equal(warnings.length, 1);
    assert.match(warnings[0], /\[init\].* 256 MiB of shared memory .*one thread/);
  });

  test("is an error for a variant that was requested", async () => {
    const { code, message, variant } = await resultOf(`${refusing(0)}
      const { code, message } = await eg.init({ variant: "simd" }).catch((error) => error);
      await eg.init();
      console.log(JSON.stringify({ code, message, variant: eg.runtime().variant }));
      await eg.shutdown();`);
    assert.equal(code, "OutOfMemory");
    assert.match(
      message,
      /^\[init\] .*256 MiB of shared memory.*could not allocate memory.*"single"/,
    );
    assert.equal(variant, "single");
  });
});
