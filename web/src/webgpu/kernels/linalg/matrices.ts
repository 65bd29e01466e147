// What the factorisations share: packed batches of square or rectangular matrices of real or complex numbers, of which a
// workgroup takes one, and the report of the first matrix that cannot be factorised.

import type { Breakdown } from "../../../generated/stream";
import type { DType } from "../../dtype";
import type { View } from "../../stream";
import { kThreads, workgroups } from "../invocations";
import type { Commands } from "../kernel";

/** The dtypes of matrices. */
export const kMatrixDTypes: readonly DType[] = ["float32", "complex64"];

/** The dtypes of a Breakdown. */
export const kBreakdownDTypes: readonly (readonly DType[])[] = [["int64"], ["int64"]];

const kRealText = `alias Number = f32;
fn times(a: f32, b: f32) -> f32 { return a * b; }
fn divided(a: f32, b: f32) -> f32 { return a / b; }
fn conjugate(a: f32) -> f32 { return a; }
fn real_part(a: f32) -> f32 { return a; }
fn number_of(a: f32) -> f32 { return a; }
fn size_of(a: f32) -> f32 { return abs_f32(a); }
`;

// The size by which pivots are chosen is LAPACK's: the sum of both parts.
const kComplexText = `alias Number = vec2<f32>;
fn times(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> { return mul_c64(a, b); }
fn divided(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> { return div_c64(a, b); }
fn conjugate(a: vec2<f32>) -> vec2<f32> { return vec2(a.x, -a.y); }
fn real_part(a: vec2<f32>) -> f32 { return a.x; }
fn number_of(a: f32) -> vec2<f32> { return vec2(a, 0f); }
fn size_of(a: vec2<f32>) -> f32 { return abs_f32(a.x) + abs_f32(a.y); }
`;

/** Returns the WGSL of the arithmetic of a dtype: the type `Number` and its functions. */
export function numberText(dtype: DType): string {
  return dtype === "complex64" ? kComplexText : kRealText;
}

/** On a device that computes on the CPU, more invocations would only wait for each other. */
const kFewThreads = 16;

/** Returns the invocations for this many elements: a power of two. */
export function threadsFor({ isSoftware }: Pick<Commands, "isSoftware">, elements: number): number {
  if (isSoftware) return kFewThreads;
  let threads = 32;
  while (threads < kThreads && threads < elements) threads *= 2;
  return threads;
}

/**
 * Returns a main function that runs `work` in every invocation `thread` below kCount of the group with number `index`. For work
 * on rectangles, invocations form kLines lines of kLanes lanes, which read neighboring elements of a row.
 */
export function forEachGroup(threads: number, lanes: number, work: string): string {
  return `const kCount = ${threads}u;
const kLanes = ${lanes}u;
const kLines = ${threads / lanes}u;
@compute @workgroup_size(${threads})
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let index = group.x + group.y * groups.x;
  if (index >= u.groups) {
    return;
  }
  let lane = thread % kLanes;
  let line = thread / kLanes;
  ${work}
}
`;
}

/** The lanes for rows of many elements. */
export const kLanes = 16;

/** Returns the uniforms and workgroups for `count` groups. */
export function groupsOf(count: number) {
  return { uniforms: { groups: count }, workgroups: workgroups(count) };
}

/** WGSL: waits for all invocations of the workgroup, and for what they have written. */
export const kBarrier = "storageBarrier(); workgroupBarrier();";

/** Reports the first of `count` matrices whose number in `orders` (int32) is not zero. */
export function reportBreakdown(
  commands: Commands,
  orders: View,
  count: number,
  { matrix, order }: Breakdown,
): void {
  if (matrix === undefined || order === undefined) return;
  commands.dispatch({
    key: "report_breakdown",
    memory: [
      { name: "orders", view: orders, mode: "read" },
      { name: "matrix", view: matrix, mode: "write", as: "index" },
      { name: "order", view: order, mode: "write", as: "index" },
    ],
    uniforms: { u32: { count } },
    workgroups: [1],
    body: () => `var<workgroup> first: atomic<u32>;
@compute @workgroup_size(${kThreads})
fn main(@builtin(local_invocation_index) thread: u32) {
  if (thread == 0u) {
    atomicStore(&first, u.count);
  }
  workgroupBarrier();
  for (var i = thread; i < u.count; i += ${kThreads}u) {
    if (load_orders(i) != 0) {
      atomicMin(&first, i);
      break;
    }
  }
  workgroupBarrier();
  if (thread == 0u) {
    let found = atomicLoad(&first);
    let is_bad = found < u.count;
    store_matrix(0u, select(-1, i32(found), is_bad));
    store_order(0u, select(0, load_orders(min(found, max(u.count, 1u) - 1u)), is_bad));
  }
}
`,
  });
}
