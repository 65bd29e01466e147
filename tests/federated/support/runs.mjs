// How runs and their rounds end in tests.

import { setImmediate } from "node:timers/promises";
import { jetstream } from "@nats-io/jetstream";
import { Kvm } from "@nats-io/kv";
import { connect } from "@nats-io/transport-node";
import * as eg from "edgegrad";
import { gc } from "../../../scripts/testing/garbage_collector.mjs";
import { soon, until } from "../../support/until.mjs";
import { serve } from "./members.mjs";

/** A deadline that does not pass while anybody waits. */
export const kNever = 600_000; // ms

/** Resolves to the history of a run when its clients have ended, too. Each round may take its time. */
export async function endOf(coordinator, clients = []) {
  try {
    let isOver = false;
    const ends = Promise.all([coordinator, ...clients].map(({ finished }) => finished));
    const over = () => {
      isOver = true;
    };
    ends.then(over, over);
    while (!isOver) {
      const { round } = coordinator;
      await until(`end of round ${round}`, () => isOver || coordinator.round > round);
    }
    const [history] = await ends;
    return history;
  } catch (error) {
    // They would keep the process.
    void Promise.allSettled([coordinator.stop(), ...clients.map((client) => client.leave())]);
    throw error;
  }
}

/**
 * Counts the tensors at the end of each round, when no client has any of that round: `evaluate` and `onRound` are options of serve() and
 * of all clients.
 */
export function countTensors(clients) {
  const counts = [];
  let left = clients;
  let tell = () => {};
  return {
    counts,
    onRound: () => {
      left--;
      if (left === 0) tell();
    },
    evaluate: async () => {
      if (left > 0) {
        const all = new Promise((resolve) => {
          tell = resolve;
        });
        await soon("end of the round at each client", all);
      }
      left = clients;
      // What earlier tests left to the garbage collector does not count; finalizers run in a task of their own. And a client frees its
      // tensors after it has called onRound().
      gc();
      await setImmediate();
      gc();
      await setImmediate();
      counts.push(eg.memory().tensors);
      return {};
    },
  };
}

/**
 * Lets the deadline of the open round, or of its step, pass when the server has what the round is to be about; a deadline that is short
 * from the beginning passes before slow clients have sent that. The coordinator stops, and one with the same options goes on, which is
 * returned; for it, the deadline is in `ms` milliseconds.
 */
export async function passDeadline(coordinator, options, ms = 0) {
  const { servers, run } = options;
  await coordinator.stop();
  const connection = await connect({ servers });
  try {
    const kv = await new Kvm(jetstream(connection)).open(`edgegrad_${run}`);
    const entry = await kv.get("record");
    const record = { ...entry.json(), deadline: ms };
    await kv.update("record", JSON.stringify(record), entry.revision);
  } finally {
    await connection.close();
  }
  return serve(options);
}
