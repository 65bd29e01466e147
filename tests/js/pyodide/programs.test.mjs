// Programs as they are in courses, which import torch: each trains something, and its loss falls.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { describe, test } from "node:test";
import { eg } from "../support/engine.mjs";
import { run, startPython, textOf } from "./support/python.mjs";

const python = await startPython({ asTorch: true });
const kPrograms = readdirSync(new URL("programs", import.meta.url)).filter((name) =>
  name.endsWith(".py"),
);

function lossesOf(name) {
  const module = name.replace(".py", "");
  python.FS.writeFile(`/home/pyodide/${name}`, textOf(`programs/${name}`));
  const code = `
import importlib, json
importlib.invalidate_caches()
json.dumps(importlib.import_module("${module}").main())`;
  return JSON.parse(run(python, code));
}

describe("programs", () => {
  for (const name of kPrograms) {
    test(name, (context) => {
      const losses = lossesOf(name);
      const [first] = losses;
      const last = Math.min(...losses.slice(-3));
      context.diagnostic(`${first.toFixed(4)} to ${last.toFixed(4)}`);
      assert.ok(last < 0.6 * first, `${first} to ${last}`);
    });
  }

  test("compute what JavaScript's same program does", () => {
    const losses = JSON.parse(
      run(
        python,
        `
import json, torch, mlp
torch.manual_seed(3)
net = mlp.MLP()
x, y = torch.rand(16, 2), torch.randint(0, 2, (16,))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
losses = []
for _ in range(10):
    optimizer.zero_grad()
    loss = torch.nn.functional.cross_entropy(net(x), y)
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
json.dumps(losses)`,
      ),
    );
    eg.manualSeed(3);
    const { Linear, ReLU, Sequential } = eg.nn;
    const net = new Sequential(
      new Linear(2, 32),
      new ReLU(),
      new Linear(32, 32),
      new ReLU(),
      new Linear(32, 2),
    );
    const x = eg.rand([16, 2]);
    const y = eg.randint(0, 2, [16]);
    const optimizer = new eg.optim.Adam(net.parameters(), { lr: 0.01 });
    const own = losses.map(() => {
      optimizer.zeroGrad();
      const loss = eg.nn.functional.crossEntropy(net.call(x), y);
      loss.backward();
      optimizer.step();
      return loss.item();
    });
    assert.deepEqual(losses, own);
  });
});
