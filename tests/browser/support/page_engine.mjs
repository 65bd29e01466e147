// The equivalents of tests/js/support/engine.mjs and files.mjs for pages.

import * as eg from "edgegrad";
import opTable from "../../../web/src/generated/op_table.json";

await eg.init({ threads: 2, variant: "simd", webgpu: "required" });

export { eg };

export const kRoot = "";

/** Reads the only file that pages need. */
export const readJson = () => opTable;
