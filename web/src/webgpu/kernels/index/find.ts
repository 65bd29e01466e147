// Finding indices out of range and true elements; clearing triangles of matrices.

import {
  type ClearTriangle,
  type CountTrue,
  type FindOutOfRange,
  type FindTrue,
  Fold,
} from "../../../generated/stream";
import { kAnyDType } from "../../dtype";
import { elementType, kWgslTypes } from "../../element_types";
import { forEach, invocations, kThreads } from "../invocations";
import type { Kernel } from "../kernel";
import { reducePacked } from "../reduce/reduce";
import { kReporting, statusOf } from "./checked";

/** The status words report a bad index, with the op of the command. */
export const findOutOfRange: Kernel<FindOutOfRange> = {
  supported: { views: [["int64"], [], [], ["int64"]] },

  play({ count, size, index, position, bad, checked }, commands): void {
    if (position !== undefined || bad !== undefined || checked === undefined)
      throw new Error("bad indices are reported in the status words only");
    const status = statusOf(commands);
    commands.dispatch({
      key: "find_out_of_range",
      memory: [
        { name: "index", view: index, mode: "read" },
        { name: "checked", view: checked, mode: "write", as: "index" },
        status.access,
      ],
      uniforms: { u32: { count, size, ...status.uniforms } },
      workgroups: invocations(count),
      body: () =>
        kReporting + forEach("store_checked(i, i32(reported_index(load_index(i), u.size)));"),
    });
  },
};

export const countTrue: Kernel<CountTrue> = {
  supported: { views: [["bool"], ["int64"]] },

  play({ count, mask, trueCount }, commands): void {
    reducePacked(commands, Fold.CountNonzero, count, { x: mask, y: trueCount });
  },
};

export const findTrue: Kernel<FindTrue> = {
  supported: { views: [["bool"], ["int64"]] },

  play({ count, mask, positions }, commands): void {
    if (count === 0) return;
    // A single workgroup processes block after block, because the positions must be in order.
    commands.dispatch({
      key: "find_true",
      memory: [
        { name: "mask", view: mask, mode: "read" },
        { name: "places", view: positions, mode: "write", as: "index" },
      ],
      uniforms: { u32: { count } },
      workgroups: [1],
      body: () => `const kEach = 16u;
var<workgroup> counts: array<u32, ${kThreads}>;
@compute @workgroup_size(${kThreads})
fn main(@builtin(local_invocation_index) thread: u32) {
  var found = 0u;
  for (var block = 0u; block < u.count; block += ${kThreads}u * kEach) {
    let first = block + thread * kEach;
    let last = min(first + kEach, u.count);
    var own = 0u;
    for (var i = first; i < last; i++) {
      own += load_mask(i);
    }
    counts[thread] = own;
    workgroupBarrier();
    for (var step = 1u; step < ${kThreads}u; step <<= 1u) {
      var before = 0u;
      if (thread >= step) {
        before = counts[thread - step];
      }
      workgroupBarrier();
      counts[thread] += before;
      workgroupBarrier();
    }
    var next = found + counts[thread] - own;
    for (var i = first; i < last; i++) {
      if (load_mask(i) != 0u) {
        store_places(next, i32(i));
        next++;
      }
    }
    found += counts[${kThreads - 1}];
    workgroupBarrier();
  }
}
`,
    });
  },
};

export const clearTriangle: Kernel<ClearTriangle> = {
  supported: { views: [kAnyDType] },

  play({ count, rows, columns, diagonal, lower, matrices }, commands): void {
    const type = elementType(matrices.dtype);
    commands.dispatch({
      key: `clear_triangle ${lower}`,
      memory: [{ name: "matrices", view: matrices, mode: "write" }],
      uniforms: { u32: { count, rows, columns }, i32: { diagonal } },
      workgroups: invocations(count),
      body: () =>
        forEach(`let beside = i32(i % u.columns) - i32(i / u.columns % u.rows);
  if (beside ${lower ? ">" : "<"} u.diagonal) {
    store_matrices(i, ${kWgslTypes[type]}());
  }`),
    });
  },
};
