// Built-in prototypes that something else has changed: frozen by lockdown() of SES, or with members that loops over an object would
// meet.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { runProgram } from "../support/child.mjs";

const kWays = {
  "frozen by SES": `import "ses"; lockdown({ overrideTaming: "min", errorTaming: "unsafe" });`,
  "frozen by SES, errors as well": `import "ses"; lockdown({ overrideTaming: "min" });`,
  "with members": `
    Object.prototype.sum = function () { return 5; };
    Object.prototype.extra = 5;
    Array.prototype.last = function () { return this.at(-1); };
  `,
};

for (const [name, change] of Object.entries(kWays)) {
  describe(`prototypes ${name}`, () => {
    for (const variant of ["simd", "single"]) {
      test(`let ${variant} train, save and fail as usual`, async () => {
        const { status, stdout, stderr } = await runProgram(`
          ${change}
          const eg = await import("edgegrad");
          await eg.init({ variant: "${variant}", threads: ${variant === "simd" ? 2 : 1} });
          const { Linear, ReLU, Sequential } = eg.nn;
          const first = new Linear(3, 4);
          const model = new Sequential(first, new ReLU(), new Linear(4, 1));
          const x = eg.ones([2, 3]);
          for (const name of ["SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "LBFGS"]) {
            const optimizer = new eg.optim[name](model.parameters());
            const closure = () => {
              optimizer.zeroGrad();
              const loss = model.call(x).square().sum();
              loss.backward();
              return loss;
            };
            optimizer.step(closure);
            new eg.optim[name](model.parameters()).loadStateDict(optimizer.stateDict());
          }
          await model.call(x).sum().backwardAsync();
          model.loadStateDict(eg.io.load(eg.io.save(model.stateDict())));
          const { weight } = await eg.io.loadTorch(await eg.io.saveTorch(first.stateDict()));
          eg.testing.assertClose(weight, first.weight);
          new eg.distributions.Normal(0, 1).sample([3]);
          try {
            eg.ones([2]).matmul(eg.ones([3]));
          } catch (error) {
            console.log(error.code, error instanceof Error);
          }
          await eg.shutdown();
          console.log("ended");
        `);
        assert.equal(status, 0, stderr);
        assert.equal(stdout, "ShapeMismatch true\nended\n");
      });
    }
  });
}
