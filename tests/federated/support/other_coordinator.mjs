// A coordinator that is not to be relied on: it says to clients whatever a test wants, in the place of one that has stopped.

import { Kvm } from "@nats-io/kv";
import { headers } from "@nats-io/nats-core";
import { Objm } from "@nats-io/obj";

const kPiece = 500_000; // bytes
const kEmpty = Buffer.alloc(0);

function headersOf(values) {
  const made = headers();
  for (const [name, value] of Object.entries(values)) made.set(name, value);
  return made;
}

/** Opens what the coordinator of a run has stored; `js` is a client of JetStream on the `connection`. */
export async function otherCoordinator({ connection, js, run }) {
  const kv = await new Kvm(js).open(`edgegrad_${run}`);
  const objects = await new Objm(js).open(`edgegrad_${run}`);

  const usual = {
    object: async (message) => {
      const all = Buffer.from(await objects.getBlob(message.headers.get("EdgeGrad-Object")));
      const from = Number(message.headers.get("EdgeGrad-Offset"));
      return all.subarray(from, from + kPiece);
    },
  };

  return {
    /** Answers clients: `answers[ask](message)` returns bytes. To what it does not have, the answer is that the store is busy. */
    async answer(answers = {}) {
      const all = { ...usual, ...answers };
      connection.subscribe(`edgegrad.${run}.ask.*`, {
        callback: async (_, message) => {
          const answer = await all[message.headers.get("EdgeGrad-Ask")]?.(message);
          const status = answer === undefined ? "busy" : "ok";
          message.respond(answer ?? kEmpty, {
            headers: headersOf({ "EdgeGrad-Status": status }),
          });
        },
      });
      await connection.flush();
    },
    /** Announces the stored record as changed by a function. */
    async announce(change = (record) => record) {
      const entry = await kv.get("record");
      connection.publish(`edgegrad.${run}.changed`, JSON.stringify(change(entry.json())), {
        headers: headersOf({ "EdgeGrad-Revision": `${entry.revision + 1}` }),
      });
    },
  };
}
