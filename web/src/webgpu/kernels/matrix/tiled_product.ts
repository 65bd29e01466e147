// A matrix product that is divided among workgroups, and the code that all its shaders share.

import { kWgslTypes } from "../../element_types";
import type { Dispatch } from "../../recorder";
import type { Access, Uniforms } from "../../shader";
import type { View } from "../../stream";
import { workgroups } from "../invocations";
import type { Commands } from "../kernel";

/** A batch of products of m x k by k x n matrices. */
export interface TiledProduct {
  readonly key: string;
  readonly memory: readonly Access[];
  readonly uniforms: Uniforms;
  /** What the dispatch that finishes the sums stores. */
  readonly stores?: Dispatch["stores"];
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly count: number;
  /** Products of i64 are not tiled. */
  readonly type: "f32" | "i32" | "i64" | "u32";
  /** The operands whose numbers are float16 in the shader; sums are f32 nevertheless. */
  readonly halves: readonly OperandName[];
  /** Whether the elements of a row are contiguous. */
  readonly isARowMajor: boolean;
  readonly isBRowMajor: boolean;
  /**
   * Returns the WGSL functions of the product: first_a(batch), first_b and first_c return the offsets of matrices, and
   * finish(first, row, column, sum) stores a result. An element is found in two parts: a_line(first, row) and
   * b_line(first, column) do not depend on the step, a_step(first, column) and b_step(first, row) do not depend on the line.
   * a_value(line, step) and b_value(line, step) combine them, and return f16 for `halves`; beyond the last row or column their value is
   * arbitrary.
   */
  functions(): string;
  /** How to access the matrices as vec4s, if their layout permits it. */
  readonly vec4s?: Vec4s | undefined;
}

export type OperandName = "a" | "b";

/** Returns the access of a kernel to an operand: to the float16 numbers that it is a copy of, where shaders can read them. */
export function readOperand(commands: Commands, name: string, given: View): Access {
  const view = commands.hasHalves ? commands.original(given) : given;
  const isHalf = commands.hasHalves && view.dtype === "float16";
  return { name, view, mode: "read", ...(isHalf ? { as: "half" } : {}) };
}

/** Returns the operands that are float16 in the shader. */
export function halvesOf(a: Access, b: Access): OperandName[] {
  return [...(a.as === "half" ? ["a" as const] : []), ...(b.as === "half" ? ["b" as const] : [])];
}

/** The WGSL type of an operand's numbers. */
export function operandType({ type, halves }: TiledProduct, name: OperandName): string {
  return halves.includes(name) ? "f16" : kWgslTypes[type];
}

/** Returns the WGSL of a number of an operand, or of four, in the type of the sums. */
export function factorText(
  { halves }: TiledProduct,
  name: OperandName,
  text: string,
  type = "f32",
) {
  return halves.includes(name) ? `${type}(${text})` : text;
}

/** A product whose matrices are read, and possibly written, four neighboring floats at a time. */
export interface Vec4s {
  /** The memory of the product, with the matrices as vec4s. */
  readonly memory: readonly Access[];
  /** Whether results are written as vec4s, with finish_vec4s(first, row, column, sums) instead of finish. */
  readonly hasResults: boolean;
  /** The same, but with results written one by one; absent if they are already, or if the memory does not permit it. */
  readonly withSingleResults?: Vec4s | undefined;
  /** Returns first_a(batch), first_b, first_c and the function that stores results. */
  functions(): string;
}

/** Returns a_at(first, row, column) and b_at, for shaders that access single elements. */
export function elementsText(call: TiledProduct): string {
  return `fn a_at(first: u32, row: u32, column: u32) -> ${operandType(call, "a")} {
  return a_value(a_line(first, row), a_step(first, column));
}
fn b_at(first: u32, row: u32, column: u32) -> ${operandType(call, "b")} {
  return b_value(b_line(first, column), b_step(first, row));
}
`;
}

/** A way to divide a product among workgroups. */
export interface Plan {
  readonly key: string;
  /** `groups` is the number of workgroups per matrix, `columns` the number of tiles per row of tiles. */
  readonly groups: number;
  readonly columns: number;
  text(): string;
}

/** The beginning of a main function. */
export const mainHead = (threads: number): string => `@compute @workgroup_size(${threads})
fn main(@builtin(local_invocation_index) thread: u32, @builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>) {
  let batch = batch_of(group.z);
  let from_a = first_a(batch);
  let from_b = first_b(batch);`;

/** The maximum number of workgroups in the z direction, which counts matrices. */
const kMaxBatches = 65535;

/** Dispatches the shader of a plan, with the `functions` that it calls, for all matrices of the batch. */
export function dispatchBatches(
  commands: Commands,
  call: TiledProduct,
  { key, groups, columns, text }: Plan,
  functions: string,
): void {
  const { memory, uniforms, m, n, k, count } = call;
  const [x, y] = workgroups(groups);
  for (let first = 0; first < count; first += kMaxBatches) {
    commands.dispatch({
      key: `${call.key} ${key}`,
      memory,
      uniforms: { ...uniforms, u32: { ...uniforms.u32, m, n, k, columns, first_batch: first } },
      workgroups: [x, y, Math.min(kMaxBatches, count - first)],
      stores: count > kMaxBatches ? [] : (call.stores ?? []),
      body: () => `${call.functions()}
fn batch_of(z: u32) -> u32 { return u.first_batch + z; }
${functions}
${text()}`,
    });
  }
}

/**
 * Returns statements that pass the results of an invocation, as far as they are inside the matrix, to a function. `give` is the
 * beginning of the call.
 */
export function resultsText(
  give: string,
  rows: number,
  columns: number,
  sum: (i: number, j: number) => string,
): string {
  const lines: string[] = [];
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++)
      lines.push(`if (first_row + ${i}u < u.m && first_column + ${j}u < u.n) {
    ${give}, first_row + ${i}u, first_column + ${j}u, ${sum(i, j)});
  }`);
  return lines.join("\n  ");
}
