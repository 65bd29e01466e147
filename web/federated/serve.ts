// serve(). The coordinator is loaded when it is needed: clients in pages do without it.

import type { Coordinator } from "./coordinator/coordinator.js";
import type { ServeOptions } from "./coordinator/options.js";

/**
 * Coordinates a federated run, whose state is stored by the NATS server: called again with the same `run`, even after the process was
 * killed, it continues the same round. Several coordinators of one run may be started: one leads, and the others stand by. Throws
 * InvalidArgument for options that are unknown or do not fit the existing run, and if no server can be reached.
 */
export async function serve(options: ServeOptions): Promise<Coordinator> {
  const coordinator = await import("./coordinator/serve.js");
  return coordinator.serve(options);
}
