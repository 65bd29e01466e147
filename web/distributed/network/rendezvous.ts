// How processes find each other: the record of the group in a key-value bucket, as torchelastic keeps it.

import type { KV } from "@nats-io/kv";
import { fail } from "../../errors/errors.js";
import { isConflict, isPassing } from "../../nats/failures.js";
import type { Bell } from "../../nats/waiting.js";
import { kRecordKey } from "./names.js";
import { type GroupRecord, type Member, nextMove, parseRecord, type Sizes } from "./record.js";

// Processes tell when they have written the record; this is for messages that are lost.
const kPollMs = 500;

/** What meets in one place. */
export interface Meeting {
  readonly kv: KV;
  readonly sizes: Sizes;
  /** How long to wait for more members when the fewest are there, in milliseconds. */
  readonly lastCall: number;
  readonly bell: Bell;
  /** Whether a process has not been heard of for too long. */
  isSilent(id: string): boolean;
  /** Tells the others that the record has changed. */
  tellChanged(): void;
}

/** Resolves to the record of a complete group with this process in it; throws InvalidArgument if there is none in time. */
export async function meet(
  where: string,
  { kv, sizes, lastCall, bell, isSilent, tellChanged }: Meeting,
  self: Member,
  ms: number,
): Promise<GroupRecord> {
  const end = performance.now() + ms;
  let why = "the server does not answer";
  // Since when the fewest members are there.
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
      if (!isPassing(error)) throw error;
      why = `the server does not answer: ${error}`;
    }
    const next = Math.min(end, since === null ? end : since + lastCall);
    await bell.wait(Math.min(kPollMs, Math.max(1, next - performance.now())));
  }
  return fail("InvalidArgument", where, `no group after ${ms} ms: ${why}.`);
}

/** Takes a process off the record, so that others need not wait until they notice that it has gone. */
export async function depart(kv: KV, id: string): Promise<void> {
  for (let tries = 0; tries < 20; tries++) {
    const { record, revision } = await readRecord(kv);
    if (record === null || !record.members.some((one) => one.id === id)) return;
    const members = record.members.filter((one) => one.id !== id);
    try {
      return await write(kv, { ...record, members }, revision);
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }
}

/** Returns the record, or null if there is none, and the revision that the next write must name. */
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
