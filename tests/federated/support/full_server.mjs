// A server whose storage is full.

import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";

/** Fills what a server has left; returns the function that makes room. */
export async function fill(server, credentials) {
  const { user, password: pass } = credentials ?? {};
  const connection = await connect({ servers: server.url, ...(user && { user, pass }) });
  const jsm = await jetstreamManager(connection);
  const js = jetstream(connection);
  await jsm.streams.add({ name: "filler", subjects: ["filler"] });
  for (let size = 64 * 1024; size > 16; size /= 2) {
    let hasRoom = true;
    while (hasRoom) {
      await js.publish("filler", new Uint8Array(size)).catch(() => {
        hasRoom = false;
      });
    }
  }
  return async () => {
    await jsm.streams.delete("filler");
    await connection.close();
  };
}
