// Counts of points in a grid of any number of dimensions.

import { toDtype } from "../generated/internal.js";
import { add, diff, div, flatten, mul, ones, reshape, select, sum } from "../generated/ops.js";
import { fail } from "../runtime/errors/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { binsOf, counted, edgesOf } from "./histograms.js";
import { sizeOf } from "./shapes.js";

type Bins = number | readonly number[] | readonly Tensor[];

/**
 * The number of points in each cell of a grid, and its edges, a tensor for each dimension. The last dimension of `input` has the
 * coordinates of a point. `bins` is the number of bins in each dimension, or an array with one for each, or with their edges; `range` has
 * the ends of each dimension, one after the other. `weight` has a weight per point; with `density` the total volume is 1.
 */
export const histogramdd = /* @__PURE__ */ composite(
  "histogramdd",
  "input:tensor bins:any range:numbers?=null weight:tensor?=null density:bool=false",
  (input, bins: Bins, range, weight, density): [hist: Tensor, ...binEdges: Tensor[]] => {
    const dims = checkPoints(input, bins, range, weight);
    const points = reshape(input.detach(), [-1, dims]);
    const axes = Array.from({ length: dims }, (_, d) => {
      const values = select(points, 1, d);
      const ends = range?.slice(2 * d, 2 * d + 2) ?? null;
      return {
        values,
        edges: edgesOf("histogramdd", values, Array.isArray(bins) ? bins[d] : bins, ends),
      };
    });
    const sizes = axes.map(({ edges }) => sizeOf(edges, 0) - 1);
    const cells = sizes.reduce((product, size) => product * size, 1);

    let place = toDtype(mul(select(points, 1, 0), 0), "int64");
    let weights =
      weight === null
        ? ones([points.shape[0] ?? 0], { dtype: input.dtype, device: input.device })
        : flatten(weight.detach());
    for (const [d, { values, edges }] of axes.entries()) {
      const size = sizes[d] as number;
      const { isInside, bin } = binsOf(values, edges);
      weights = mul(weights, isInside);
      place = add(mul(place, size), bin);
    }
    const hist = reshape(counted(place, cells, weights), sizes);
    const all = axes.map(({ edges }) => edges);
    return [density ? densityOf(hist, all) : hist, ...all];
  },
);

// Returns the number of dimensions of a point.
function checkPoints(
  input: Tensor,
  bins: Bins,
  range: readonly number[] | null,
  weight: Tensor | null,
): number {
  const dims = input.shape.at(-1) ?? 0;
  const refuse = (reason: string) => fail("ShapeMismatch", "histogramdd", reason);
  if (input.ndim < 2 || dims === 0)
    refuse(`input: expected points [..., dimensions], got the shape [${input.shape}].`);
  if (Array.isArray(bins) && bins.length !== dims)
    refuse(`bins: expected one for each of ${dims} dimensions, got ${bins.length}.`);
  if (range !== null && range.length !== 2 * dims)
    refuse(`range: expected two numbers for each of ${dims} dimensions, got ${range.length}.`);
  const shape = input.shape.slice(0, -1);
  if (weight !== null && String(weight.shape) !== String(shape))
    refuse(`weight: expected the shape of the points, [${shape}], got [${weight.shape}].`);
  if (weight !== null && weight.dtype !== input.dtype)
    fail(
      "DtypeMismatch",
      "histogramdd",
      `weight: expected the dtype of input, ${input.dtype}, got ${weight.dtype}.`,
    );
  return dims;
}

function densityOf(hist: Tensor, edges: readonly Tensor[]): Tensor {
  const ndim = edges.length;
  return edges.reduce(
    (density, edge, d) => {
      const shape = Array.from({ length: ndim }, (_, k) => (k === d ? -1 : 1));
      return div(density, reshape(diff(edge), shape));
    },
    div(hist, sum(hist)),
  );
}
