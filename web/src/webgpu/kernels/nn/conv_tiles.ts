// Convolution over planes, and its two gradients, as a GPU likes them.
//
// Each is a product of matrices whose operands are gathered from the planes: the results of a group as rows,
// places (or taps) as columns, and what they sum over between them. A workgroup brings 16 steps of both into its
// memory, as products of matrices do.

import type { Access } from "../../shader";
import type { View } from "../../stream";
import type { Commands } from "../kernel";
import type { TiledProduct } from "../matrix/tiled_product";
import { dispatchTiles } from "../matrix/tiles";
import { type Convolution, type Gathered, sizesOf, type WeightGradient } from "./convolution";

function numbersOf({ groups, inChannels, outChannels, rows, columns }: Convolution) {
  const numbers: Record<string, number> = {
    in_channels: inChannels,
    out_channels: outChannels,
    groups,
  };
  for (const name of ["in", "kernel", "out", "stride", "padding", "dilation"] as const) {
    numbers[`${name}_rows`] = rows[name];
    numbers[`${name}_columns`] = columns[name];
  }
  return numbers;
}

// Places in memory, and what of x a result reads with a tap.
const kFunctions = `fn first_a(batch: u32) -> u32 { return batch; }
fn first_b(batch: u32) -> u32 { return batch; }
fn first_c(batch: u32) -> u32 { return batch; }
struct Place { is_inside: bool, at: u32 }
fn weight_at(out_channel: u32, in_channel: u32, tap: u32) -> u32 {
  return (out_channel * u.in_channels + in_channel) * (u.kernel_rows * u.kernel_columns) + tap;
}
fn x_place(plane: u32, out_place: u32, tap: u32) -> Place {
  let row = i32(out_place / u.out_columns * u.stride_rows + tap / u.kernel_columns * u.dilation_rows) - i32(u.padding_rows);
  let column = i32(out_place % u.out_columns * u.stride_columns + tap % u.kernel_columns * u.dilation_columns) - i32(u.padding_columns);
  let is_inside = row >= 0 && column >= 0 && row < i32(u.in_rows) && column < i32(u.in_columns);
  return Place(is_inside, (plane * u.in_rows + u32(row)) * u.in_columns + u32(column));
}
// The result that reads an element of x with a tap.
fn y_place(plane: u32, in_place: u32, tap: u32) -> Place {
  let row = i32(in_place / u.in_columns + u.padding_rows) - i32(tap / u.kernel_columns * u.dilation_rows);
  let column = i32(in_place % u.in_columns + u.padding_columns) - i32(tap % u.kernel_columns * u.dilation_columns);
  let y_row = u32(row) / u.stride_rows;
  let y_column = u32(column) / u.stride_columns;
  let is_step = row >= 0 && column >= 0 && u32(row) % u.stride_rows == 0u && u32(column) % u.stride_columns == 0u;
  return Place(is_step && y_row < u.out_rows && y_column < u.out_columns, (plane * u.out_rows + y_row) * u.out_columns + y_column);
}
`;

type ConvProduct = Pick<TiledProduct, "key" | "memory" | "m" | "n" | "k" | "count"> & {
  readonly conv: Convolution;
  readonly isBRowMajor: boolean;
  /** a_at(batch, row, k), b_at(batch, k, column) and finish(batch, row, column, sum). */
  readonly functions: string;
};

function dispatchConv(commands: Commands, { conv, functions, ...product }: ConvProduct): void {
  dispatchTiles(commands, {
    ...product,
    numbers: { u32: numbersOf(conv) },
    type: "f32",
    isARowMajor: true,
    functions: () => kFunctions + functions,
  });
}

function accesses(reads: Record<string, View | undefined>, write: View): Access[] {
  const there = Object.entries(reads).flatMap(([name, view]) =>
    view === undefined ? [] : [{ name, view, mode: "read" } as const],
  );
  return [...there, { name: "result", view: write, mode: "write" }];
}

export function convolveTiles(commands: Commands, call: Gathered): void {
  const { conv, from, weight, bias, to } = call;
  const { batch, groups, inChannels, outChannels } = conv;
  const { outPlaces, taps } = sizesOf(conv);
  dispatchConv(commands, {
    key: `convolve ${!!bias}`,
    conv,
    memory: accesses({ x: from, weight, bias }, to),
    m: outChannels,
    n: outPlaces,
    k: inChannels * taps,
    count: batch * groups,
    isBRowMajor: true,
    functions: `fn a_at(batch: u32, row: u32, k: u32) -> f32 {
  return load_weight((batch % u.groups * u.m + row) * u.k + k);
}
fn b_at(batch: u32, k: u32, column: u32) -> f32 {
  let taps = u.kernel_rows * u.kernel_columns;
  let place = x_place(batch * u.in_channels + k / taps, column, k % taps);
  if (!place.is_inside) {
    return 0f;
  }
  return load_x(place.at);
}
fn finish(batch: u32, row: u32, column: u32, sum: f32) {
  let channel = batch * u.m + row;
  store_result(channel * u.n + column, sum${bias ? " + load_bias(channel % (u.groups * u.m))" : ""});
}`,
  });
}

export function convolveTilesBackward(commands: Commands, call: Gathered): void {
  const { conv, from, weight, bias, to } = call;
  const { batch, groups, inChannels, outChannels } = conv;
  const { inPlaces, taps } = sizesOf(conv);
  dispatchConv(commands, {
    key: `convolve_backward_input ${!!bias}`,
    conv,
    memory: accesses({ g: from, weight, bias }, to),
    m: inChannels,
    n: inPlaces,
    k: outChannels * taps,
    count: batch * groups,
    isBRowMajor: true,
    functions: `fn a_at(batch: u32, row: u32, k: u32) -> f32 {
  let taps = u.kernel_rows * u.kernel_columns;
  return load_weight(weight_at(batch % u.groups * u.out_channels + k / taps, row, k % taps));
}
fn b_at(batch: u32, k: u32, column: u32) -> f32 {
  let taps = u.kernel_rows * u.kernel_columns;
  let place = y_place(batch * u.out_channels + k / taps, column, k % taps);
  if (!place.is_inside) {
    return 0f;
  }
  return load_g(place.at);
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
  const { outPlaces, taps } = sizesOf(conv);
  dispatchConv(commands, {
    key: "convolve_backward_weight",
    conv,
    memory: accesses({ g, x }, to),
    m: outChannels,
    n: inChannels * taps,
    k: batch * outPlaces,
    count: groups,
    isBRowMajor: false,
    functions: `fn a_at(group: u32, row: u32, k: u32) -> f32 {
  let places = u.out_rows * u.out_columns;
  return load_g(((k / places * u.groups + group) * u.m + row) * places + k % places);
}
fn b_at(group: u32, k: u32, column: u32) -> f32 {
  let places = u.out_rows * u.out_columns;
  let taps = u.kernel_rows * u.kernel_columns;
  let plane = (k / places * u.groups + group) * u.in_channels + column / taps;
  let place = x_place(plane, k % places, column % taps);
  if (!place.is_inside) {
    return 0f;
  }
  return load_x(place.at);
}
fn finish(group: u32, row: u32, column: u32, sum: f32) {
  store_result((group * u.m + row) * u.n + column, sum);
}`,
  });
}
