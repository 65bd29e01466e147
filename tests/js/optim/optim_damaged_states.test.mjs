// A state dict is read from files: whatever is in it, loadStateDict() and the next step() give results or an EdgeGradError.

import assert from "node:assert/strict";
import { test } from "node:test";
import * as eg from "edgegrad";

await eg.init();

const kOptimizers = Object.entries(eg.optim).filter(
  ([name, one]) => name !== "Optimizer" && one?.prototype instanceof eg.optim.Optimizer,
);
const kBad = ["x", {}, null, undefined, [], [1], true, Number.NaN, eg.ones([2]), eg.ones([0])];

function trained(Class) {
  const isSparse = Class === eg.optim.SparseAdam;
  const table = new eg.nn.Embedding(3, 4, { sparse: isSparse });
  const optimizer = new Class(table.parameters());
  const step = () =>
    optimizer.step(() => {
      optimizer.zeroGrad();
      const loss = table
        .call(eg.tensor([0, 2], { dtype: "int64" }))
        .square()
        .sum();
      loss.backward();
      return loss;
    });
  step();
  return { optimizer, step };
}

// Returns whether `work` succeeds.
function tries(work) {
  try {
    work();
    return true;
  } catch (error) {
    assert.ok(error instanceof eg.EdgeGradError, String(error.stack));
    assert.notEqual(error.code, "Internal", error.message);
    return false;
  }
}

const described = (optimizer) =>
  `${optimizer} ${Object.values(optimizer.stateDict().state[0] ?? {})}`;

// Returns copies of a value in which one part, at any depth, is something else.
function* damaged(value, depth = 0) {
  for (const bad of kBad) yield bad;
  if (depth > 4 || value instanceof eg.Tensor || typeof value !== "object" || value === null)
    return;
  for (const key of Object.keys(value)) {
    for (const part of damaged(value[key], depth + 1)) {
      if (Array.isArray(value)) yield value.map((one, i) => (String(i) === key ? part : one));
      else yield { ...value, [key]: part };
    }
  }
}

for (const [name, Class] of kOptimizers) {
  test(`${name} reads damaged state dicts, or says what is wrong with them`, () => {
    const saved = trained(Class).optimizer.stateDict();
    for (const state of damaged(saved)) {
      eg.scope(() => {
        const { optimizer, step } = trained(Class);
        const before = described(optimizer);
        if (tries(() => optimizer.loadStateDict(state))) tries(step);
        else assert.equal(described(optimizer), before);
        tries(() => optimizer.stateDict());
      });
    }
  });
}
