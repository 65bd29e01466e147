// Chapters about plain numbers.

import { kAdd, kMul, kRelu, kSquare, kSub, kTanh } from "../ops.js";
import type { GraphChapter } from "./chapter.js";

const kError: GraphChapter = {
  id: "error",
  title: "One weight, one error",
  paragraphs: [
    "A model multiplies a number x by a weight w, which it may choose. It predicts w · x and should have said y. The square of the difference says how wrong it is: the error. Which way should w move, and how strongly would that matter? That is its gradient: how much the error grows per unit of w, if w grows by a little.",
    "Each box computes one thing, and each arrow brings a number to the box that uses it. Step forward until the error is computed. Then the way back begins: each box asks how much its own result grows per unit of what came in. This is the slope of the arrow. For a product it is the other factor: with x = 3, w · x grows by 3 per unit of w.",
    "A gradient goes back along an arrow: what has arrived at the box, times the slope of the arrow. It says how much the error grows per unit of the number at the beginning of the arrow. The picture writes it in orange on the arrow, × slope = gradient, and the sum of all that a number has received as grad in its box. Dashed boxes are data: they are given, so nobody asks for their gradient. Drag a number at any time: everything is computed again by the engine.",
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
    text: "Step until the gradient of w·x is known, and no further. Which gradient will go from w·x to w?",
    from: "w",
    to: "w·x",
    why: "The gradient of w·x times the slope along w, which is the other factor, x.",
  },
};

const kNeuron: GraphChapter = {
  id: "neuron",
  title: "A neuron",
  paragraphs: [
    "A neuron has several inputs, here two, and a weight for each. It adds the products and one more number, its bias b, and bends the sum into the range from −1 to 1 by a curve, tanh. The way back visits the same boxes in the opposite order, and along each arrow multiplies by one slope. That slopes of boxes in a row are multiplied is called the chain rule.",
    "A sum has slope 1 along each of its arrows: what arrives is passed on unchanged. The curve tanh is steep around 0 and flat far from it. Move b until the sum is 3 or −3: the slope there is nearly 0, and almost nothing reaches the weights. Such a neuron is called saturated, and learns slowly.",
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
    "Two neurons read the same x, and the output adds what they say. One bends its product by tanh, the other by relu, which makes 0 of negative numbers and keeps the others. So x influences the error along two paths, and its gradient is the sum over both. A weight that is used at many places, for every word of a sentence or at every pixel of an image, is such a number.",
    "Watch x: it receives one part, then the other. A number like x, which no box has computed, is called a leaf: the way back ends there, and the sum is kept. In PyTorch and here, the part of the engine that adds it up is named AccumulateGrad.",
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
  summary: {
    text: "And in words: what does the gradient −0.5 on an arrow say?",
    answers: [
      "The number at its beginning is −0.5",
      "If the number at its beginning grows by a little, the error shrinks by half of that, as far as this path is concerned",
      "The next step of training changes the number by −0.5",
    ],
    right: 1,
    why: "It is how much the error grows per unit of the number at the beginning of the arrow, along this path alone: what has arrived at the box, times the slope. The gradient of the number is the sum over all its arrows.",
  },
};

export const kScalarChapters = [kError, kNeuron, kPaths];
