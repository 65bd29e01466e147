// Fake timers as sinon, vitest and jest install them, after the package has been imported: the engine has the real ones.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";

const kModule = new URL("../support/spawn_module.mjs", import.meta.url).href;

describe("fake timers", () => {
  for (const variant of ["simd", "single"]) {
    test(`leave the engine alone: ${variant}`, async () => {
      const { status, stdout, stderr } = await runProgram(`
        import * as eg from "edgegrad";
        import FakeTimers from "@sinonjs/fake-timers";
        const clock = FakeTimers.install({ toNotFake: ["nextTick"] });
        for (let round = 0; round < 2; round++) {
          await eg.init({ variant: "${variant}", threads: ${variant === "single" ? 1 : 2}, webgpu: "off" });
          const model = new eg.nn.Linear(4, 2);
          const optimizer = new eg.optim.Adam(model.parameters());
          const dataset = new eg.data.TensorDataset(eg.randn([64, 4]));
          for await (const [x] of new eg.data.DataLoader(dataset, { batchSize: 8, prefetch: 2 })) {
            optimizer.zeroGrad();
            await model.call(x).square().mean().backwardAsync();
            optimizer.step();
          }
          await eg.autograd.profile(() => model.call(eg.randn([64, 4])).sum().backward());
          if ("${variant}" === "simd") {
            const doubled = await eg.spawn(${JSON.stringify(kModule)}, "doubled", eg.ones([2]), 3);
            console.log((await doubled.data())[0]);
          }
          await model.weight.data();
          await eg.shutdown();
        }
        console.log("timers left:", clock.countTimers());
        clock.uninstall();
      `);
      assert.equal(status, 0, stderr);
      assert.match(stdout, /timers left: 0\n$/);
    });
  }
});
