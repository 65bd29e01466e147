// Generated files are up to date.

import assert from "node:assert/strict";
import { test } from "node:test";
import { runNode } from "../support/child.mjs";
import { eg } from "../support/engine.mjs";
import { readJson } from "../support/files.mjs";
import { callOp, opTable, samplesOf } from "../support/op_samples.mjs";

test("web/src/generated is what scripts/generating/generate_ops.mjs writes", async () => {
  const { status, stderr } = await runNode(["scripts/generating/generate_ops.mjs", "--check"]);
  assert.equal(status, 0, stderr);
});

test("the version that the package reports is package.json's", () => {
  assert.equal(eg.runtime().version, readJson("package.json").version);
});

test("ops give as many tensors as their types say", () => {
  const isTaken = ({ results, kind }) => results !== undefined && kind !== "internal";
  for (const op of opTable.filter(isTaken)) {
    const counts = samplesOf(op).map(({ make }) => callOp(op, make()).length);
    // If an argument decides the kind of result, the samples return both kinds or a single tensor.
    const isDecided = op.severalWith !== undefined;
    const allowed = isDecided ? [1, op.results.length] : [op.results.length];
    assert.ok(counts.length > 0 && counts.every((count) => allowed.includes(count)), op.name);
  }
});

// What the arguments of the methods are called in PyTorch, where they have another name here, and those that differ: the
// decompositions are torch.linalg's, which replaced the methods.
const kNames = { source: "src", shape: "size" };
const kOfLinalg = ["qr", "svd"];

test("methods take PyTorch's arguments in PyTorch's order", () => {
  const torch = readJson("tests/golden/methods.json");
  const isMethod = ({ kind, args }) =>
    kind !== "factory" && kind !== "internal" && ["tensor", "operand"].includes(args[0]?.type);
  const isKnown = ({ js }) => torch[js] !== undefined && !kOfLinalg.includes(js);
  for (const { js, args, inplace, isOfSecond } of opTable.filter(isMethod).filter(isKnown)) {
    const own = args.toSpliced(isOfSecond ? 1 : 0, 1).map(({ name }) => name);
    for (const method of inplace ? [js, `${js}_`] : [js]) {
      const alike = (torch[method] ?? [own.join(" ")]).some((line) => {
        const names = line.split(" ").filter(Boolean).slice(0, own.length);
        return names.every((name, i) => name === own[i] || name === kNames[own[i]]);
      });
      assert.ok(alike, `${method}(${own.join(", ")}), in PyTorch ${torch[method]?.join(" or ")}`);
    }
  }
});

test("where and polygamma are methods of their second argument", () => {
  const x = eg.tensor([0.5, 1, 2], { dtype: "float64" });
  assert.ok(x.polygamma(2).equal(eg.polygamma(2, x)));
  const mask = eg.tensor([true, false, true]);
  assert.ok(x.where(mask, 0).equal(eg.where(mask, x, 0)));
  assert.deepEqual([...mask.where(mask, true).dataSync()], [1, 1, 1]);
  const leaf = x.clone().requiresGrad_();
  const changed = leaf.mul(1);
  assert.equal(changed.polygamma_(1), changed);
  changed.sum().backward();
  assert.ok(leaf.grad.equal(eg.polygamma(2, x)));
  assert.throws(() => leaf.polygamma_(1), { code: "LeafInPlace", message: /^\[polygamma_\]/ });
});
