// Written by scripts/generate_ops.mjs from op_table.json. Do not edit.

/** How many ops are elementwise: those with the ids from 0 to before this. */
export const kElementwiseCount = 122;
