// Reductions over axes.

import * as eg from "edgegrad";
import { Host } from "../values/host.js";
import { isInteger } from "../values/types.js";
import { ints, number, tensor } from "../values/value.js";
import { axesOf, axisOf } from "./axes.js";
import { flag, int, maybeInt, maybeInts, type Op, type Ops, op } from "./op.js";

type Reduce = (x: eg.Tensor, dims: number[], keepdim: boolean) => eg.Tensor;

// The axes are an attribute in older versions and an input in newer ones.
function reduction(
  reduce: Reduce,
  host?: (values: readonly number[]) => number,
  ofNothing?: number,
): Op {
  return op({
    attributes: { axes: maybeInts, keepdims: flag(true), noop_with_empty_axes: flag(false) },
    settings: [1],
    run: ([input, axes], attributes) => {
      const x = tensor(input);
      const given = ints(axes) ?? attributes.axes;
      const isEmpty = given === undefined || given.length === 0;
      if (isEmpty && attributes.noop_with_empty_axes) return x;
      const dims = axesOf(isEmpty ? undefined : given, x.ndim);
      const keepdim = attributes.keepdims;
      if (ofNothing !== undefined && dims.some((dim) => x.shape[dim] === 0)) {
        return reduceEmpty(x, dims, keepdim, ofNothing);
      }
      return x.ndim === 0 ? reduce(x.reshape([1]), [0], false) : reduce(x, dims, keepdim);
    },
    host: ([x, axes], attributes) => {
      const given = axes?.data ?? attributes.axes;
      const isWhole =
        x?.shape.length === 1 &&
        (given === undefined || given.every((direction) => direction === 0 || direction === -1));
      if (!isWhole || host === undefined || x.data.length === 0 || given?.length === 0)
        return undefined;
      return new Host(x.type, attributes.keepdims ? [1] : [], [host(x.data)]);
    },
  });
}

function reduceEmpty(x: eg.Tensor, dims: number[], keepdim: boolean, value: number): eg.Tensor {
  const shape = x.shape.flatMap((size, i) => (dims.includes(i) ? (keepdim ? [1] : []) : [size]));
  const limits = isInteger(x.dtype as never) ? eg.iinfo(x.dtype as "int32") : null;
  const fitting = limits === null ? value : value < 0 ? Number(limits.min) : Number(limits.max);
  return eg.full(shape, fitting, { dtype: x.dtype, device: x.device });
}

const sum: Reduce = (x, dims, keepdim) => eg.sum(x, dims, { keepdim, dtype: x.dtype });

const mean: Reduce = (x, dims, keepdim) =>
  isInteger(x.dtype as never)
    ? eg.mean(x.to("float64"), dims, { keepdim }).to(x.dtype)
    : eg.mean(x, dims, { keepdim });

// One axis at a time, from the last, so that the indices of the others do not shift.
const product: Reduce = (x, dims, keepdim) =>
  [...dims]
    .sort((a, b) => b - a)
    .reduce((all, dim) => eg.prod(all, dim, { keepdim, dtype: x.dtype }), x);

const floating = (x: eg.Tensor) => (isInteger(x.dtype as never) ? x.to("float64") : x);

const argument = (best: typeof eg.argmax) =>
  op({
    attributes: { axis: int(0), keepdims: flag(true), select_last_index: flag(false) },
    ownTypes: true,
    run: ([input], { axis, keepdims, select_last_index }) => {
      const x = tensor(input);
      const dim = axisOf(axis, x.ndim);
      const options = { keepdim: keepdims };
      if (!select_last_index) return best(x, dim, options);
      const fromEnd = best(eg.flip(x, [dim]), dim, options);
      return eg.sub((x.shape[dim] as number) - 1, fromEnd);
    },
  });

export const kReductions: Ops = {
  ReduceL1: reduction((x, dims, keepdim) => sum(eg.abs(x), dims, keepdim)),
  ReduceL2: reduction((x, dims, keepdim) => eg.norm(floating(x), 2, dims, { keepdim }).to(x.dtype)),
  ReduceLogSum: reduction((x, dims, keepdim) => eg.log(sum(x, dims, keepdim))),
  ReduceLogSumExp: reduction((x, dims, keepdim) =>
    eg.logsumexp(floating(x), dims, { keepdim }).to(x.dtype),
  ),
  ReduceMax: reduction(
    (x, dims, keepdim) => eg.amax(x, dims, { keepdim }),
    (all) => Math.max(...all),
    -Infinity,
  ),
  ReduceMean: reduction(mean),
  ReduceMin: reduction(
    (x, dims, keepdim) => eg.amin(x, dims, { keepdim }),
    (all) => Math.min(...all),
    Infinity,
  ),
  ReduceProd: reduction(product, (all) => all.reduce((a, b) => a * b)),
  ReduceSum: reduction(sum, (all) => all.reduce((a, b) => a + b)),
  ReduceSumSquare: reduction((x, dims, keepdim) => sum(eg.square(x), dims, keepdim)),
  ArgMax: argument(eg.argmax),
  ArgMin: argument(eg.argmin),
  TopK: op({
    attributes: { axis: int(-1), k: maybeInt, largest: flag(true), sorted: flag(true) },
    settings: [1],
    ownTypes: true,
    run: ([input, count], { axis, k, largest }) => {
      const x = tensor(input);
      const many = number(count) ?? k ?? 1;
      // ONNX prefers the first of equal elements; topk() does not guarantee that.
      const [values, indices] = eg.sort(x, axis, { descending: largest, stable: true });
      return [eg.narrow(values, axis, 0, many), eg.narrow(indices, axis, 0, many)];
    },
  }),
};
