// A round without secure aggregation: the coordinator sees each update.

import { sleep } from "../../nats/waiting.js";
import type { Message } from "../update/assembly.js";
import { aggregate, meanMetrics, updatesOf } from "./aggregate.js";
import type { Collected, Host } from "./collected.js";
import { Inbox } from "./inbox.js";

/** Reads updates until every selected client is counted, or until the deadline has passed and enough are. */
export async function collect(host: Host, signal: AbortSignal): Promise<Collected> {
  const { storage, limits, presence, expected } = host;
  const inbox = new Inbox(expected, limits, host.record().value.selected);
  const end = new AbortController();
  const abort = () => end.abort();
  signal.addEventListener("abort", abort);
  let tell = () => {};
  const upToDate = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const receive = async (message: Message) => {
    await inbox.receive(message);
    if (inbox.isComplete) abort();
  };
  const reading = storage.readUpdates(end.signal, presence.sent, receive, tell);
  const watching = watchDeadline(host, inbox, Promise.race([upToDate, reading]), end.signal);
  try {
    await Promise.race([reading, watching]);
  } finally {
    abort();
    signal.removeEventListener("abort", abort);
    // Either may still be in a call to the server. Its failure can be ignored, because the next write of the record fails too.
    await Promise.allSettled([reading, watching]);
  }
  const { updates, refused, readTo } = inbox;
  const { strategy, privacy } = host.options;
  const noise = privacy && { privacy, expected: host.record().value.sampling.expected };
  return {
    clients: updates.map(({ client }) => client),
    samples: updates.reduce((sum, { samples }) => sum + samples, 0),
    metrics: meanMetrics(updates),
    refused,
    bytes: updates.reduce((sum, { bytes }) => sum + bytes.length, 0),
    readTo,
    aggregate: () => aggregate(strategy, updatesOf(updates, expected, noise), expected),
  };
}

/**
 * Resolves when the deadline has passed and enough updates are counted; until then, extends the deadline. A coordinator that starts after
 * the deadline decides once it has read all messages.
 */
async function watchDeadline(
  host: Host,
  inbox: Inbox,
  upToDate: Promise<void>,
  signal: AbortSignal,
): Promise<void> {
  const { options } = host;
  await upToDate;
  if (inbox.isComplete) return;
  for (let attempt = 1; !signal.aborted; attempt++) {
    await sleep(Math.max(0, host.record().value.deadline - Date.now()), signal);
    // A private round must not depend on the number of updates.
    if (signal.aborted || options.privacy !== undefined) return;
    if (inbox.updates.length >= options.minUpdates) return;
    const opening = host.opening(attempt);
    if (opening === null) {
      await host.waitForClients(signal);
      continue;
    }
    const { value } = host.record();
    const counted = inbox.updates.map(({ client }) => client);
    const selected = [...new Set([...counted, ...opening.selected])].sort();
    await host.write({ ...value, ...opening, selected, opened: value.opened });
    inbox.select(selected);
  }
}
