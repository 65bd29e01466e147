// A product of matrices as it is shared among workgroups, and what all shaders for that have.

import type { Access, Uniforms } from "../../shader";
import { workgroups } from "../invocations";
import type { Commands } from "../kernel";

/** A batch of products of m x k by k x n matrices. */
export interface TiledProduct {
  readonly key: string;
  readonly memory: readonly Access[];
  readonly uniforms: Uniforms;
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly count: number;
  readonly type: "f32" | "i32" | "u32";
  /** Neighbours in memory are neighbours in a row. */
  readonly isARowMajor: boolean;
  readonly isBRowMajor: boolean;
  /**
   * first_a(batch), first_b and first_c, which say where matrices begin; finish(first, row, column, sum); and how elements
   * are found: a_line(first, row) and b_line(first, column) for all steps, a_step(first, column) and b_step(first, row) for
   * all lines, with both a_value(line, step) and b_value(line, step), whose value beyond the last row or column does not
   * matter.
   */
  functions(): string;
  /** How it lies in fours, if it does. */
  readonly fours?: Fours | undefined;
}

/** Matrices that lie so that four neighbouring floats are read and written at a time. */
export interface Fours {
  /** Of the product, with the matrices as fours. */
  readonly memory: readonly Access[];
  /** Results, too: there is finish_fours(first, row, column, sums) in place of finish. */
  readonly hasResults: boolean;
  /** first_a(batch), first_b and first_c, and how results are finished. */
  functions(): string;
}

/** a_at(first, row, column) and b_at, for shaders that find elements one by one. */
export function elementsText(type: TiledProduct["type"]): string {
  return `fn a_at(first: u32, row: u32, column: u32) -> ${type} {
  return a_value(a_line(first, row), a_step(first, column));
}
fn b_at(first: u32, row: u32, column: u32) -> ${type} {
  return b_value(b_line(first, column), b_step(first, row));
}
`;
}

/** A way to share a product among workgroups. */
export interface Plan {
  readonly key: string;
  /** Workgroups for every matrix of the batch, and parts of a row of results. */
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

/** The most workgroups in a direction; there are enough of them in two for all tiles. */
const kMaxBatches = 65535;

/** Runs a plan's shader, with `functions` that it calls, for all matrices of the batch. */
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
      body: () => `${call.functions()}
fn batch_of(z: u32) -> u32 { return u.first_batch + z; }
${functions}
${text()}`,
    });
  }
}

/** Gives the results of an invocation, as far as there are so many, to the function of a call that begins with `give`. */
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
