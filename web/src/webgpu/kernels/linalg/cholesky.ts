// Cholesky factors, column by column: each one is scaled by the root of its pivot, and its products are subtracted from the
// triangle beside it.

import type { Cholesky } from "../../../generated/stream";
import type { Kernel } from "../kernel";
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

export const cholesky: Kernel<Cholesky> = {
  supported: { views: [kMatrixDTypes, kMatrixDTypes, ...kBreakdownDTypes] },

  play({ batch, a, l, breakdown }, commands): void {
    const { count, rows } = batch;
    const orders = commands.scratch(4 * Math.max(1, count), "int32");
    const groups = groupsOf(count);
    const threads = threadsFor(commands, rows * rows);
    if (count * rows > 0)
      commands.dispatch({
        key: `cholesky ${threads}`,
        memory: [
          { name: "a", view: a, mode: "read" },
          { name: "l", view: l, mode: "write" },
          { name: "orders", view: orders, mode: "write" },
        ],
        uniforms: { u32: { ...groups.uniforms, rows } },
        workgroups: groups.workgroups,
        body: () => numberText(a.dtype) + forEachGroup(threads, kLanes, kCholeskyText),
      });
    reportBreakdown(commands, orders, rows === 0 ? 0 : count, breakdown);
  },
};

const kCholeskyText = `let first = index * u.rows * u.rows;
  for (var e = thread; e < u.rows * u.rows; e += kCount) {
    let is_inside = e % u.rows <= e / u.rows;
    store_l(first + e, select(Number(), load_a(first + e), is_inside));
  }
  ${kBarrier}
  var bad = 0u;
  for (var k = 0u; k < u.rows; k++) {
    let pivot = real_part(load_l(first + k * u.rows + k));
    if (bad == 0u && (is_nan_f32(pivot) || pivot <= 0f)) {
      bad = k + 1u;
    }
    ${kBarrier}
    let root = sqrt(pivot);
    for (var i = k + thread; i < u.rows; i += kCount) {
      let at = first + i * u.rows + k;
      let scaled = divided(load_l(at), number_of(root));
      store_l(at, select(scaled, number_of(root), i == k));
    }
    ${kBarrier}
    for (var i = k + 1u + line; i < u.rows; i += kLines) {
      let row = first + i * u.rows;
      let factor = load_l(row + k);
      for (var j = k + 1u + lane; j <= i; j += kLanes) {
        let other = conjugate(load_l(first + j * u.rows + k));
        store_l(row + j, load_l(row + j) - times(factor, other));
      }
    }
    ${kBarrier}
  }
  if (thread == 0u) {
    store_orders(index, i32(bad));
  }`;
