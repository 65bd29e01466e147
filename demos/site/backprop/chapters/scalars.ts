// Chapters about plain numbers.

import { kAdd, kMul, kRelu, kSquare, kSub, kTanh } from "../ops.js";
import type { GraphChapter } from "./chapter.js";

const kError: GraphChapter = {
  id: "error",
  title: "One weight, one error",
  paragraphs: [
    "A model predicts w · x and should have said y. The square of the difference says how wrong it is. Which way should w move, and how strongly would that matter? That is its gradient: how much the error grows per unit of w.",
    "Step forward to compute the error, then on to see the gradient arrive. Drag a number at any time: everything is computed again by the engine.",
  ],
  numbers: [
    { name: "w", value: 2, min: -4, max: 4 },
    { name: "x", value: 3, min: -4, max: 4 },
    { name: "y", value: 4, min: -8, max: 8, isData: true },
  ],
  build: (e, w, x, y) => {
    const product = e.apply("w·x", kMul, w, x);
    const difference = e.apply("difference", kSub, product, y);
    e.apply("error", kSquare, difference);
  },
  question: {
    text: "Before you step on: which gradient will go from w·x to w?",
    from: "w",
    to: "w·x",
    why: "The gradient of w·x times the other factor, x.",
  },
};

const kNeuron: GraphChapter = {
  id: "neuron",
  title: "A neuron",
  paragraphs: [
    "Two inputs, a weight for each, a bias, and tanh, which bends the sum into the range from −1 to 1. Backward visits the same boxes in the opposite order, and at each multiplies by one slope: this is the chain rule.",
    "Move b until the sum is 3 or −3. tanh is flat there, its slope nearly 0, and almost nothing reaches the weights: the neuron is saturated and learns slowly.",
  ],
  numbers: [
    { name: "w1", value: 0.5, min: -2, max: 2 },
    { name: "x1", value: 1, min: -2, max: 2, isData: true },
    { name: "w2", value: -1, min: -2, max: 2 },
    { name: "x2", value: 0.5, min: -2, max: 2, isData: true },
    { name: "b", value: 0.3, min: -4, max: 4 },
    { name: "y", value: 1, min: -1, max: 1, isData: true },
  ],
  build: (e, w1, x1, w2, x2, b, y) => {
    const first = e.apply("w1·x1", kMul, w1, x1);
    const second = e.apply("w2·x2", kMul, w2, x2);
    const both = e.apply("products", kAdd, first, second);
    const sum = e.apply("sum", kAdd, both, b);
    const output = e.apply("output", kTanh, sum);
    const difference = e.apply("difference", kSub, output, y);
    e.apply("error", kSquare, difference);
  },
  question: {
    text: "Which gradient will go from the sum to the bias b?",
    from: "b",
    to: "sum",
    why: "A sum passes its gradient on unchanged, so the bias gets just what arrives at the sum.",
  },
};

const kPaths: GraphChapter = {
  id: "paths",
  title: "Where paths meet",
  paragraphs: [
    "Two neurons read the same x, and the output adds what they say. So x influences the error along two paths, and its gradient is the sum over both. A weight that is used at many places, in every word of a sentence or at every pixel, is such a value.",
    "Watch x: it receives one part, then the other. In PyTorch and here, the node AccumulateGrad adds what arrives at a leaf.",
  ],
  numbers: [
    { name: "x", value: 1.5, min: -2, max: 2 },
    { name: "u", value: 1, min: -2, max: 2 },
    { name: "v", value: -0.5, min: -2, max: 2 },
    { name: "a", value: 1, min: -2, max: 2 },
    { name: "y", value: 0.5, min: -2, max: 2, isData: true },
  ],
  build: (e, x, u, v, a, y) => {
    const left = e.apply("left", kRelu, e.apply("u·x", kMul, u, x));
    const right = e.apply("right", kTanh, e.apply("v·x", kMul, v, x));
    const scaled = e.apply("a·left", kMul, a, left);
    const output = e.apply("output", kAdd, scaled, right);
    e.apply("error", kSquare, e.apply("difference", kSub, output, y));
  },
  question: {
    text: "x gets its gradient from two ops. What will come from u·x?",
    from: "x",
    to: "u·x",
    why: "The gradient of u·x times the other factor, u. What comes from v·x is added to it.",
  },
};

export const kScalarChapters = [kError, kNeuron, kPaths];
