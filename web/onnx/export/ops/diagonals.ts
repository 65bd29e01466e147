// Diagonals and triangles of matrices.

import type { Call, Writer, Writers } from "../call.js";
import { noForm } from "../exporter.js";
import type { Name } from "../graph.js";
import type { Size } from "../values.js";

function triangle(upper: number): Writer {
  return (c) => {
    const { dtype } = c.out;
    const isByte = dtype === "bool" || dtype === "uint8";
    const input = c.in("input", isByte ? "int32" : dtype);
    const result = c.node("Trilu", [input, diagonalOf(c)], { upper });
    return isByte ? c.graph.cast(result, dtype) : result;
  };
}

function diagonalOf(c: Call): Name {
  return c.node("Squeeze", [c.exporter.size(c.arg("diagonal") as Size)]);
}

// Picks the elements of a diagonal by their positions in the flattened matrix.
const diagonal: Writer = (c) => {
  const { rank, shape } = c.value("input");
  const [a, b] = [c.dim("dim1", rank), c.dim("dim2", rank)];
  return onDiagonal(c, a, b, c.number("offset"), shape);
};

function onDiagonal(c: Call, a: number, b: number, offset: number, shape: readonly number[]): Name {
  const input = c.value("input");
  const rest = Array.from(shape, (_, i) => i).filter((axis) => axis !== a && axis !== b);
  const rows = c.fixedNumber("the size of a diagonal", input.size(a));
  const columns = c.fixedNumber("the size of a diagonal", input.size(b));
  const count = Math.max(0, Math.min(rows + Math.min(offset, 0), columns - Math.max(offset, 0)));
  const start = offset >= 0 ? offset : -offset * columns;
  const turned = c.transpose(c.in("input"), [...rest, a, b]);
  const outer = rest.map((axis) => input.size(axis));
  const flat = c.exporter.reshape(turned, [...outer, rows, columns], [...outer, rows * columns]);
  const places = c.list(Array.from({ length: count }, (_, i) => start + i * (columns + 1)));
  return c.node("Gather", [flat, places], { axis: rest.length });
}

const diag: Writer = (c) => {
  const { rank, shape } = c.value("input");
  if (rank === 2) return onDiagonal(c, 0, 1, c.number("diagonal"), shape);
  const offset = c.number("diagonal");
  const size = c.fixedNumber("the size of a diagonal", c.value("input").size(0));
  const whole = size + Math.abs(offset);
  const row = c.unsqueeze(c.in("input"), [offset >= 0 ? 1 : 0]);
  const square = c.node("Expand", [row, c.list([size, size])]);
  const identity = c.graph.constant(
    Array.from({ length: size * size }, (_, i) => (i % (size + 1) === 0 ? 1 : 0)),
    "bool",
  );
  const mask = c.node("Reshape", [identity, c.list([size, size])]);
  const placed = c.node("Where", [mask, square, c.scalar(0)]);
  const before = offset >= 0 ? [0, offset] : [-offset, 0];
  const after = [whole - size - (before[0] ?? 0), whole - size - (before[1] ?? 0)];
  return c.node("Pad", [placed, c.list([...before, ...after])]);
};

const trace: Writer = (c) => {
  const { shape } = c.value("input");
  const elements = onDiagonal(c, 0, 1, 0, shape);
  return c.reduce("ReduceSum", c.graph.cast(elements, c.out.dtype), [0], false);
};

// Writes a value to the diagonal of a matrix.
const fillDiagonal: Writer = (c) => {
  if (c.value("input").rank !== 2 || c.is("wrap"))
    noForm("other tensors than matrices, or wrap: true");
  const zeros = c.node("Expand", [c.scalar(0, "int32"), c.exporter.shape(c.out.sizes())]);
  const mask = c.graph.cast(c.node("EyeLike", [zeros]), "bool");
  return c.node("Where", [mask, c.operand("fillValue", c.out.dtype), c.in("input")]);
};

/** Diagonals and triangles of matrices. */
export const kDiagonals: Writers = {
  tril: triangle(0),
  triu: triangle(1),
  diagonal,
  diag,
  trace,
  fillDiagonal_: fillDiagonal,
};
