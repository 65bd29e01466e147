// Loss functions.

import type { Call, Writer, Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import { Value } from "../values.js";
import { length } from "./norms.js";

// Applies the reduction: the mean or the sum of all losses, or the losses themselves.
function reduceLoss(c: Call, name: Name, rank = broadcastRank(c)): Name {
  const reduction = c.arg("reduction") as string;
  if (reduction === "none") return name;
  const dims = Array.from({ length: rank }, (_, i) => i);
  if (reduction === "batchmean") {
    const size = c.graph.cast(c.exporter.size(c.value("input").size(0)), c.out.dtype);
    return c.node("Div", [c.reduce("ReduceSum", name, dims, false), c.squeeze(size, [0])]);
  }
  return c.reduce(reduction === "mean" ? "ReduceMean" : "ReduceSum", name, dims, false);
}

function broadcastRank(c: Call): number {
  const ranks = ["input", "target", "input1", "input2", "weight"].map((name) =>
    c.step.values[name] === undefined || c.isLeftOut(name) ? 0 : c.value(name).rank,
  );
  return Math.max(...ranks);
}

function elementwise(write: (c: Call, input: Name, target: Name) => Name): Writer {
  return (c) => reduceLoss(c, write(c, c.in("input", c.out.dtype), c.in("target", c.out.dtype)));
}

const square = (c: Call, x: Name) => c.node("Mul", [x, x]);
const distance = (c: Call, a: Name, b: Name) => c.node("Abs", [c.node("Sub", [a, b])]);

// Quadratic near zero, linear beyond `limit`.
function bent(c: Call, size: Name, limit: number, quadratic: number, linear: number): Name {
  const near = c.node("Mul", [square(c, size), c.scalar(quadratic)]);
  const far = c.node("Mul", [c.node("Sub", [size, c.scalar(limit / 2)]), c.scalar(linear)]);
  return c.node("Where", [c.node("Less", [size, c.scalar(limit)]), near, far]);
}

const smoothL1: Writer = elementwise((c, input, target) => {
  const beta = c.number("beta");
  const size = distance(c, input, target);
  return beta === 0 ? size : bent(c, size, beta, 0.5 / beta, 1);
});

const huber: Writer = elementwise((c, input, target) => {
  const delta = c.number("delta");
  return bent(c, distance(c, input, target), delta, 0.5, delta);
});

const oneLess = (c: Call, x: Name) => c.node("Sub", [c.scalar(1), x]);

// Logarithms of probabilities are at least -100.
const binaryCrossEntropy: Writer = elementwise((c, input, target) => {
  const log = (x: Name) => c.node("Max", [c.node("Log", [x]), c.scalar(-100)]);
  const positive = c.node("Mul", [target, log(input)]);
  const negative = c.node("Mul", [oneLess(c, target), log(oneLess(c, input))]);
  return applyWeight(c, c.node("Neg", [c.node("Add", [positive, negative])]));
});

function applyWeight(c: Call, loss: Name): Name {
  return c.isLeftOut("weight") ? loss : c.node("Mul", [loss, c.in("weight", c.out.dtype)]);
}

const withLogits: Writer = elementwise((c, input, target) => {
  const softplus = c.node("Softplus", [c.node("Neg", [input])]);
  const negative = c.node("Mul", [oneLess(c, target), input]);
  const posWeight = c.optional("posWeight");
  if (posWeight === null) return applyWeight(c, c.node("Add", [negative, softplus]));
  const more = c.node("Sub", [c.as(posWeight, c.out.dtype), c.scalar(1)]);
  const factor = c.node("Add", [c.scalar(1), c.node("Mul", [more, target])]);
  return applyWeight(c, c.node("Add", [negative, c.node("Mul", [factor, softplus])]));
});

// In the scores the classes are dimension 1, or dimension 0 for a single sample; the targets lack this dimension.
function classLoss(type: string): Writer {
  return (c) => {
    const [input, target] = [c.value("input"), c.value("target")];
    const isSingle = input.rank === 1;
    const grow = (name: Name) => (isSingle ? c.unsqueeze(name, [0]) : name);
    const weight = c.optional("weight");
    const given = [
      grow(c.in("input")),
      grow(c.as(target, "int64")),
      weight === null ? null : c.as(weight),
    ];
    const result = c.node(type, given, {
      reduction: c.arg("reduction") as string,
      ignore_index: c.number("ignoreIndex"),
    });
    return isSingle && c.is("reduction", "none") ? c.squeeze(result, [0]) : result;
  };
}

// Label smoothing spreads a part of the probability over all classes; ignored samples do not count.
function smoothLabels(c: Call, smoothing: number): Name {
  const [input, target, weight] = [c.value("input"), c.value("target"), c.optional("weight")];
  if (input.rank < 2) noForm("label smoothing of a single sample");
  const reduction = c.arg("reduction") as string;
  const classes = c.fixedNumber("the number of classes", input.size(1));
  const log = c.node("LogSoftmax", [c.in("input")], { axis: 1 });
  const numbers = c.as(target, "int64");
  const ignored = c.graph.constant(c.number("ignoreIndex"), "int64");
  const hard = c.node("NegativeLogLikelihoodLoss", [log, numbers, weight && c.as(weight)], {
    reduction,
    ignore_index: c.number("ignoreIndex"),
  });
  const isIgnored = c.node("Equal", [numbers, ignored]);
  const places = Array.from({ length: input.rank - 2 }, (_, i) => i + 1);
  const products = weight ? c.node("Mul", [log, c.unsqueeze(c.as(weight), places)]) : log;
  const sums = c.node("Neg", [c.reduce("ReduceSum", products, [1], false)]);
  let soft = c.node("Where", [isIgnored, c.scalar(0), sums]);
  if (reduction !== "none") soft = c.reduce("ReduceSum", soft, allDims(target), false);
  if (reduction === "mean") {
    const known = c.node("Where", [isIgnored, c.graph.constant(0, "int64"), numbers]);
    const own = weight ? c.node("Gather", [c.as(weight), known]) : c.scalar(1);
    const counted = c.node("Where", [isIgnored, c.scalar(0), own]);
    soft = c.node("Div", [soft, c.reduce("ReduceSum", counted, allDims(target), false)]);
  }
  const share = c.node("Mul", [soft, c.scalar(smoothing / classes)]);
  return c.node("Add", [c.node("Mul", [hard, c.scalar(1 - smoothing)]), share]);
}

function allDims({ rank }: Value): number[] {
  return Array.from({ length: rank }, (_, i) => i);
}

const crossEntropy: Writer = (c) => {
  const [input, target] = [c.value("input"), c.value("target")];
  const smoothing = c.number("labelSmoothing");
  const isProbability = target.dtype === input.dtype && target.rank === input.rank;
  if (!isProbability && smoothing === 0) return classLoss("SoftmaxCrossEntropyLoss")(c);
  if (!isProbability) return smoothLabels(c, smoothing);
  const axis = input.rank === 1 ? 0 : 1;
  const classes = c.fixedNumber("the number of classes", input.size(axis));
  const log = c.node("LogSoftmax", [c.in("input")], { axis });
  let wanted = c.in("target");
  if (smoothing > 0) {
    const kept = c.node("Mul", [wanted, c.scalar(1 - smoothing)]);
    wanted = c.node("Add", [kept, c.scalar(smoothing / classes)]);
  }
  let products = c.node("Mul", [wanted, log]);
  const weight = c.optional("weight");
  if (weight !== null) {
    const places = Array.from({ length: Math.max(0, input.rank - 2) }, (_, i) => i + 1);
    products = c.node("Mul", [products, c.unsqueeze(c.as(weight), places)]);
  }
  const loss = c.node("Neg", [c.reduce("ReduceSum", products, [axis], false)]);
  return reduceLoss(c, loss, input.rank - 1);
};

const klDiv: Writer = elementwise((c, input, target) => {
  if (c.is("logTarget")) {
    return c.node("Mul", [c.node("Exp", [target]), c.node("Sub", [target, input])]);
  }
  const product = c.node("Mul", [target, c.node("Sub", [c.node("Log", [target]), input])]);
  return c.node("Where", [c.node("Equal", [target, c.scalar(0)]), c.scalar(0), product]);
});

const marginRanking: Writer = (c) => {
  const [a, b] = [c.in("input1", c.out.dtype), c.in("input2", c.out.dtype)];
  const difference = c.node("Mul", [c.in("target", c.out.dtype), c.node("Sub", [b, a])]);
  const loss = c.node("Relu", [c.node("Add", [difference, c.scalar(c.number("margin"))])]);
  return reduceLoss(c, loss);
};

const hingeEmbedding: Writer = elementwise((c, input, target) => {
  const apart = c.node("Relu", [c.node("Sub", [c.scalar(c.number("margin")), input])]);
  const unless = (label: number, loss: Name) =>
    c.node("Where", [c.node("Equal", [target, c.scalar(label)]), c.scalar(0), loss]);
  return c.node("Add", [unless(-1, input), unless(1, apart)]);
});

const softMargin: Writer = elementwise((c, input, target) =>
  c.node("Softplus", [c.node("Neg", [c.node("Mul", [target, input])])]),
);

const cosineEmbedding: Writer = (c) => {
  const { rank } = c.value("input1");
  const [a, b] = [c.in("input1", c.out.dtype), c.in("input2", c.out.dtype)];
  const product = c.reduce("ReduceSum", c.node("Mul", [a, b]), [rank - 1], false);
  const size = (x: Name) =>
    c.node("Add", [c.reduce("ReduceSum", square(c, x), [rank - 1], false), c.scalar(1e-12)]);
  const similarity = c.node("Div", [product, c.node("Sqrt", [c.node("Mul", [size(a), size(b)])])]);
  const apart = c.node("Relu", [c.node("Sub", [similarity, c.scalar(c.number("margin"))])]);
  const where = (label: number, loss: Name, other: Name) =>
    c.node("Where", [c.node("Equal", [c.in("target", c.out.dtype), c.scalar(label)]), loss, other]);
  const loss = where(1, oneLess(c, similarity), where(-1, apart, c.scalar(0)));
  return reduceLoss(c, loss, rank - 1);
};

const poisson: Writer = elementwise((c, input, target) => {
  const log = c.is("logInput")
    ? input
    : c.node("Log", [c.node("Add", [input, c.scalar(c.number("eps"))])]);
  const rate = c.is("logInput") ? c.node("Exp", [input]) : input;
  const loss = c.node("Sub", [rate, c.node("Mul", [target, log])]);
  return c.is("full") ? c.node("Add", [loss, stirling(c, target)]) : loss;
});

// The logarithm of the factorial, approximately; 0 for 0 and 1.
function stirling(c: Call, x: Name): Name {
  const power = c.node("Sub", [c.node("Mul", [x, c.node("Log", [x])]), x]);
  const root = c.node("Mul", [
    c.node("Log", [c.node("Mul", [x, c.scalar(2 * Math.PI)])]),
    c.scalar(0.5),
  ]);
  const isLarge = c.node("Greater", [x, c.scalar(1)]);
  return c.node("Where", [isLarge, c.node("Add", [power, root]), c.scalar(0)]);
}

const gaussian: Writer = elementwise((c, input, target) => {
  const eps = c.scalar(c.number("eps"));
  const given = c.arg("var");
  let variance = c.node("Max", [c.operand("var", c.out.dtype), eps]);
  // A variance for each row.
  if (given instanceof Value && given.rank === c.value("input").rank - 1) {
    variance = c.unsqueeze(variance, [given.rank]);
  }
  const ratio = c.node("Div", [square(c, c.node("Sub", [input, target])), variance]);
  const sum = c.node("Add", [c.node("Log", [variance]), ratio]);
  const half = c.node("Mul", [sum, c.scalar(0.5)]);
  return c.is("full") ? c.node("Add", [half, c.scalar(0.5 * Math.log(2 * Math.PI))]) : half;
});

const multilabelSoftMargin: Writer = (c) => {
  const [input, target] = [c.in("input"), c.in("target", c.out.dtype)];
  const softplus = (x: Name) => c.node("Softplus", [x]);
  const positive = c.node("Mul", [target, softplus(c.node("Neg", [input]))]);
  const negative = c.node("Mul", [oneLess(c, target), softplus(input)]);
  const { rank } = c.value("input");
  const losses = applyWeight(c, c.node("Add", [positive, negative]));
  return reduceLoss(c, c.reduce("ReduceMean", losses, [rank - 1], false), rank - 1);
};

const tripletMargin: Writer = (c) => {
  const { rank } = c.value("anchor");
  const of = (name: string) => c.in(name, c.out.dtype);
  const apart = (a: string, b: string) => {
    const difference = c.node("Sub", [of(a), of(b)]);
    const moved = c.node("Add", [difference, c.scalar(c.number("eps"))]);
    return length(c, moved, c.number("p"), [rank - 1], false);
  };
  let far = apart("anchor", "negative");
  if (c.is("swap")) far = c.node("Min", [far, apart("positive", "negative")]);
  const gap = c.node("Sub", [apart("anchor", "positive"), far]);
  return reduceLoss(
    c,
    c.node("Relu", [c.node("Add", [gap, c.scalar(c.number("margin"))])]),
    rank - 1,
  );
};

/** Loss functions. */
export const kLosses: Writers = {
  mseLoss: elementwise((c, input, target) => square(c, c.node("Sub", [input, target]))),
  l1Loss: elementwise(distance),
  smoothL1Loss: smoothL1,
  huberLoss: huber,
  binaryCrossEntropy,
  binaryCrossEntropyWithLogits: withLogits,
  crossEntropy,
  nllLoss: classLoss("NegativeLogLikelihoodLoss"),
  klDiv,
  marginRankingLoss: marginRanking,
  hingeEmbeddingLoss: hingeEmbedding,
  softMarginLoss: softMargin,
  cosineEmbeddingLoss: cosineEmbedding,
  poissonNllLoss: poisson,
  gaussianNllLoss: gaussian,
  multilabelSoftMarginLoss: multilabelSoftMargin,
  tripletMarginLoss: tripletMargin,
};
