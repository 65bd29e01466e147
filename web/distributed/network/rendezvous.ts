// How processes find each other: through the record of the group in a key-value bucket, as in torchelastic.

import type { KV } from "@nats-io/kv";
import { fail } from "../../errors/errors.js";
import { isConflict, isTransient } from "../../nats/failures.js";
import type { WakeSignal } from "../../nats/waiting.js";
import { kRecordKey } from "./names.js";
import { type GroupRecord, type Member, nextMove, parseRecord, type Sizes } from "./record.js";

// Processes announce when they have written the record; polling covers lost messages.
const kPollMs = 500;

/** What a rendezvous needs. */
export interface Meeting {
  readonly kv: KV;
  readonly sizes: Sizes;
  /** The time to wait for more members after the minimum number have joined, in milliseconds. */
  readonly lastCall: number;
  readonly wakeSignal: WakeSignal;
  /** Whether a process has been silent for too long. */
  isSilent(id: string): boolean;
  /** Tells the others that the record has changed. */
  tellChanged(): void;
}

/** Resolves to the record of a complete group with this process in it; throws InvalidArgument after the timeout. */
export async function meet(
  where: string,
  { kv, sizes, lastCall, wakeSignal, isSilent, tellChanged }: Meeting,
  self: Member,
  ms: number,
): Promise<GroupRecord> {
  const end = performance.now() + ms;
  let why = "the server does not answer";
  // The time since which the minimum number of members are present.
  let since: number | null = null;
  while (performance.now() < end) {
    try {
      const { record, revision } = await readRecord(kv);
      const isEnough = (record?.members.length ?? 0) >= sizes.minWorldSize;
      since = record?.isComplete === false && isEnough ? (since ?? performance.now()) : null;
      const isLastCall = since !== null && performance.now() - since >= lastCall;
      const move = nextMove(record, self, sizes, isSilent, isLastCall);
      if (move.type === "begin") return move.record;
      if (move.type === "write") {
        await write(kv, move.record, revision);
        tellChanged();
        continue;
      }
      why = move.why;
    } catch (error) {
      if (isConflict(error)) continue;
      if (!isTransient(error)) throw error;
      why = `the server does not answer: ${error}`;
    }
    const next = Math.min(end, since === null ? end : since + lastCall);
    await wakeSignal.wait(Math.min(kPollMs, Math.max(1, next - performance.now())));
  }
  return fail("InvalidArgument", where, `no group after ${ms} ms: ${why}.`);
}

/** Removes a process from the record, so that others need not wait until they notice that it is gone. */
export async function depart(kv: KV, id: string): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const { record, revision } = await readRecord(kv);
    if (record === null || !record.members.some((member) => member.id === id)) return;
    const members = record.members.filter((member) => member.id !== id);
    try {
      return await write(kv, { ...record, members }, revision);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

/** Returns the record, or null if it does not exist, and the revision that the next write must name. */
export async function readRecord(
  kv: KV,
): Promise<{ record: GroupRecord | null; revision: number }> {
  const entry = await kv.get(kRecordKey);
  if (entry === null || entry.operation !== "PUT") {
    return { record: null, revision: entry?.revision ?? 0 };
  }
  return { record: parseRecord(entry.string()), revision: entry.revision };
}

async function write(kv: KV, record: GroupRecord, revision: number): Promise<void> {
  await kv.put(kRecordKey, JSON.stringify(record), { previousSeq: revision });
}
