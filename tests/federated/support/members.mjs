// serve() and join() for tests: whoever still takes part when the tests of a file are over, because one of them has failed, is made to
// leave. Otherwise they would keep the process.

import { after } from "node:test";
import * as federated from "edgegrad/federated";
import { leaveAll, leaveAtEnd } from "./leaving.mjs";

/** serve() of edgegrad/federated. */
export async function serve(options) {
  const coordinator = await federated.serve(options);
  leaveAtEnd(() => coordinator.stop());
  return coordinator;
}

/** join() of edgegrad/federated. */
export async function join(options) {
  const client = await federated.join(options);
  leaveAtEnd(() => client.leave());
  return client;
}

// Before the hooks of the test file, which end the server.
after(leaveAll);
