// The column of the list of ops about the device, from a run of all ops on it.

import { opTable } from "../../js/support/op_samples.mjs";
// Imported before anything that starts the engine without the device.
import { options } from "./engine.mjs";
import { isCallable, reportOnDevice } from "./laws/op_laws.mjs";
import { deviceCell } from "./op_cells.mjs";

/** The reason why there is no device, or false. */
export const missing = options.skip;

/** Returns the cell of each op, by its name. */
export function makeCells() {
  const ops = opTable.filter(isCallable);
  return Object.fromEntries(ops.map((op) => [op.js, deviceCell(reportOnDevice(op))]));
}
