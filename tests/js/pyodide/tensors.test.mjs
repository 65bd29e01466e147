// torch.Tensor in Python: operators, indexing, scalars, printing, buffers, errors, files and the second name.

import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import { eg } from "../support/engine.mjs";
import { run, startPython, testsIn } from "./support/python.mjs";

const python = await startPython();

describe("tensors", () => testsIn(python, "python/tensors.py"));

describe("autograd", () => testsIn(python, "python/autograd.py"));

describe("files", () => {
  testsIn(python, "python/files.py");

  test("of Python are those of JavaScript", async () => {
    const bytes = run(
      python,
      `
import io, edgegrad.torch as torch
f = io.BytesIO()
torch.save({"w": torch.tensor([[1.5, 2.0]]), "n": torch.tensor([3]), "h": torch.tensor([0.5], dtype=torch.bfloat16), "k": 7}, f)
f.getvalue()`,
    );
    const read = await eg.io.loadTorch(bytes.toJs());
    bytes.destroy();
    assert.deepEqual(read.w.arraySync(), [[1.5, 2]]);
    assert.deepEqual([read.n.dtype, read.n.item(), read.k], ["int64", 3, 7]);
    assert.deepEqual([read.h.dtype, read.h.item()], ["bfloat16", 0.5]);
    const written = await eg.io.saveTorch({
      a: eg.tensor([
        [1, 2],
        [3, 4],
      ]).T,
      b: { c: [eg.tensor(5)] },
    });
    python.globals.set("written", python.toPy(written));
    const found = run(
      python,
      `
found = torch.load(io.BytesIO(bytes(written)))
str([found["a"].tolist(), found["b"]["c"][0].item()])`,
    );
    assert.equal(found, "[[[1.0, 3.0], [2.0, 4.0]], 5.0]");
  });
});

describe("the name torch", () => {
  before(() => run(python, "import edgegrad; edgegrad.install_as_torch()"));

  test("means the same modules", () => {
    run(
      python,
      `
import sys, torch, torch.nn as nn, torch.nn.functional as F, edgegrad.torch
from torch.utils.data import DataLoader
from torch.optim.lr_scheduler import StepLR
assert torch is edgegrad.torch and nn is edgegrad.torch.nn and F is edgegrad.torch.nn.functional
assert DataLoader is edgegrad.torch.utils.data.DataLoader and StepLR is edgegrad.torch.optim.lr_scheduler.StepLR
try:
    import torch.nonsense
except ModuleNotFoundError:
    pass
else:
    raise AssertionError("torch.nonsense")
assert torch.__version__ == edgegrad.__version__`,
    );
  });

  test("is refused where another torch is", () => {
    run(
      python,
      `
import types
kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.split(".")[0] == "torch"}
sys.modules["torch"] = types.ModuleType("torch")
try:
    edgegrad.install_as_torch()
except ImportError as error:
    assert "another package named torch" in str(error)
else:
    raise AssertionError("not refused")
finally:
    del sys.modules["torch"]
    sys.modules.update(kept)`,
    );
  });
});
