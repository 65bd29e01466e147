// What tests/js/support/engine.mjs and files.mjs are in a page.

import * as eg from "edgegrad";
import opTable from "../../../web/src/generated/op_table.json";

await eg.init({ threads: 2, variant: "simd", webgpu: "required" });

export { eg };

export const kRoot = "";

/** Reads the one file that pages need. */
export const readJson = () => opTable;
