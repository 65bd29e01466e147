// Activation functions.

import { type Call, lifted, type Writer, type Writers } from "../call.js";
import type { Name } from "../graph.js";
import { composed, isFloat, unary } from "./elementwise.js";

const float = (c: Call, name: string) => ({ float: c.number(name) });

function softplus(c: Call, x: Name, beta: number, threshold: number): Name {
  if (beta === 1) return c.node("Softplus", [x]);
  const scaled = c.node("Mul", [x, c.scalar(beta)]);
  const soft = c.node("Div", [c.node("Softplus", [scaled]), c.scalar(beta)]);
  return c.node("Where", [c.node("Greater", [scaled, c.scalar(threshold)]), x, soft]);
}

const gelu: Writer = (c) => {
  const x = c.operand("input", c.out.dtype);
  const isTanh = c.is("approximate", "tanh");
  if (c.opset >= 20) return c.node("Gelu", [x], { approximate: isTanh ? "tanh" : "none" });
  const half = c.node("Mul", [x, c.scalar(0.5)]);
  const one = c.scalar(1);
  if (!isTanh) {
    const erf = c.node("Erf", [c.node("Mul", [x, c.scalar(Math.SQRT1_2)])]);
    return c.node("Mul", [half, c.node("Add", [erf, one])]);
  }
  const cube = c.node("Mul", [c.node("Mul", [c.node("Mul", [x, x]), x]), c.scalar(0.044715)]);
  const inner = c.node("Mul", [c.node("Add", [x, cube]), c.scalar(Math.sqrt(2 / Math.PI))]);
  return c.node("Mul", [half, c.node("Add", [c.node("Tanh", [inner]), one])]);
};

const mish: Writer = composed((c, x) =>
  c.opset >= 18
    ? c.node("Mish", [x])
    : c.node("Mul", [x, c.node("Tanh", [c.node("Softplus", [x])])]),
);

const hardsigmoid = (c: Call, x: Name) =>
  c.node("HardSigmoid", [x], { alpha: { float: 1 / 6 }, beta: { float: 0.5 } });

const between = (c: Call, x: Name, min: number, max: number) =>
  c.node("Clip", [x, c.scalar(min), c.scalar(max)]);

function softmax(type: string, sign: number): Writer {
  return lifted((c) => {
    const x = c.in("input", c.out.dtype);
    return c.node(type, [sign < 0 ? c.node("Neg", [x]) : x], { axis: c.dim("dim") });
  });
}

const prelu: Writer = (c) => {
  const [input, weight] = [c.value("input"), c.value("weight")];
  let slope = c.as(weight, c.out.dtype);
  // One slope for each channel, which is dimension 1.
  if (weight.rank === 1 && weight.shape[0] !== 1 && input.rank > 2) {
    slope = c.unsqueeze(
      slope,
      Array.from({ length: input.rank - 2 }, (_, i) => i + 1),
    );
  }
  return c.node("PRelu", [c.in("input"), slope]);
};

const threshold: Writer = composed((c, x) => {
  const isAbove = c.node("Greater", [x, c.scalar(c.number("threshold"))]);
  return c.node("Where", [isAbove, x, c.scalar(c.number("value"))]);
});

const glu: Writer = (c) => {
  const input = c.value("input");
  const axis = c.dim("dim");
  const half = (input.shape[axis] ?? 0) / 2;
  const parts = c.graph.outputs("Split", [c.in("input"), c.list([half, half])], { axis }, 2);
  const [value, gate] = parts as [Name, Name];
  return c.node("Mul", [value, c.node("Sigmoid", [gate])]);
};

/** Activation functions. */
export const kActivations: Writers = {
  relu: composed((c, x) =>
    isFloat(c.out.dtype) ? c.node("Relu", [x]) : c.node("Max", [x, c.scalar(0)]),
  ),
  relu6: composed((c, x) => between(c, x, 0, 6)),
  leakyRelu: composed((c, x) => c.node("LeakyRelu", [x], { alpha: float(c, "negativeSlope") })),
  elu: composed((c, x) => c.node("Elu", [x], { alpha: float(c, "alpha") })),
  selu: unary("Selu"),
  celu: composed((c, x) => c.node("Celu", [x], { alpha: float(c, "alpha") })),
  sigmoid: unary("Sigmoid"),
  logsigmoid: composed((c, x) => c.node("Neg", [c.node("Softplus", [c.node("Neg", [x])])])),
  silu: composed((c, x) => c.node("Mul", [x, c.node("Sigmoid", [x])])),
  mish,
  gelu,
  softplus: composed((c, x) => softplus(c, x, c.number("beta"), c.number("threshold"))),
  softsign: unary("Softsign"),
  tanhshrink: composed((c, x) => c.node("Sub", [x, c.node("Tanh", [x])])),
  softshrink: composed((c, x) =>
    c.node("Shrink", [x], { lambd: float(c, "lambd"), bias: float(c, "lambd") }),
  ),
  hardshrink: composed((c, x) =>
    c.node("Shrink", [x], { lambd: float(c, "lambd"), bias: { float: 0 } }),
  ),
  hardtanh: composed((c, x) => between(c, x, c.number("minVal"), c.number("maxVal"))),
  hardsigmoid: composed(hardsigmoid),
  hardswish: unary("HardSwish"),
  softmax: softmax("Softmax", 1),
  logSoftmax: softmax("LogSoftmax", 1),
  softmin: softmax("Softmax", -1),
  prelu,
  threshold,
  glu,
};
