// Indices that are out of range: they become 0, and the status words tell (README.md, "Errors").

import type { DType } from "../../dtype";
import type { Access } from "../../shader";
import type { Commands } from "../kernel";

/** What is moved can be anything that a shader knows. */
export const kAnyDType: readonly DType[] = [
  "float32",
  "int32",
  "int64",
  "uint8",
  "bool",
  "complex64",
];

/** The status words as memory of a shader, and the number that it needs. */
export function statusOf(commands: Commands): { access: Access; uniforms: { op: number } } {
  return {
    access: { name: "status", view: commands.status(), mode: "atomic" },
    uniforms: { op: commands.opNumber },
  };
}

/** WGSL: `is_index(index, size)`, which reports what is none, and `checked_index`, which makes 0 of that. */
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
