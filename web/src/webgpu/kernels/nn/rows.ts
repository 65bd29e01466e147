// Kernels along the middle dimension of packed arrays (src/kernels/rows.h).

import type { Rows } from "../../../generated/stream";
import type { Dispatch } from "../../recorder";
import type { Access, Uniforms } from "../../shader";
import type { View } from "../../stream";
import type { Commands } from "../kernel";
import {
  type Combination,
  chooseLanes,
  combineLanes,
  dispatchOfLanes,
  forEachLane,
} from "../lanes";

/** Returns the accesses of the views that are present. */
export function accesses(mode: Access["mode"], views: Record<string, View | undefined>): Access[] {
  return Object.entries(views).flatMap(([name, view]) =>
    view === undefined ? [] : [{ name, view, mode }],
  );
}

export interface RowsShader {
  readonly key: string;
  readonly memory: readonly Access[];
  readonly uniforms?: Uniforms;
  /** Whether neighboring elements of a row are neighbors in memory; if absent, whether `u.inner` is 1. */
  readonly isRowMajor?: boolean;
  readonly stores?: Dispatch["stores"];
  /** The combinations of lanes that the work uses, by the names of their functions. */
  readonly combine: Readonly<Record<string, Combination>>;
  /**
   * The WGSL for a row (see forEachLane). It uses `position`, `lane` and `first`, the row's first element; the row has `u.size`
   * elements, `u.inner` apart.
   */
  readonly work: string;
  /** Functions that the work calls. */
  readonly functions?: string;
}

/** Runs a shader over all rows. */
export function dispatchRows(commands: Commands, rows: Rows, shader: RowsShader): void {
  const { outer, size, inner } = rows;
  const positions = outer * inner;
  if (positions === 0) return;
  const { isRowMajor = inner === 1 } = shader;
  const chosen = chooseLanes(commands, positions, size, isRowMajor);
  const { key, memory, uniforms, stores = [], combine, work, functions = "" } = shader;
  const dispatch = dispatchOfLanes(chosen, positions, (lanes) => ({
    key,
    memory,
    uniforms: { ...uniforms, u32: { positions, size, inner, ...uniforms?.u32 } },
    stores,
    body: () =>
      [
        ...Object.entries(combine).map(([name, how]) => combineLanes(name, lanes, how)),
        functions,
        forEachLane(
          lanes,
          `let first = position / u.inner * u.inner * u.size + position % u.inner;
  ${work}`,
        ),
      ].join("\n"),
  }));
  commands.dispatch(dispatch);
}
