// Convolution over planes, and its two gradients, for GPUs.
//
// Each of them is a matrix product whose operands are gathered from the planes (implicit im2col): the rows of the result
// are the channels of a group, its columns are positions (or, for the weight, input channels and taps). Operands are in no order
// that could be read in vec4s, so that a step is found once for four neighboring lines. Groups of one channel (depthwise
// convolutions) have no tiles: an invocation computes a position, or lanes share the sum of an element of the weight.

import type { Access } from "../../shader";
import type { View } from "../../stream";
import type { Commands } from "../kernel";
import { isForLanes, multiplyInLanes } from "../matrix/lanes_product";
import { halvesOf, operandType, readOperand, type TiledProduct } from "../matrix/tiled_product";
import { dispatchTiles } from "../matrix/tiles";
import { type Convolution, type Gathered, sizesOf, type WeightGradient } from "./convolution";

function uniformsOf({ groups, inChannels, outChannels, rows, columns }: Convolution) {
  const uniforms: Record<string, number> = {
    in_channels: inChannels,
    out_channels: outChannels,
    groups,
  };
  for (const name of ["in", "kernel", "out", "stride", "padding", "dilation"] as const) {
    uniforms[`${name}_rows`] = rows[name];
    uniforms[`${name}_columns`] = columns[name];
  }
  return uniforms;
}

const kFirst = `fn first_a(batch: u32) -> u32 { return batch; }
fn first_b(batch: u32) -> u32 { return batch; }
fn first_c(batch: u32) -> u32 { return batch; }
`;

// The location of an element of the planes: its plane, row and column; row and column may be outside.
const kPlace = `struct Place { plane: u32, row: i32, column: i32 }
fn kernel_taps() -> u32 { return u.kernel_rows * u.kernel_columns; }
fn tap_place(plane: u32, tap: u32) -> Place {
  return Place(plane, i32(tap / u.kernel_columns * u.dilation_rows), i32(tap % u.kernel_columns * u.dilation_columns));
}
`;

// The element of x that a position reads with a tap.
const kReadX = `fn x_value(a: Place, b: Place) -> FactorB {
  let row = u32(a.row + b.row);
  let column = u32(a.column + b.column);
  if (row >= u.in_rows || column >= u.in_columns) {
    return FactorB();
  }
  return load_x(((a.plane + b.plane) * u.in_rows + row) * u.in_columns + column);
}
`;

type ConvProduct = Pick<TiledProduct, "key" | "m" | "n" | "k" | "count"> & {
  readonly conv: Convolution;
  readonly a: Access;
  readonly b: Access;
  readonly bias?: View | undefined;
  readonly result: View;
  readonly isBRowMajor: boolean;
  /** The WGSL of a_line, a_step, a_value, b_line, b_step, b_value and finish (see TiledProduct); the values are FactorA and FactorB. */
  readonly functions: string;
};

function dispatchConv(commands: Commands, call: ConvProduct): void {
  const { conv, a, b, bias, result, functions, ...product } = call;
  const { m, n, k } = product;
  const tiled: TiledProduct = {
    ...product,
    memory: [
      ...[a, b],
      ...(bias ? [{ name: "bias", view: bias, mode: "read" } as const] : []),
      { name: "result", view: result, mode: "write" },
    ],
    uniforms: { u32: { ...uniformsOf(conv), m, n, k } },
    type: "f32",
    halves: halvesOf(a, b),
    isARowMajor: true,
    functions: () =>
      `alias FactorA = ${operandType(tiled, "a")};
alias FactorB = ${operandType(tiled, "b")};
${kFirst}${kPlace}${functions}`,
  };
  if (isForLanes(tiled)) multiplyInLanes(commands, tiled);
  else dispatchTiles(commands, tiled);
}

export function convolveTiles(commands: Commands, call: Gathered): void {
  const { conv, from, weight, bias, to } = call;
  const { batch, groups, inChannels, outChannels } = conv;
  const { outPositions, taps } = sizesOf(conv);
  dispatchConv(commands, {
    key: `convolve ${!!bias}`,
    conv,
    a: readOperand(commands, "weight", weight),
    b: readOperand(commands, "x", from),
    bias,
    result: to,
    m: outChannels,
    n: outPositions,
    k: inChannels * taps,
    count: batch * groups,
    isBRowMajor: true,
    functions: `${kReadX}fn a_line(batch: u32, row: u32) -> u32 { return (batch % u.groups * u.m + row) * u.k; }
fn a_step(batch: u32, k: u32) -> u32 { return k; }
fn a_value(line: u32, step: u32) -> FactorA { return load_weight(line + step); }
fn b_line(batch: u32, column: u32) -> Place {
  let row = i32(column / u.out_columns * u.stride_rows) - i32(u.padding_rows);
  return Place(batch * u.in_channels, row, i32(column % u.out_columns * u.stride_columns) - i32(u.padding_columns));
}
fn b_step(batch: u32, k: u32) -> Place { return tap_place(k / kernel_taps(), k % kernel_taps()); }
fn b_value(line: Place, step: Place) -> FactorB { return x_value(line, step); }
fn finish(batch: u32, row: u32, column: u32, sum: f32) {
  let channel = batch * u.m + row;
  store_result(channel * u.n + column, sum${bias ? " + load_bias(channel % (u.groups * u.m))" : ""});
}`,
  });
}

export function convolveTilesBackward(commands: Commands, call: Gathered): void {
  const { conv, from, weight, bias, to } = call;
  const { batch, groups, inChannels, outChannels } = conv;
  const { inPositions, taps } = sizesOf(conv);
  dispatchConv(commands, {
    key: `convolve_backward_input ${!!bias}`,
    conv,
    a: readOperand(commands, "weight", weight),
    b: readOperand(commands, "g", from),
    bias,
    result: to,
    m: inChannels,
    n: inPositions,
    k: outChannels * taps,
    count: batch * groups,
    isBRowMajor: true,
    functions: `fn a_line(batch: u32, row: u32) -> u32 {
  return (batch % u.groups * u.out_channels * u.in_channels + row) * kernel_taps();
}
fn a_step(batch: u32, k: u32) -> u32 {
  return k / kernel_taps() * (u.in_channels * kernel_taps()) + k % kernel_taps();
}
fn a_value(line: u32, step: u32) -> FactorA { return load_weight(line + step); }
fn b_line(batch: u32, column: u32) -> Place {
  let row = i32(column / u.in_columns + u.padding_rows);
  return Place(batch * u.out_channels, row, i32(column % u.in_columns + u.padding_columns));
}
fn b_step(batch: u32, k: u32) -> Place { return tap_place(k / kernel_taps(), k % kernel_taps()); }
// The gradient of the result that reads an element of x with a tap.
fn b_value(line: Place, step: Place) -> FactorB {
  let row = line.row - step.row;
  let column = line.column - step.column;
  let y_row = u32(row) / u.stride_rows;
  let y_column = u32(column) / u.stride_columns;
  if (row < 0 || column < 0 || y_row * u.stride_rows != u32(row) || y_column * u.stride_columns != u32(column) || y_row >= u.out_rows || y_column >= u.out_columns) {
    return FactorB();
  }
  return load_g(((line.plane + step.plane) * u.out_rows + y_row) * u.out_columns + y_column);
}
fn finish(batch: u32, row: u32, column: u32, sum: f32) {
  let channel = batch * u.m + row;
  store_result(channel * u.n + column, sum${bias ? " + load_bias(channel % (u.groups * u.m))" : ""});
}`,
  });
}

export function weightGradientTiles(commands: Commands, call: WeightGradient): void {
  const { conv, g, x, to } = call;
  const { batch, groups, inChannels, outChannels } = conv;
  const { outPositions, taps } = sizesOf(conv);
  dispatchConv(commands, {
    key: "convolve_backward_weight",
    conv,
    a: readOperand(commands, "g", g),
    b: readOperand(commands, "x", x),
    result: to,
    m: outChannels,
    n: inChannels * taps,
    k: batch * outPositions,
    count: groups,
    isBRowMajor: false,
    functions: `${kReadX}fn out_places() -> u32 { return u.out_rows * u.out_columns; }
fn a_line(group: u32, row: u32) -> u32 { return (group * u.m + row) * out_places(); }
fn a_step(group: u32, k: u32) -> u32 {
  return k / out_places() * (u.groups * u.m * out_places()) + k % out_places();
}
fn a_value(line: u32, step: u32) -> FactorA { return load_g(line + step); }
fn b_line(group: u32, column: u32) -> Place {
  return tap_place(group * u.in_channels + column / kernel_taps(), column % kernel_taps());
}
fn b_step(group: u32, k: u32) -> Place {
  let place = k % out_places();
  let row = i32(place / u.out_columns * u.stride_rows) - i32(u.padding_rows);
  let column = i32(place % u.out_columns * u.stride_columns) - i32(u.padding_columns);
  return Place(k / out_places() * u.groups * u.in_channels, row, column);
}
fn b_value(line: Place, step: Place) -> FactorB { return x_value(line, step); }
fn finish(group: u32, row: u32, column: u32, sum: f32) {
  store_result((group * u.m + row) * u.n + column, sum);
}`,
  });
}
