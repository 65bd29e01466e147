// Stands between processes and a nats-server, and refuses the first streams that they make as the server does while another process
// makes the same one.

import { once } from "node:events";
import { connect, createServer } from "node:net";

const kCreate = "PUB $JS.API.STREAM.CREATE.";
const kRefusal = JSON.stringify({
  type: "io.nats.jetstream.api.v1.stream_create_response",
  error: { code: 400, err_code: 10065, description: "subjects overlap with an existing stream" },
});

/** Starts one in front of the server at `url`, which refuses `refusals` streams. */
export async function startRefusing(url, refusals) {
  let left = refusals;
  const server = createServer((client) => {
    const upstream = connect(new URL(url).port, "127.0.0.1");
    upstream.pipe(client);
    const subscriptions = new Map();
    /** Answers a command itself if it makes a stream. */
    function isRefused(line) {
      const [command, subject, id] = line.trim().split(" ");
      if (command === "SUB") subscriptions.set(subject.replace("*", ""), id);
      if (!line.startsWith(kCreate) || left === 0) return false;
      left--;
      const reply = id;
      const [, sid] = [...subscriptions].find(([prefix]) => reply.startsWith(prefix));
      client.write(`MSG ${reply} ${sid} ${kRefusal.length}\r\n${kRefusal}\r\n`);
      return true;
    }
    let unread = Buffer.alloc(0);
    client.on("data", (bytes) => {
      unread = Buffer.concat([unread, bytes]);
      for (;;) {
        const end = unread.indexOf("\r\n") + 2;
        if (end === 1) return;
        const line = unread.toString("latin1", 0, end);
        const size = /^H?PUB/.test(line) ? Number(line.trim().split(" ").at(-1)) + 2 : 0;
        if (unread.length < end + size) return;
        if (!isRefused(line)) upstream.write(unread.subarray(0, end + size));
        unread = unread.subarray(end + size);
      }
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      one.on("error", () => other.destroy()).on("close", () => other.destroy());
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `nats://127.0.0.1:${server.address().port}`,
    refused: () => refusals - left,
    close: () => server.close(),
  };
}
