// Checking indices: one that is out of range is replaced by 0 and reported in the status words (README.md, "Errors").

import type { DType } from "../../dtype";
import type { Access } from "../../shader";
import type { Commands } from "../kernel";

/** All dtypes that shaders support, for kernels that only move elements. */
export const kAnyDType: readonly DType[] = [
  "float32",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
];

/** Returns the status words as memory of a shader, and the uniform that it needs. */
export function statusOf(commands: Commands): { access: Access; uniforms: { op: number } } {
  return {
    access: { name: "status", view: commands.status(), mode: "atomic" },
    uniforms: { op: commands.opNumber },
  };
}

/** WGSL functions: `is_index(index, size)` reports an index out of range; `checked_index` also replaces it by 0. */
export const kChecked = `fn report_index(index: i32) {
  if (add_status(0u, 1) == 0) {
    store_status(1u, i32(u.op));
    store_status(2u, index);
  }
}
fn is_index(index: i32, size: u32) -> bool {
  if (index >= 0 && u32(index) < size) {
    return true;
  }
  report_index(index);
  return false;
}
fn checked_index(index: i32, size: u32) -> u32 {
  return select(0u, u32(index), is_index(index, size));
}`;
