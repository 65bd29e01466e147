// No code is generated at run time, because a page's content security policy or a flag of Node may forbid it.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runNode } from "../support/child.mjs";
import { kRoot } from "../support/files.mjs";

const kDist = join(kRoot, "dist");
const kScripts = readdirSync(kDist, { recursive: true }).filter((file) => /\.m?js$/.test(file));
// Matches eval and the Function constructor, called or passed on; `.eval(` and `eval(){` are a method of nn.Module, and
// `.Function` is eg.autograd.Function.
const kGeneration = /(?<![\w$.])(?:eval\((?!\)\s*\{)|Function[(,)])|\(0,\s*eval\)/;

// In lists of imports and exports, autograd's Function is neither called nor passed on.
const kLists = /^(?:import|export)(?: const)? \{[^}]*\}/gm;

const kProgram = `
import * as eg from "edgegrad";
const variant = process.env.VARIANT;
await eg.init({ variant, threads: 2 });
class Square extends eg.autograd.Function {
  static forward(ctx, x) {
    ctx.saveForBackward(x);
    return x.mul(x);
  }
  static backward(ctx, grad) {
    return ctx.savedTensors[0].mul(grad).mul(2);
  }
}
const x = eg.tensor([1, 2, 3], { requiresGrad: true });
x.registerHook((grad) => grad.mul(1));
eg.autograd.detectAnomaly(() => Square.apply(x).sum().backward());
await x.mul(x).sum().backwardAsync();
const message = await x.mul(2).backwardAsync().catch((error) => error.message);
const names = [x.exp().gradFn.name, String(x.exp()), eg.autograd.toDot(x.sum())].join();
const { events } = eg.autograd.profile(() => x.sum().backward());
x.sum().registerHook(function named() {});
const module = new URL("tests/js/support/thread_module.mjs", "file://" + process.cwd() + "/");
const thread = variant === "single" ? 1 : await eg.spawn(module, "thread");
console.log(JSON.stringify({ grad: x.grad.arraySync(), message, names, events: events.length, thread }));
`;

describe("code generation", () => {
  for (const file of kScripts) {
    test(`is not in dist/${file}`, () => {
      const text = readFileSync(join(kDist, file), "utf8").replace(kLists, "");
      const found = kGeneration.exec(text);
      assert.equal(found?.[0], undefined);
    });
  }

  for (const variant of ["simd", "single"]) {
    test(`is not needed by ${variant}`, async () => {
      const flag = "--disallow-code-generation-from-strings";
      const options = { env: { ...process.env, VARIANT: variant } };
      const args = [flag, "--input-type=module", "--eval", kProgram];
      const { status, stdout, stderr } = await runNode(args, options);
      assert.equal(status, 0, stderr);
      const { grad, message, names, events, thread } = JSON.parse(stdout);
      assert.deepEqual(grad, [5, 9, 13]);
      assert.match(message, /needs a gradient/);
      assert.match(names, /ExpBackward0.*tensor/);
      assert.ok(events > 0 && thread > 0);
    });
  }
});
