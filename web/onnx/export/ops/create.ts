// New tensors whose sizes depend on the inputs, and random ones. Others are constants of the file.

import type { Call, Writer, Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import type { Size } from "../values.js";

function fill(c: Call, value: Name): Name {
  return c.node("Expand", [value, c.exporter.shape(c.out.sizes())]);
}

const fullOf = (c: Call) => fill(c, c.operand("fillValue", c.out.dtype));

const arange: Writer = (c) => {
  const isFromZero = c.isLeftOut("end");
  const [start, end] = isFromZero ? [0, c.arg("start")] : [c.arg("start"), c.arg("end")];
  const bound = (value: unknown) => c.exporter.scalar(value as Size, c.out.dtype);
  return c.node("Range", [bound(start), bound(end), bound(c.arg("step"))]);
};

const linspace: Writer = (c) => {
  const steps = c.exporter.size(c.arg("steps") as Size);
  const count = c.squeeze(steps, [0]);
  const places = c.node("Range", [
    c.graph.constant(0, "int64"),
    count,
    c.graph.constant(1, "int64"),
  ]);
  const [start, end] = ["start", "end"].map((name) =>
    c.exporter.scalar(c.arg(name) as Size, c.out.dtype),
  );
  const last = c.node("Max", [
    c.node("Sub", [c.graph.cast(count, c.out.dtype), c.scalar(1)]),
    c.scalar(1),
  ]);
  const gap = c.node("Div", [c.node("Sub", [end as Name, start as Name]), last]);
  const offsets = c.node("Mul", [c.graph.cast(places, c.out.dtype), gap]);
  return c.node("Add", [start as Name, offsets]);
};

const eye: Writer = (c) => {
  const zeros = fill(c, c.scalar(0, c.out.dtype === "bool" ? "uint8" : c.out.dtype));
  const ones = c.node("EyeLike", [zeros]);
  return c.out.dtype === "bool" ? c.graph.cast(ones, "bool") : ones;
};

// Different numbers in every run.
function random(type: "Uniform" | "Normal"): Writer {
  return (c) => c.node(`Random${type}Like`, [fill(c, c.scalar(0))]);
}

const dropout: Writer = (c) => {
  if (!c.is("training") || c.number("p") === 0) return c.node("Identity", [c.in("input")]);
  const ratio = c.graph.constant(c.number("p"), "float32");
  return c.node("Dropout", [c.in("input"), ratio, c.graph.constant(1, "bool")]);
};

const rrelu: Writer = (c) => {
  if (c.is("training")) noForm("random slopes");
  const alpha = { float: (c.number("lower") + c.number("upper")) / 2 };
  return c.node("LeakyRelu", [c.in("input")], { alpha });
};

/** New tensors whose sizes depend on the inputs, and random ones. */
export const kCreate: Writers = {
  zeros: (c) => fill(c, c.scalar(0)),
  ones: (c) => fill(c, c.scalar(1)),
  empty: (c) => fill(c, c.scalar(0)),
  full: fullOf,
  zerosLike: (c) => fill(c, c.scalar(0)),
  onesLike: (c) => fill(c, c.scalar(1)),
  emptyLike: (c) => fill(c, c.scalar(0)),
  fullLike: fullOf,
  arange,
  linspace,
  eye,
  rand: random("Uniform"),
  randn: random("Normal"),
  randLike: random("Uniform"),
  randnLike: random("Normal"),
  bernoulli: (c) => c.node("Bernoulli", [c.in("input")]),
  bernoulli_: () => noForm("random numbers with a given probability"),
  dropout,
  rrelu,
};
