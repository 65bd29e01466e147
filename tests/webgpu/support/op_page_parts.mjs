// The parts of the list of ops about the device, from a run of all ops on it.

import { opTable } from "../../js/support/op_samples.mjs";
// Imported before anything that starts the engine without the device.
import { options } from "./engine.mjs";
import { isCallable, reportOnDevice } from "./laws/op_laws.mjs";
import { reasonTable } from "./on_the_cpu.mjs";
import { deviceCell } from "./op_cells.mjs";

/** The reason why there is no device, or false. */
export const missing = options.skip;

/** Returns the parts in the form that opPage() takes. */
export function makeParts() {
  const ops = opTable.filter(isCallable);
  const cells = Object.fromEntries(ops.map((op) => [op.js, deviceCell(reportOnDevice(op))]));
  return { cells, onTheCpu: reasonTable() };
}
