// PyTorch's names on the pages of the reference.

import assert from "node:assert/strict";
import { test } from "node:test";
import { pytorchName } from "../../scripts/reference/pytorch_names.mjs";
import { opTable } from "../js/support/op_samples.mjs";

const opOf = (js) => opTable.find((op) => op.js === js);

for (const [name, theirs, isClass = false] of [
  ["add", "torch.add"],
  ["add_", "torch.Tensor.add_"],
  ["crossEntropy", "torch.nn.functional.cross_entropy"],
  ["nn.functional.maxPool2d", "torch.nn.functional.max_pool2d"],
  ["nn.Linear", "torch.nn.Linear", true],
  ["optim.lrScheduler.StepLR", "torch.optim.lr_scheduler.StepLR", true],
  ["linalg.matrixNorm", "torch.linalg.matrix_norm"],
  ["autograd.checkpoint", "torch.utils.checkpoint.checkpoint"],
  ["unique", "torch.unique"],
  ["solveTriangular", "torch.linalg.solve_triangular"],
  ["fft", "torch.fft.fft"],
  ["linear", "torch.nn.functional.linear"],
  ["noGrad", "torch.no_grad"],
  ["edgegrad/distributed.allReduce", "torch.distributed.all_reduce"],
  ["quantize", null],
  ["scope", null],
  ["func.interceptOps", null],
  ["edgegrad/vis.watch", null],
]) {
  test(`${name}: ${theirs}`, () => {
    assert.equal(pytorchName(name, opOf(name.replace(/_$/, "")), isClass), theirs);
  });
}
