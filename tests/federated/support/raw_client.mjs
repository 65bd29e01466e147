// A client without edgegrad: it sends whatever a test wants. As the server of a test lets everybody do everything, it stores by itself what
// the coordinator would.

import { createHash } from "node:crypto";
import { jetstream } from "@nats-io/jetstream";
import { headers } from "@nats-io/nats-core";
import { connect } from "@nats-io/transport-node";
import * as eg from "edgegrad";
import { leaveAtEnd } from "./leaving.mjs";

// The server's answers are late on a busy machine only.
const kMost = 120_000; // ms

/** Connects; `run` and `name` are those that the messages are for. */
export async function rawClient({ servers, run, name, ...credentials }) {
  const connection = await connect({ servers, inboxPrefix: `_INBOX_${name}`, ...credentials });
  const js = jetstream(connection, { timeout: kMost });
  const here = () => connection.publish(`edgegrad.${run}.here.${name}`, "here raw");
  const timer = setInterval(here, 500); // timer: a sign of life
  connection.subscribe(`edgegrad.${run}.who`, { callback: here });
  here();
  const close = async () => {
    clearInterval(timer);
    await connection.close();
  };
  leaveAtEnd(close);
  let ids = 0;
  return {
    connection,
    /** Sends bytes as a message of an update, with headers that may be replaced. */
    async send(bytes, { round = 1, part = "0/1", digest, to = name, id } = {}) {
      const head = headers();
      head.set("EdgeGrad-Round", `${round}`);
      head.set("EdgeGrad-Part", part);
      head.set("EdgeGrad-Digest", digest ?? createHash("sha256").update(bytes).digest("hex"));
      const options = { headers: head, msgID: id ?? `raw${name}${ids++}` };
      return js.publish(`edgegrad.${run}.update.${to}`, bytes, options);
    },
    /** Sends bytes without any header. */
    sendBare: (bytes) => js.publish(`edgegrad.${run}.update.${name}`, bytes),
    close,
  };
}

/** The file of an update. */
export function fileOf(state, { run, round = 1, client, samples = "64", metrics = "{}" }) {
  const metadata = { run, round: `${round}`, client, samples, metrics };
  return eg.io.saveSafetensors(state, { metadata });
}
