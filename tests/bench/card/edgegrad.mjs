// This package on a graphics card.

import * as eg from "edgegrad";
import { startTrainer } from "../trainers/edgegrad.mjs";

const device = "webgpu";

export async function load({ captured = false }) {
  await eg.init({ webgpu: "required" });
  const training = (task, batches) => startTrainer(device, task, batches, { captured });
  return { repeat, product, convolution, copy, sum, training };
}

async function repeat(op, times) {
  let last = null;
  for (let i = 0; i < times; ++i) {
    last?.dispose();
    last = op();
  }
  // Commands are in order, so that the last result is there when all are.
  const first = eg.scope(() => last.flatten().select(0, 0).clone());
  last.dispose();
  await first.itemAsync();
  first.dispose();
}

const random = (...shape) => eg.rand(shape, { device }).sub(0.5);

function opOf(run, ...operands) {
  const end = () => {
    for (const operand of operands) operand.dispose();
  };
  return { op: () => run(...operands), end };
}

function product({ m, n, k, batch, isATransposed, isBTransposed }) {
  const leading = batch ? [batch] : [];
  const matrix = (rows, columns, isTransposed) =>
    isTransposed ? random(...leading, columns, rows).mT : random(...leading, rows, columns);
  return opOf(eg.matmul, matrix(m, k, isATransposed), matrix(k, n, isBTransposed));
}

function convolution({ batch, inputs, outputs, size, kernel }) {
  const padding = (kernel - 1) / 2;
  const run = (x, weight) => eg.conv2d(x, weight, { padding });
  return opOf(run, random(batch, inputs, size, size), random(outputs, inputs, kernel, kernel));
}

const copy = ({ count }) => opOf((x) => x.clone(), random(count));

const sum = ({ count }) => opOf((x, y) => x.add(y), random(count), random(count));
