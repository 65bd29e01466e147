// Deformable convolutions.

import * as eg from "edgegrad";
import { tensor, tensorOrNull, type Value } from "../../values/value.js";
import { range } from "../axes.js";
import { kConv } from "../convolutions.js";
import { int, type Ops, op, type ValuesOf } from "../op.js";
import { type Windows, windowsOn } from "../windows.js";

const kDeformConv = { ...kConv, offset_group: int(1) };

// Each kernel element samples the image, by interpolation, at its position plus an offset.
function deform(
  [input, kernel, offsets, bias, mask]: readonly Value[],
  given: ValuesOf<typeof kDeformConv>,
): eg.Tensor {
  const [x, weight, shifts] = [tensor(input), tensor(kernel), tensor(offsets)];
  const [n = 1, channels = 1, height = 1, width = 1] = x.shape;
  const [outputs = 1, perGroup = 1, ...sizes] = weight.shape;
  const windows = windowsOn([height, width], sizes, given);
  const [rows, columns] = shifts.shape.slice(2) as [number, number];
  const { group, offset_group: parts } = given;
  const count = sizes.reduce((a, b) => a * b, 1);
  const shape = [n, parts, count, 2, rows, columns];
  const places = shifts.reshape(shape).add(places2d(windows, rows, columns).to(x.device, x.dtype));
  const [y, z] = eg.unbind(places, 3) as [eg.Tensor, eg.Tensor];
  const scaled = (at: eg.Tensor, size: number) => at.mul(2 / size).add(1 / size - 1);
  const grid = eg.stack([scaled(z, width), scaled(y, height)], -1);
  const samples = eg.nn.functional
    .gridSample(
      x.reshape([n * parts, channels / parts, height, width]),
      grid.reshape([n * parts, count * rows, columns, 2]),
      { alignCorners: false },
    )
    .reshape([n, parts, channels / parts, count, rows, columns]);
  const factors = tensorOrNull(mask)?.reshape([n, parts, 1, count, rows, columns]);
  const values = (factors === undefined ? samples : samples.mul(factors)).reshape([
    n,
    group,
    perGroup * count,
    rows * columns,
  ]);
  const result = eg.matmul(weight.reshape([1, group, outputs / group, perGroup * count]), values);
  const image = result.reshape([n, outputs, rows, columns]);
  return bias === undefined ? image : image.add(tensor(bias).reshape([-1, 1, 1]));
}

// The positions of the kernel elements without offsets: [elements, 2, rows, columns].
function places2d(
  { kernel, strides, dilations, before }: Windows,
  rows: number,
  columns: number,
): eg.Tensor {
  const along = (axis: number, i: number, at: number) =>
    i * (strides[axis] as number) - (before[axis] as number) + at * (dilations[axis] as number);
  const [height = 1, width = 1] = kernel;
  const places = range(height).flatMap((a) =>
    range(width).map((b) => [
      range(rows).map((i) => range(columns).map(() => along(0, i, a))),
      range(rows).map(() => range(columns).map((j) => along(1, j, b))),
    ]),
  );
  return eg.tensor(places);
}

export const kDeformable: Ops = {
  DeformConv: op({ since: 19, attributes: kDeformConv, weights: [1, 3], run: deform }),
};
