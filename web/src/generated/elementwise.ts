// Written by scripts/generating/generate_ops.mjs from op_table.json. Do not edit.

/** The number of elementwise ops, which have the ids from 0 to this number - 1. */
export const kElementwiseCount = 122;
