// Chapters about vectors and matrices.

import {
  kDiv,
  kExp,
  kLog,
  kMatmul,
  kMatmulTransposed,
  kNegate,
  kSlide,
  kSoftmax,
  kSquare,
  kSub,
  kSum,
  pick,
} from "../ops.js";
import type { GraphChapter } from "./chapter.js";

const kCrossEntropy: GraphChapter = {
  id: "cross_entropy",
  title: "Softmax with cross entropy",
  paragraphs: [
    "A classifier gives each of three classes a score. Softmax makes shares of them: exp of each, divided by the sum. Class 0 is right, and the loss is −log of its share.",
    "The gradients that the scores get in the end are simple, whatever happens between: the share minus 1 for the right class, the share itself for the others. They sum to 0.",
  ],
  numbers: [],
  tensors: [{ name: "scores", rows: [[1, 2, 0.5]], isVector: true }],
  build: (e, scores) => {
    const powers = e.apply("powers", kExp, scores);
    const total = e.apply("total", kSum, powers);
    const shares = e.apply("shares", kDiv, powers, total);
    const share = e.apply("share", pick(0), shares);
    e.apply("loss", kNegate, e.apply("log share", kLog, share));
  },
  question: {
    text: "Which gradient will go from the log to the share of class 0?",
    from: "share",
    to: "log share",
    why: "−1 arrives at the log, and its slope is 1 / share: a small share gets a large gradient.",
  },
};

const kConvolution: GraphChapter = {
  id: "convolution",
  title: "A convolution",
  paragraphs: [
    "A kernel of three weights slides along a signal of five numbers; at each of three positions, the products are summed. The result should become the target.",
    "The same weights are used three times, so each weight's gradient is a sum of three products. The first number of the signal was covered once, the middle one three times: look at how much of the gradient each receives.",
  ],
  numbers: [],
  tensors: [
    { name: "signal", rows: [[0, 1, 2, 1, 0]], isVector: true },
    { name: "kernel", rows: [[1, 0, -1]], isVector: true },
    { name: "target", rows: [[0, 1, 0]], isVector: true, isData: true },
  ],
  build: (e, signal, kernel, target) => {
    const result = e.apply("result", kSlide, signal, kernel);
    const difference = e.apply("difference", kSub, result, target);
    e.apply("loss", kSum, e.apply("squares", kSquare, difference));
  },
  question: {
    text: "Which gradient will go from the result to the kernel's first weight?",
    from: "kernel",
    to: "result",
    why: "At position i the first weight met element i of the signal: the sum of gradient · signal over the positions.",
  },
};

const kAttention: GraphChapter = {
  id: "attention",
  title: "Attention",
  paragraphs: [
    "Three words, each with a query, a key and a value of two numbers. A query times every key gives a word's scores for all words; softmax makes weights of them; the output is the weighted mean of the values.",
    "Two paths lead back: to the values directly, by the weights; and to queries and keys through softmax, where a row's gradients sum to 0: attention can only be taken from one word by giving it to another.",
  ],
  numbers: [],
  tensors: [
    {
      name: "Q",
      rows: [
        [1, 0],
        [0, 1],
        [1, 1],
      ],
    },
    {
      name: "K",
      rows: [
        [1, 0],
        [0, 2],
        [-1, 1],
      ],
    },
    {
      name: "V",
      rows: [
        [1, 0],
        [0, 1],
        [2, 2],
      ],
    },
  ],
  build: (e, Q, K, V) => {
    const scores = e.apply("scores", kMatmulTransposed, Q, K);
    const weights = e.apply("weights", kSoftmax, scores);
    const output = e.apply("output", kMatmul, weights, V);
    e.apply("loss", kSum, e.apply("squares", kSquare, output));
  },
  question: {
    text: "Which gradient will go from the sum to the first element of squares?",
    from: "squares",
    to: "loss",
    why: "A sum has slope 1 along every element, and 1 arrives at the loss.",
  },
};

export const kTensorChapters = [kCrossEntropy, kConvolution, kAttention];
