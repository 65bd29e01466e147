// Tensors as sets: distinct values, their counts, and membership. Slices, and elements on a device other than the CPU, are
// sorted here; elements on the CPU have a kernel.

import type { Operand } from "../dispatch/types.js";
import { distinctElements } from "../generated/internal.js";
import {
  any,
  arange,
  argsort,
  cat,
  clamp,
  contiguous,
  cumsum,
  diff,
  eq,
  flatten,
  ge,
  indexCopy,
  indexSelect,
  lt,
  movedim,
  narrow,
  ne,
  nonzero,
  ones,
  onesLike,
  reshape,
  searchsorted,
  select,
  sort,
  sub,
  take,
  zerosLike,
} from "../generated/ops.js";
import { differsBySample } from "../ops/samples.js";
import { isComplex } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { composite } from "./composite.js";
import { asTensors, positionsLike } from "./constants.js";
import { axisOf, sizeOf } from "./shapes.js";

type Several<Options> = Options & ({ returnInverse: true } | { returnCounts: true });

interface ConsecutiveOptions {
  returnInverse?: boolean;
  returnCounts?: boolean;
  dim?: number | null;
}

interface UniqueOptions extends ConsecutiveOptions {
  sorted?: boolean;
}

interface Unique {
  (input: Tensor, options: Several<UniqueOptions>): Tensor[];
  (
    input: Tensor,
    sorted: boolean,
    returnInverse: true,
    returnCounts?: boolean,
    dim?: number | null,
  ): Tensor[];
  (
    input: Tensor,
    sorted: boolean,
    returnInverse: false,
    returnCounts: true,
    dim?: number | null,
  ): Tensor[];
  (
    input: Tensor,
    sorted?: boolean,
    returnInverse?: false,
    returnCounts?: false,
    dim?: number | null,
  ): Tensor;
  (input: Tensor, options: UniqueOptions): Tensor;
}

/**
 * The distinct values of a tensor in ascending order, or with `dim` its distinct slices. With `returnInverse` and
 * `returnCounts` it returns a list that also has the index of each element among them, and the number of each.
 */
export const unique = /* @__PURE__ */ composite<Unique>(
  "unique",
  "input:tensor sorted:bool=true returnInverse:bool=false returnCounts:bool=false dim:int?=null",
  // Without `sorted` PyTorch may return any order, so the sorted one is valid.
  (
    input: Tensor,
    _sorted: boolean,
    returnInverse: boolean,
    returnCounts: boolean,
    dim: number | null,
  ) => {
    const slices = slicesOf("unique", input, dim);
    return chosen(slices, false, returnInverse, returnCounts);
  },
);

interface UniqueConsecutive {
  (input: Tensor, options: Several<ConsecutiveOptions>): Tensor[];
  (input: Tensor, returnInverse: true, returnCounts?: boolean, dim?: number | null): Tensor[];
  (input: Tensor, returnInverse: false, returnCounts: true, dim?: number | null): Tensor[];
  (input: Tensor, returnInverse?: false, returnCounts?: false, dim?: number | null): Tensor;
  (input: Tensor, options: ConsecutiveOptions): Tensor;
}

/** Like unique(), but only merges equal values that are adjacent, and keeps their order. */
export const uniqueConsecutive = /* @__PURE__ */ composite<UniqueConsecutive>(
  "uniqueConsecutive",
  "input:tensor returnInverse:bool=false returnCounts:bool=false dim:int?=null",
  (input: Tensor, returnInverse: boolean, returnCounts: boolean, dim: number | null) => {
    const slices = slicesOf("uniqueConsecutive", input, dim);
    return chosen(slices, true, returnInverse, returnCounts);
  },
);

interface Membership {
  assumeUnique?: boolean;
  invert?: boolean;
}

interface Isin {
  (elements: Operand, testElements: Operand, options?: Membership): Tensor;
  (elements: Operand, testElements: Operand, assumeUnique: boolean, invert?: boolean): Tensor;
}

/** Whether each element is in `testElements`; with `invert`, whether it is not. */
export const isin = /* @__PURE__ */ composite<Isin>(
  "isin",
  "elements:operand testElements:operand assumeUnique:bool=false invert:bool=false",
  (elements: Operand, testElements: Operand, _assumeUnique: boolean, invert: boolean) => {
    const [requested, tests] = asTensors(elements, testElements);
    if (differsBySample(requested) || differsBySample(tests)) {
      return foundIn(requested, flatten(tests), invert);
    }
    const values = cat([flatten(tests), flatten(requested)]);
    const { firsts, inverse } = distinct(reshape(values, [-1, 1]), false, true);
    // Among equal elements the first is a test element if any of them is.
    const first = indexSelect(firsts, 0, narrow(inverse, 0, tests.numel, requested.numel));
    return reshape((invert ? ge : lt)(first, tests.numel), requested.shape);
  },
);

// Slower than with the distinct values, whose number differs by sample inside vmap().
function foundIn(requested: Tensor, tests: Tensor, invert: boolean): Tensor {
  const last = tests.numel - 1;
  if (last < 0) return (invert ? onesLike : zerosLike)(requested, { dtype: "bool" });
  const [sorted] = sort(tests, 0);
  const nearest = take(sorted, clamp(searchsorted(sorted, requested), 0, last));
  return (invert ? ne : eq)(nearest, requested);
}

// The slices of a tensor along an axis that are compared, one per row.
interface Slices {
  readonly source: Tensor;
  readonly axis: number;
  readonly rows: Tensor;
  /** The shape of the inverse. */
  readonly shape: readonly number[];
}

function slicesOf(where: string, input: Tensor, dim: number | null): Slices {
  if (dim === null) {
    const source = flatten(input);
    return { source, axis: 0, rows: reshape(source, [source.numel, 1]), shape: input.shape };
  }
  const axis = axisOf(where, dim, input.ndim);
  const source = input.ndim === 0 ? flatten(input) : input;
  const count = sizeOf(source, axis);
  const width = source.shape.reduce(
    (product, size, d) => (d === axis ? product : product * size),
    1,
  );
  // A copy where expanded rows could be of any length, so that those that no memory holds are refused.
  const rows = contiguous(reshape(movedim(source, axis, 0), [count, width]));
  return { source, axis, rows, shape: [count] };
}

// The indices that sort the rows: stable sorts by the last column, then by those before it.
function ascending(rows: Tensor): Tensor {
  let order = inOrder(rows);
  // No rows can have more columns than a loop could ever visit.
  if (order.numel < 2) return order;
  for (let column = sizeOf(rows, 1) - 1; column >= 0; column--) {
    const keys = indexSelect(select(rows, 1, column), 0, order);
    order = indexSelect(order, 0, argsort(keys, 0, false, true));
  }
  return order;
}

function inOrder(rows: Tensor): Tensor {
  return arange(sizeOf(rows, 0), { dtype: "int64", device: rows.device });
}

// Runs of equal adjacent rows: the start of each run, and the run of each row.
function runsOf(rows: Tensor): { starts: Tensor; ranks: Tensor } {
  const count = sizeOf(rows, 0);
  const rest = Math.max(count - 1, 0);
  const first = ones([count - rest], { dtype: "bool", device: rows.device });
  const isOther = any(ne(narrow(rows, 0, count - rest, rest), narrow(rows, 0, 0, rest)), 1);
  const isStart = cat([first, isOther]);
  return { starts: flatten(nonzero(isStart)), ranks: sub(cumsum(isStart, 0), 1) };
}

/** For the distinct rows: the index of the first of each, the distinct row that each row equals (if requested), and their counts. */
interface Distinct {
  readonly firsts: Tensor;
  readonly inverse: Tensor;
  readonly counts: Tensor;
}

function distinct(rows: Tensor, isConsecutive: boolean, withInverse: boolean): Distinct {
  if (rows.device === "cpu" && rows.shape[1] === 1 && !isComplex(rows.dtype)) {
    const [firsts, inverse, counts] = distinctElements(rows, isConsecutive, withInverse);
    return { firsts, inverse, counts };
  }
  const order = isConsecutive ? inOrder(rows) : ascending(rows);
  const { starts, ranks } = runsOf(indexSelect(rows, 0, order));
  return {
    firsts: indexSelect(order, 0, starts),
    inverse: indexCopy(zerosLike(ranks), 0, order, ranks),
    counts: diff(starts, { append: positionsLike(rows, [sizeOf(rows, 0)]) }),
  };
}

function chosen(
  { source, axis, rows, shape }: Slices,
  isConsecutive: boolean,
  returnInverse: boolean,
  returnCounts: boolean,
): Tensor | Tensor[] {
  const { firsts, inverse, counts } = distinct(rows, isConsecutive, returnInverse);
  const values = indexSelect(source, axis, firsts);
  if (!returnInverse && !returnCounts) return values;
  return [
    values,
    ...(returnInverse ? [reshape(inverse, shape)] : []),
    ...(returnCounts ? [counts] : []),
  ];
}
