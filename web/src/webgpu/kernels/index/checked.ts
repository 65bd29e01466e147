// Checking indices: one that is out of range is replaced by 0. The kernels that find such indices report them in the status words
// (README.md, "Errors"); the others, whose indices have been checked, only stay inside their memory.

import { kSlotUniform } from "../../recorder";
import type { Access } from "../../shader";
import { kSlotWords } from "../../status";
import type { Commands } from "../kernel";

/** Returns the status words as memory of a shader, and the uniform that it needs, which every call sets anew. */
export function statusOf(
  commands: Commands,
  rule?: string,
): { access: Access; uniforms: Record<string, number> } {
  return {
    access: { name: "status", view: commands.status(rule), mode: "atomic" },
    uniforms: { [kSlotUniform]: 0 },
  };
}

/** WGSL functions: `is_index(index, size)`; `checked_index` replaces an index out of range by 0. */
export const kInside = `fn is_index(index: i32, size: u32) -> bool { return index >= 0 && u32(index) < size; }
fn checked_index(index: i32, size: u32) -> u32 {
  return select(0u, u32(index), is_index(index, size));
}`;

/** WGSL function: reports a number in the status words. */
export const kReport = `fn report(number: vec2<u32>) {
  let slot = ${kSlotWords}u * u.${kSlotUniform};
  if (add_status(slot, 1) == 0) {
    store_status(slot + 1u, bitcast<i32>(number.x));
    store_status(slot + 2u, bitcast<i32>(number.y));
  }
}`;

/** WGSL function: like `checked_index`, but for all of int64, and reports an index out of range. */
export const kReporting = `${kInside}
${kReport}
fn reported_index(number: vec2<u32>, size: u32) -> u32 {
  let index = index_of_i64(number);
  if (!is_index(index, size)) {
    report(number);
    return 0u;
  }
  return u32(index);
}`;
