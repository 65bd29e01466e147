// jax-js on a graphics card; ops are compiled with jit.

import {
  blockUntilReady,
  defaultDevice,
  getWebGPUDevice,
  init,
  jit,
  lax,
  numpy as np,
} from "@jax-js/jax";
import { randomNumbers } from "../data.mjs";
import { trainer } from "../trainers/jax.mjs";

export async function load() {
  await init("webgpu");
  defaultDevice("webgpu");
  return { repeat, product, convolution, sum, training: trainer };
}

/** Bytes of results that may wait for being submitted. */
const kMostBytes = 2 ** 29;

// Nothing is submitted before a result is asked for.
async function repeat(op, times) {
  let results = [];
  const submit = async () => {
    await blockUntilReady(results);
    for (const result of results) result.dispose();
    results = [];
  };
  for (let i = 0; i < times; ++i) {
    results.push(op());
    if (results.length * 4 * results[0].size >= kMostBytes) await submit();
  }
  await submit();
  await getWebGPUDevice().queue.onSubmittedWorkDone();
}

function random(seed, ...shape) {
  const count = shape.reduce((product, size) => product * size, 1);
  return np.array(randomNumbers(count, seed)).reshape(shape);
}

function opOf(run, ...operands) {
  const compiled = jit(run);
  return {
    op: () => compiled(...operands.map((operand) => operand.ref)),
    end() {
      for (const operand of operands) operand.dispose();
    },
  };
}

function product({ m, n, k, batch, isATransposed, isBTransposed }) {
  const leading = batch ? [batch] : [];
  const axes = batch ? [0, 2, 1] : [1, 0];
  const matrix = (seed, rows, columns, isTransposed) =>
    random(seed, ...leading, ...(isTransposed ? [columns, rows] : [rows, columns]));
  const given = (x, isTransposed) => (isTransposed ? np.transpose(x, axes) : x);
  return opOf(
    (a, b) => np.matmul(given(a, isATransposed), given(b, isBTransposed)),
    ...[matrix(1, m, k, isATransposed), matrix(2, k, n, isBTransposed)],
  );
}

function convolution({ batch, inputs, outputs, size, kernel }) {
  const sides = [(kernel - 1) / 2, (kernel - 1) / 2];
  return opOf(
    (x, weight) => lax.conv(x, weight, [1, 1], [sides, sides]),
    ...[random(1, batch, inputs, size, size), random(2, outputs, inputs, kernel, kernel)],
  );
}

const sum = ({ count }) => opOf((x, y) => x.add(y), random(1, count), random(2, count));
