// Indices that are out of range: they become 0, and the status words tell (README.md, "Errors").

import type { Access } from "../../shader";
import type { Commands } from "../kernel";

/** The status words as memory of a shader, and the number that it needs. */
export function statusOf(commands: Commands): { access: Access; numbers: { op: number } } {
  return {
    access: { name: "status", view: commands.status(), mode: "add" },
    numbers: { op: commands.opNumber },
  };
}

/** WGSL: `report_index(index)`, and `checked_index(index, size)` which reports what it cannot use. */
export const kChecked = `fn report_index(index: i32) {
  if (add_status(0u, 1) == 0) {
    store_status(1u, i32(u.op));
    store_status(2u, index);
  }
}
fn checked_index(index: i32, size: u32) -> u32 {
  if (index >= 0 && u32(index) < size) {
    return u32(index);
  }
  report_index(index);
  return 0u;
}`;
