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
    "A classifier chooses between classes, such as cat, dog and bird, and gives each a score. Softmax makes shares of the scores, positive numbers that sum to 1: exp of each, divided by the sum of all. Class 0, the first one, is right. The loss, as the error of a classifier is called, is −log of its share: 0 if the share is 1, and larger the smaller the share. The slope of log at a share is 1 / share.",
    "From here on a box holds several numbers, and an arrow brings back a gradient for each of them. The gradients that the scores get in the end are simple, whatever happens between: the share minus 1 for the right class, the share itself for the others. They sum to 0.",
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
    text: "Step until the gradient of the log share is known. Which gradient will go from there to the share of class 0?",
    from: "share",
    to: "log share",
    why: "−1 arrives at the log, and its slope is 1 / share: a small share gets a large gradient.",
  },
};

const kConvolution: GraphChapter = {
  id: "convolution",
  title: "A convolution",
  paragraphs: [
    "A convolution looks for a small pattern everywhere: a kernel of three weights slides along a signal of five numbers. At each of three positions, each weight is multiplied by the number that it covers, and the products are summed. The result should become the target.",
    "The same weights are used three times, so the gradient of a weight is a sum of three products: at each position, the gradient that arrives there times the number of the signal that the weight covered. The first number of the signal was covered once, the middle one three times: look at how much of the gradient each receives.",
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
    text: "Step until the gradient of the result is known. Which gradient will go from there to the kernel's first weight?",
    from: "kernel",
    to: "result",
    why: "At position i the first weight met element i of the signal: the sum of gradient · signal over the positions.",
  },
};

const kAttention: GraphChapter = {
  id: "attention",
  title: "Attention",
  paragraphs: [
    "In a language model, words look at each other. Each of three words has a query (what it looks for), a key (what it offers) and a value (what it passes on), of two numbers each: the rows of Q, K and V. A query times every key gives a word's scores for all words; softmax makes weights of them, as in the chapter before last; the output is the mean of the values by these weights. The sign @ multiplies matrices: each row of the first by each column of the second.",
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
