// A round without secure aggregation: the coordinator sees each update.

import { sleep } from "../../nats/waiting.js";
import { trainsCandidate } from "../rollout.js";
import type { Message } from "../update/assembly.js";
import type { Accepted, Expected } from "../update/decode.js";
import { fileOf } from "../update/encode.js";
import { aggregate, meanMetrics, updatesOf } from "./aggregate.js";
import type { Collected, Host } from "./collected.js";
import { Inbox, type Received } from "./inbox.js";
import { watchSilence } from "./silence.js";

/**
 * Reads updates until no more can come, or until the deadline has passed and enough are there. Returns null if the round was given up,
 * after writing that to the record.
 */
export async function collect(host: Host, signal: AbortSignal): Promise<Collected | null> {
  const { storage, limits, presence, expected, verdicts } = host;
  const { rollout, selected } = host.record().value;
  const isOfCandidate = (client: string) => trainsCandidate(rollout, client);
  const expectedOf = (client: string) =>
    host.candidate !== null && isOfCandidate(client) ? host.candidate : expected;
  const inbox = new Inbox(expected.round, expectedOf, limits, selected);
  const end = new AbortController();
  const abort = () => end.abort();
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  let tell = () => {};
  const upToDate = new Promise<void>((resolve) => {
    tell = () => {
      verdicts.ready();
      resolve();
    };
  });
  const receive = async (message: Message) => {
    judge(host, message, await inbox.receive(message));
    if (isOver(host, inbox)) abort();
  };
  const reading = storage.readUpdates(end.signal, presence.sent, receive, tell);
  void watchSilence(host, () => inbox.missing, end.signal);
  const watching = watchDeadline(host, inbox, Promise.race([upToDate, reading]), end.signal);
  try {
    await Promise.race([reading, watching]);
  } finally {
    abort();
    signal.removeEventListener("abort", abort);
    // Either may still be in a call to the server. Its failure can be ignored, because the next write of the record fails too.
    await Promise.allSettled([reading, watching]);
  }
  if (!signal.aborted && (await watching) === "too few") {
    await giveUp(host, inbox);
    return null;
  }
  const { updates, refused, readTo } = inbox;
  const all = groupOf(host, updates, expected);
  const own = groupOf(
    host,
    updates.filter(({ client }) => !isOfCandidate(client)),
    expected,
  );
  const { candidate } = host;
  const tried = updates.filter(({ client }) => isOfCandidate(client));
  return {
    ...own,
    clients: all.clients,
    samples: all.samples,
    candidate: candidate && groupOf(host, tried, candidate),
    refused,
    bytes: updates.reduce((sum, { bytes }) => sum + bytes.length, 0),
    readTo,
  };
}

/** The updates for one revision. */
function groupOf({ options, record, candidate }: Host, updates: Accepted[], expected: Expected) {
  const { strategy, privacy } = options;
  const noise = privacy && { privacy, expected: record().value.sampling.expected };
  // Of two groups, one may be too small for the strategy.
  const isEnough = candidate === null || updates.length >= Math.max(1, strategy.fewestUpdates);
  return {
    clients: updates.map(({ client }) => client),
    samples: updates.reduce((sum, { samples }) => sum + samples, 0),
    metrics: meanMetrics(updates),
    aggregate: () =>
      isEnough ? aggregate(strategy, updatesOf(updates, expected, noise), expected) : null,
  };
}

/** Whether no more updates can come, and there are enough. */
function isOver({ options }: Host, inbox: Inbox): boolean {
  const { privacy, minUpdates } = options;
  return inbox.isComplete && (privacy !== undefined || inbox.updates.length >= minUpdates);
}

/** Tells the client and the operator what has become of an update. */
function judge({ verdicts, reporter }: Host, message: Message, received: Received): void {
  if (received === null) return;
  const file = fileOf((name) => message.header(name));
  if ("counted" in received) {
    verdicts.settle(received.counted.client, file, { state: "counted" });
    return;
  }
  const { client, again, refused } = received;
  verdicts.settle(client, file, { state: "refused", ...refused, again });
  reporter.tell("refused", `${refused.message}.`, { client, reason: refused.reason });
}

/**
 * Resolves when the deadline has passed and enough updates are counted; until then, extends the deadline, as often as the options allow.
 * Resolves to "too few" if even after that there are too few. A coordinator that starts after the deadline decides once it has read all
 * messages.
 */
async function watchDeadline(
  host: Host,
  inbox: Inbox,
  upToDate: Promise<void>,
  signal: AbortSignal,
): Promise<"too few" | undefined> {
  const { options, reporter } = host;
  const { minUpdates, leastUpdates, maxExtensions, deadline } = options;
  await upToDate;
  if (isOver(host, inbox)) return;
  while (!signal.aborted) {
    await sleep(Math.max(0, host.left()), signal);
    // A private round must not depend on the number of updates.
    if (signal.aborted || options.privacy !== undefined) return;
    const updates = inbox.updates.length;
    if (updates >= minUpdates) return;
    const { value } = host.record();
    const { extensions } = value;
    if (extensions >= maxExtensions) return updates >= leastUpdates ? undefined : "too few";
    const counted = inbox.updates.map(({ client }) => client);
    const opening = host.opening(extensions + 1);
    const selected = [...new Set([...counted, ...(opening?.selected ?? value.selected)])].sort();
    await host.write({
      ...value,
      ...(opening && { sampling: opening.sampling }),
      selected,
      extensions: extensions + 1,
      deadline,
    });
    inbox.select(selected);
    const which = `extension ${extensions + 1} of ${maxExtensions}`;
    const message = `${updates} of at least ${minUpdates} updates at the deadline; ${which}.`;
    reporter.tell("extended", message, { updates });
  }
}

/** Ends a round without new weights, so that it is opened again. */
async function giveUp(host: Host, inbox: Inbox): Promise<void> {
  const { value } = host.record();
  const { leastUpdates, maxExtensions } = host.options;
  const updates = inbox.updates.length;
  await host.write({ ...value, state: "waiting", selected: [], attempt: value.attempt + 1 });
  const found = `${updates} of at least ${leastUpdates} updates after ${maxExtensions} extensions`;
  const refused = JSON.stringify(inbox.refused);
  const message = `${found}, refused ${refused}; the round is opened again.`;
  host.reporter.tell("givenUp", message, { updates });
  await host.storage.deleteUpdates(inbox.readTo);
}
