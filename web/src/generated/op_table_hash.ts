// Written by scripts/generate_ops.mjs from op_table.json. Do not edit.

/** What native.opTableHash() returns for the table these files were made from. */
export const kOpTableHash = 1439653617;
