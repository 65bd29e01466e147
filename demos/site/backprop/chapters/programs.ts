// Chapters about the graph itself: what it keeps, what changes in place do, and gradients of gradients.

import type { ProgramChapter } from "./chapter.js";

const kRetained: ProgramChapter = {
  id: "retain_graph",
  title: "What a graph keeps",
  paragraphs: [
    "The chapters so far drew what the engine keeps; now it is a program that runs line by line. A tensor holds one or more numbers. For each box, which programs call an op, the engine records a node of the graph. A node keeps what the way back will need: that of a square keeps its operand, because its slope is 2x. The call y.backward() goes the way back, uses what was kept and lets it go, so memory is free again after each step of training. Who wants to go back twice asks for it by retainGraph.",
    "A gradient is added to the one that is there, which is why a step of training begins with zeroGrad(), which clears them.",
  ],
  lines: [
    {
      code: "const x = eg.tensor(3, { requiresGrad: true });",
      note: "A leaf: nothing computed it. requiresGrad asks for its gradient, so ops on it are recorded. It has none yet.",
    },
    {
      code: "const y = x.square();",
      note: "The op recorded a node, y.gradFn, which has saved x.",
    },
    {
      code: "y.backward(null, { retainGraph: true });",
      note: "null stands for the 1 that the way back begins with. 2x = 6 arrives at the leaf, and the node keeps what it has saved.",
    },
    {
      code: "y.backward();",
      note: "The same graph again: 6 is added, and now the saved tensor is gone.",
    },
    {
      code: "y.backward();",
      note: "A third time fails, because the node has nothing left to compute with.",
    },
  ],
  watched: ["x.grad?.item()", "y.item()", "y.gradFn.name", "Object.keys(y.gradFn.saved)"],
  question: {
    text: "x is 3 and y.backward() runs three times, each time with retainGraph. What is x.grad?",
    answers: ["6", "18", "216"],
    right: 1,
    why: "Each run adds 2x = 6 to what is there.",
  },
};

const kInPlace: ProgramChapter = {
  id: "in_place",
  title: "Changed in place",
  paragraphs: [
    "Some ops write their result into the memory of an operand instead of new memory; their names end in _. A tensor counts how often it was changed so: its version. A node remembers the version of what it saved. If the tensor changes before backward, the gradient would be wrong, so the engine compares the two and refuses.",
    "Not every change does harm: a sum needs none of its operands, so nothing was saved, and nothing is compared.",
  ],
  lines: [
    {
      code: "const w = eg.tensor([1, 2], { requiresGrad: true });",
      note: "A weight.",
    },
    { code: "const h = w.mul(3);", note: "h is computed from it. Its version is 0." },
    {
      code: "const y = h.square().sum();",
      note: "The square saves h in version 0, because its slope is 2h.",
    },
    { code: "h.add_(10);", note: "h changes in place: version 1. The saved h is the same memory." },
    {
      code: "y.backward();",
      note: "The engine compares versions, and says which tensor was changed and how to mend it.",
    },
  ],
  watched: ["h.version", "h.arraySync()", "y.item()", "w.grad?.arraySync()"],
  question: {
    text: "The line h.add_(10) comes after z = h.add(1).sum() instead of the square. What does z.backward() do?",
    answers: ["It fails in the same way", "It works: the sum saved nothing", "It gives 0"],
    right: 1,
    why: "A sum's slope is 1 whatever h is, so its node saves nothing, and no version is compared.",
  },
};

const kDouble: ProgramChapter = {
  id: "double_backward",
  title: "The gradient of a gradient",
  paragraphs: [
    "Backward is made of the same ops as forward: products, sums, squares. With createGraph they are recorded too, so a gradient is a tensor with a history, and can be differentiated again.",
    "That is how curvature, penalties on gradients and learning to learn are computed.",
  ],
  lines: [
    { code: "const x = eg.tensor(2, { requiresGrad: true });", note: "A leaf." },
    { code: "const y = x.pow(3);", note: "y = x³ = 8. The slope of a cube is 3x²." },
    {
      code: "const [first] = eg.autograd.grad(y, x, { createGraph: true });",
      note: "autograd.grad returns a gradient instead of keeping it at the leaf: 3x² = 12, and this tensor knows how it was computed.",
    },
    {
      code: "const [second] = eg.autograd.grad(first, x, { createGraph: true });",
      note: "The derivative of 3x²: 6x = 12.",
    },
    {
      code: "const [third] = eg.autograd.grad(second, x);",
      note: "The derivative of 6x: 6. Without createGraph it has no history.",
    },
  ],
  watched: [
    "y.item()",
    "first.item()",
    "first.gradFn?.name",
    "second.item()",
    "third.item()",
    "third.requiresGrad",
  ],
  question: {
    text: "Why can first be differentiated again?",
    answers: [
      "Because x.grad was set",
      "Because its computation was recorded (createGraph)",
      "Because y is a power",
    ],
    right: 1,
    why: "Without createGraph, first would be a number without a history, like third.",
  },
};

export const kProgramChapters = [kRetained, kInPlace, kDouble];
