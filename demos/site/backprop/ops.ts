// The ops of the chapters.

import type { Op } from "./expression.js";

export const kMul: Op = {
  symbol: "×",
  run: (a, b) => a.mul(b),
  formula: (a, b) => `${a} · ${b}`,
  rule: "The slope of a product along one factor is the other factor.",
};

export const kAdd: Op = {
  symbol: "+",
  run: (a, b) => a.add(b),
  formula: (a, b) => `${a} + ${b}`,
  rule: "A sum has slope 1 along each term, so it passes the gradient on unchanged.",
};

export const kSub: Op = {
  symbol: "−",
  run: (a, b) => a.sub(b),
  formula: (a, b) => `${a} − ${b}`,
  rule: "A difference has slope 1 along the first term and −1 along the second.",
};

export const kSquare: Op = {
  symbol: "square",
  run: (a) => a.square(),
  formula: (a) => `${a}²`,
  rule: "The slope of v² is 2v.",
};

export const kTanh: Op = {
  symbol: "tanh",
  run: (a) => a.tanh(),
  formula: (a) => `tanh ${a}`,
  rule: "The slope of tanh is 1 − tanh²: nearly 1 around zero, nearly 0 where tanh is flat.",
};

export const kRelu: Op = {
  symbol: "relu",
  run: (a) => a.relu(),
  formula: (a) => `max(0, ${a})`,
  rule: "relu has slope 1 where its operand is positive, and 0 elsewhere: nothing passes there.",
};

export const kExp: Op = {
  symbol: "exp",
  run: (a) => a.exp(),
  formula: (a) => `exp ${a}`,
  rule: "The slope of exp is exp itself.",
};

export const kLog: Op = {
  symbol: "log",
  run: (a) => a.log(),
  formula: (a) => `log ${a}`,
  rule: "The slope of log v is 1 / v: the smaller v, the larger the gradient.",
};

export const kNegate: Op = {
  symbol: "negate",
  run: (a) => a.neg(),
  formula: (a) => `−${a}`,
  rule: "A changed sign has slope −1.",
};

export const kDiv: Op = {
  symbol: "÷",
  run: (a, b) => a.div(b),
  formula: (a, b) => `${a} / ${b}`,
  rule: "The slope of a / b along a is 1 / b, along b it is −a / b². A number that divided several elements receives the sum over them.",
};

export const kSum: Op = {
  symbol: "sum",
  run: (a) => a.sum(),
  formula: (a) => `the sum of ${a}`,
  rule: "Every element of a sum has slope 1, so each receives the same gradient.",
};

/** Picks an element of a vector. */
export function pick(index: number): Op {
  return {
    symbol: `[${index}]`,
    run: (a) => a.select(0, index),
    formula: (a) => `element ${index} of ${a}`,
    rule: `Only element ${index} was used, so it receives the gradient; the others receive 0.`,
  };
}

export const kSlide: Op = {
  symbol: "conv",
  run: (signal, kernel) =>
    signal
      .reshape([1, 1, -1])
      .conv1d(kernel.reshape([1, 1, -1]))
      .reshape([-1]),
  formula: (signal, kernel) => `${kernel} slid along ${signal}`,
  rule: "The kernel's weights are used at every position, so each receives a sum over all positions. An element of the signal receives from the positions whose window covered it.",
};

export const kMatmul: Op = {
  symbol: "@",
  run: (a, b) => a.matmul(b),
  formula: (a, b) => `${a} @ ${b}`,
  rule: "For C = A @ B, A receives G @ Bᵀ and B receives Aᵀ @ G: the other factor, turned so that the shapes fit.",
};

export const kMatmulTransposed: Op = {
  symbol: "@ ᵀ",
  run: (a, b) => a.matmul(b.transpose(0, 1)),
  formula: (a, b) => `${a} @ ${b}ᵀ`,
  rule: "For S = Q @ Kᵀ, Q receives G @ K and K receives Gᵀ @ Q.",
};

export const kSoftmax: Op = {
  symbol: "softmax",
  run: (a) => a.softmax(-1),
  formula: (a) => `softmax of each row of ${a}`,
  rule: "The weights of a row sum to 1: what one gains, the others lose. So the gradients that a row receives sum to 0.",
};
