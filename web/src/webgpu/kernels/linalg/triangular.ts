// Triangular systems, solved row by row: once a row of x is known, its multiples are subtracted from all rows that remain. A
// workgroup takes some columns of one matrix, whose elements it updates together.

import type { MatrixBatch, SolveTriangular } from "../../../generated/stream";
import { itemSize } from "../../dtype";
import type { View } from "../../stream";
import { copyBytes } from "../elementwise/copy";
import type { Commands, Kernel } from "../kernel";
import {
  forEachGroup,
  groupsOf,
  kBarrier,
  kLanes,
  kMatrixDTypes,
  numberText,
  threadsFor,
} from "./matrices";

export const solveTriangular: Kernel<SolveTriangular> = {
  supported: { all: kMatrixDTypes },

  play({ batch, columns, upper, unit, a, b, x }, commands): void {
    copyBytes(commands, x, b, batch.count * batch.rows * columns * itemSize(x.dtype));
    substitute(commands, { batch, columns, upper, unit, a, x });
  },
};

/** Systems of packed triangular matrices `a`; on entry, `x` has the right-hand sides. */
export interface Substitution {
  readonly batch: MatrixBatch;
  readonly columns: number;
  readonly upper: boolean;
  /** Whether the diagonal counts as 1. */
  readonly unit: boolean;
  readonly a: View;
  readonly x: View;
}

/** The columns that a workgroup solves. */
const kColumns = 32;

export function substitute(commands: Commands, call: Substitution): void {
  const { batch, columns, upper, unit, a, x } = call;
  const rows = batch.rows;
  const shares = Math.ceil(columns / kColumns);
  if (batch.count * rows * columns === 0) return;
  const threads = threadsFor(commands, Math.min(columns, kColumns) * rows);
  const lanes = Math.min(kLanes, 2 ** Math.ceil(Math.log2(columns)));
  const groups = groupsOf(batch.count * shares);
  commands.dispatch({
    key: `substitute ${upper} ${unit} ${threads} ${lanes}`,
    memory: [
      { name: "a", view: a, mode: "read" },
      { name: "x", view: x, mode: "write" },
    ],
    uniforms: { u32: { ...groups.uniforms, rows, columns, shares } },
    workgroups: groups.workgroups,
    body: () => numberText(x.dtype) + forEachGroup(threads, lanes, substituteText(upper, unit)),
  });
}

function substituteText(upper: boolean, unit: boolean): string {
  const divide = `for (var j = thread; j < width; j += kCount) {
      store_x(row + j, divided(load_x(row + j), load_a(first + k * u.rows + k)));
    }
    ${kBarrier}`;
  return `let matrix = index / u.shares;
  let first = matrix * u.rows * u.rows;
  let column = index % u.shares * ${kColumns}u;
  let width = min(${kColumns}u, u.columns - column);
  for (var step = 0u; step < u.rows; step++) {
    let k = ${upper ? "u.rows - 1u - step" : "step"};
    let row = (matrix * u.rows + k) * u.columns + column;
    ${unit ? "" : divide}
    for (var i = line${upper ? "" : " + k + 1u"}; i < ${upper ? "k" : "u.rows"}; i += kLines) {
      let factor = load_a(first + i * u.rows + k);
      let other = (matrix * u.rows + i) * u.columns + column;
      for (var j = lane; j < width; j += kLanes) {
        store_x(other + j, load_x(other + j) - times(factor, load_x(row + j)));
      }
    }
    ${kBarrier}
  }`;
}
