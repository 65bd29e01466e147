// Gaussian elimination with partial pivoting, and what is computed from its factors: solutions and determinants.

import type { Determinants, Lu, MatrixBatch, Solve } from "../../../generated/stream";
import { itemSize } from "../../dtype";
import type { View } from "../../stream";
import { forEach, invocations } from "../invocations";
import type { Commands, Kernel } from "../kernel";
import {
  forEachGroup,
  groupsOf,
  kBarrier,
  kBreakdownDTypes,
  kLanes,
  kMatrixDTypes,
  numberText,
  reportBreakdown,
  threadsFor,
} from "./matrices";
import { substitute } from "./triangular";

export const lu: Kernel<Lu> = {
  supported: {
    views: [kMatrixDTypes, kMatrixDTypes, kMatrixDTypes, ["int64"], ...kBreakdownDTypes],
  },

  play({ batch, a, lu, p, pivots, breakdown }, commands): void {
    const { origins, orders } = eliminate(commands, { batch, a, lu, pivots });
    permute(commands, { batch, columns: batch.rows, origins, to: p, isInverse: true });
    reportBreakdown(commands, orders, batch.rows === 0 ? 0 : batch.count, breakdown);
  },
};

export const solve: Kernel<Solve> = {
  supported: { views: [kMatrixDTypes, kMatrixDTypes, kMatrixDTypes, ...kBreakdownDTypes] },

  play({ batch, columns, a, b, x, breakdown }, commands): void {
    const { lu, origins, orders } = factorise(commands, batch, a);
    permute(commands, { batch, columns, origins, from: b, to: x, isInverse: false });
    for (const upper of [false, true])
      substitute(commands, { batch, columns, upper, unit: !upper, a: lu, x });
    const isEmpty = batch.rows === 0 || columns === 0;
    reportBreakdown(commands, orders, isEmpty ? 0 : batch.count, breakdown);
  },
};

export const determinants: Kernel<Determinants> = {
  supported: {
    views: [kMatrixDTypes, kMatrixDTypes, kMatrixDTypes, ["float32"], ...kBreakdownDTypes],
  },

  play({ batch, a, det, sign, logAbs, breakdown }, commands): void {
    const { lu, pivots, orders } = factorise(commands, batch, a);
    if (batch.count > 0) multiplyPivots(commands, batch, { lu, pivots, det, sign, logAbs });
    reportBreakdown(commands, orders, batch.count, breakdown);
  },
};

// Factorises square matrices in scratch memory.
function factorise(commands: Commands, batch: MatrixBatch, a: View) {
  const elements = Math.max(1, batch.count * batch.rows);
  const lu = commands.scratch(elements * Math.max(1, batch.rows) * itemSize(a.dtype), a.dtype);
  const pivots = commands.scratch(4 * elements, "int32");
  return { lu, pivots, ...eliminate(commands, { batch, a, lu, pivots }) };
}

interface Elimination {
  readonly batch: MatrixBatch;
  readonly a: View;
  /** The factors: u, and below its diagonal l without its diagonal of ones. */
  readonly lu: View;
  /** For each step, the row that was exchanged, counted from 1. */
  readonly pivots: View;
}

// Factorises all matrices. Returns for each row the one of `a` that it comes from, and for each matrix the first pivot that is
// zero, counted from 1, or 0.
function eliminate(commands: Commands, { batch, a, lu, pivots }: Elimination) {
  const { count, rows, columns } = batch;
  const origins = commands.scratch(4 * Math.max(1, count * rows), "int32");
  const orders = commands.scratch(4 * Math.max(1, count), "int32");
  const threads = threadsFor(commands, rows * columns);
  const groups = groupsOf(count);
  if (count === 0) return { origins, orders };
  commands.dispatch({
    key: `eliminate ${threads}`,
    memory: [
      { name: "a", view: a, mode: "read" },
      { name: "lu", view: lu, mode: "write" },
      { name: "pivots", view: pivots, mode: "write", as: "index" },
      { name: "origins", view: origins, mode: "write" },
      { name: "orders", view: orders, mode: "write" },
    ],
    uniforms: { u32: { ...groups.uniforms, rows, columns } },
    workgroups: groups.workgroups,
    body: () =>
      numberText(a.dtype) + pivotText(threads) + forEachGroup(threads, kLanes, kEliminateText),
  });
  return { origins, orders };
}

// Each invocation finds the largest of its own elements below the diagonal; these are compared in a tree. NaN is larger than all
// numbers, so that it reaches all results.
function pivotText(threads: number): string {
  return `var<workgroup> sizes: array<f32, ${threads}>;
var<workgroup> places: array<u32, ${threads}>;
fn is_preferred(size: f32, place: u32, best: f32, best_place: u32) -> bool {
  if (is_nan_f32(size) || is_nan_f32(best)) {
    return is_nan_f32(size) && (!is_nan_f32(best) || place > best_place);
  }
  return size > best || (size == best && place < best_place);
}
fn find_pivot(thread: u32, first: u32, k: u32) -> u32 {
  var best = -1f;
  var place = k;
  for (var i = k + thread; i < u.rows; i += ${threads}u) {
    let size = size_of(load_lu(first + i * u.columns + k));
    if (is_preferred(size, i, best, place)) {
      best = size;
      place = i;
    }
  }
  sizes[thread] = best;
  places[thread] = place;
  workgroupBarrier();
  for (var half = ${threads / 2}u; half > 0u; half >>= 1u) {
    if (thread < half) {
      let other = thread + half;
      if (is_preferred(sizes[other], places[other], sizes[thread], places[thread])) {
        sizes[thread] = sizes[other];
        places[thread] = places[other];
      }
    }
    workgroupBarrier();
  }
  return places[0];
}
`;
}

const kEliminateText = `let first = index * u.rows * u.columns;
  let first_row = index * u.rows;
  let steps = min(u.rows, u.columns);
  for (var i = thread; i < u.rows * u.columns; i += kCount) {
    store_lu(first + i, load_a(first + i));
  }
  for (var i = thread; i < u.rows; i += kCount) {
    store_origins(first_row + i, i32(i));
  }
  ${kBarrier}
  var bad = 0u;
  for (var k = 0u; k < steps; k++) {
    let other = find_pivot(thread, first, k);
    let pivot = load_lu(first + other * u.columns + k);
    ${kBarrier}
    let row = first + k * u.columns;
    let other_row = first + other * u.columns;
    if (other != k) {
      for (var j = thread; j < u.columns; j += kCount) {
        let kept = load_lu(row + j);
        store_lu(row + j, load_lu(other_row + j));
        store_lu(other_row + j, kept);
      }
    }
    if (thread == 0u) {
      store_pivots(index * steps + k, i32(other) + 1);
      let kept = load_origins(first_row + k);
      store_origins(first_row + k, load_origins(first_row + other));
      store_origins(first_row + other, kept);
    }
    ${kBarrier}
    let is_zero = bitcast<u32>(size_of(pivot)) == 0u;
    if (is_zero) {
      bad = select(bad, k + 1u, bad == 0u);
    } else {
      for (var i = k + 1u + thread; i < u.rows; i += kCount) {
        let at = first + i * u.columns + k;
        store_lu(at, divided(load_lu(at), pivot));
      }
    }
    ${kBarrier}
    for (var i = k + 1u + line; i < select(u.rows, 0u, is_zero); i += kLines) {
      let below = first + i * u.columns;
      let factor = load_lu(below + k);
      for (var j = k + 1u + lane; j < u.columns; j += kLanes) {
        store_lu(below + j, load_lu(below + j) - times(factor, load_lu(row + j)));
      }
    }
    ${kBarrier}
  }
  if (thread == 0u) {
    store_orders(index, i32(bad));
  }`;

interface Permutation {
  readonly batch: MatrixBatch;
  /** Of the matrices `from` and `to`. */
  readonly columns: number;
  readonly origins: View;
  /** The identity if absent. */
  readonly from?: View | undefined;
  readonly to: View;
  /** Whether rows return to where they come from. */
  readonly isInverse: boolean;
}

function permute(commands: Commands, call: Permutation): void {
  const { batch, columns, origins, from, to, isInverse } = call;
  const count = batch.count * batch.rows * columns;
  if (count === 0) return;
  const origin = isInverse
    ? "select(0f, 1f, load_origins(first + i % u.columns) == i32(row))"
    : "select(0f, 1f, load_origins(first + row) == i32(i % u.columns))";
  const moved = "load_from((first + u32(load_origins(first + row))) * u.columns + i % u.columns)";
  commands.dispatch({
    key: `permute ${isInverse} ${from !== undefined}`,
    memory: [
      { name: "origins", view: origins, mode: "read" },
      ...(from === undefined ? [] : [{ name: "from", view: from, mode: "read" } as const]),
      { name: "to", view: to, mode: "write" },
    ],
    uniforms: { u32: { count, rows: batch.rows, columns } },
    workgroups: invocations(count),
    body: () =>
      numberText(to.dtype) +
      forEach(`let row = i / u.columns % u.rows;
  let first = i / u.columns - row;
  store_to(i, ${from === undefined ? `number_of(${origin})` : moved});`),
  });
}

interface PivotProducts {
  readonly lu: View;
  readonly pivots: View;
  readonly det: View;
  readonly sign: View;
  readonly logAbs: View;
}

const kRealSign = `fn turned(sign: f32, pivot: f32) -> f32 {
  return select(select(sign, -sign, pivot < 0f), pivot, size_of(pivot) == 0f || is_nan_f32(pivot));
}
fn log_size(pivot: f32) -> f32 { return log_f32(abs_f32(pivot)); }
`;
const kComplexSign = `fn turned(sign: vec2<f32>, pivot: vec2<f32>) -> vec2<f32> { return mul_c64(sign, sgn_c64(pivot)); }
fn log_size(pivot: vec2<f32>) -> f32 { return log_abs_c64(pivot); }
`;

function multiplyPivots(commands: Commands, batch: MatrixBatch, memory: PivotProducts): void {
  const { lu, pivots, det, sign, logAbs } = memory;
  commands.dispatch({
    key: "multiply_pivots",
    memory: [
      { name: "lu", view: lu, mode: "read" },
      { name: "pivots", view: pivots, mode: "read" },
      { name: "det", view: det, mode: "write" },
      { name: "sign", view: sign, mode: "write" },
      { name: "log_abs", view: logAbs, mode: "write" },
    ],
    uniforms: { u32: { count: batch.count, rows: batch.rows } },
    workgroups: invocations(batch.count),
    body: () =>
      numberText(lu.dtype) +
      (lu.dtype === "complex64" ? kComplexSign : kRealSign) +
      forEach(`var product = number_of(1f);
  var sign = number_of(1f);
  var log_abs = 0f;
  for (var k = 0u; k < u.rows; k++) {
    let pivot = load_lu((i * u.rows + k) * u.rows + k);
    if (load_pivots(i * u.rows + k) != i32(k) + 1) {
      product = -product;
      sign = -sign;
    }
    product = times(product, pivot);
    log_abs += log_size(pivot);
    sign = turned(sign, pivot);
  }
  store_det(i, product);
  store_sign(i, sign);
  store_log_abs(i, log_abs);`),
  });
}
