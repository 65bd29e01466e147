// The storage of coordinators, in memory.

import type { WakeSignal } from "../../nats/waiting.js";
import { digestOf } from "../digest.js";
import { type Control, historyKey, kLeaderKey, kRecordKey, type RunNames } from "../names.js";
import { ObjectGone } from "../nats/objects.js";
import type { Revised, StreamLimits } from "../nats/storage.js";
import { parseRecord, type RoundSummary, type RunRecord } from "../record.js";
import type { RolloutWish } from "../rollout.js";
import type { StoredObject } from "../stored_object.js";
import type { Message } from "../update/assembly.js";
import type { Part } from "../update/encode.js";
import type { MemoryRun } from "./network.js";

const kPollMs = 1000;

/** Thrown if a value has changed since it was read. */
class Conflict extends Error {
  /** NATS's code for this error, by which the coordinator recognizes it. */
  readonly code = 10071;
}

/** Thrown if no more messages of a client are stored. */
class Full extends Error {
  /** NATS's code for this error, by which the coordinator recognizes it. */
  readonly code = 10077;
  override readonly message = "maximum messages per subject exceeded";
}

/** The storage of one run. */
export class MemoryStorage {
  constructor(
    readonly run: MemoryRun,
    private readonly names: RunNames,
    { messages }: Pick<StreamLimits, "messages">,
  ) {
    run.mostMessages = messages;
  }

  async readRecord(): Promise<Revised<RunRecord> | null> {
    const entry = this.run.entries.get(kRecordKey);
    if (entry === undefined) return null;
    const bytes = new TextEncoder().encode(entry.text);
    return { ...entry, value: parseRecord("serve", this.names.run, bytes) };
  }

  async createRecord(record: RunRecord): Promise<number | null> {
    if (this.run.entries.has(kRecordKey)) return null;
    return this.#write(kRecordKey, JSON.stringify(record));
  }

  async writeRecord(record: RunRecord, revision: number): Promise<number> {
    if (this.run.entries.get(kRecordKey)?.revision !== revision) throw new Conflict();
    return this.#write(kRecordKey, JSON.stringify(record));
  }

  async storePart(client: string, { data, headers, id }: Part): Promise<void> {
    if (this.run.ids.has(id)) return;
    const subject = this.names.updatesOf(client);
    const own = this.run.updates.filter((update) => update.subject === subject);
    if (own.length >= this.run.mostMessages) throw new Full();
    this.run.ids.add(id);
    const header = (name: string) => (Object.hasOwn(headers, name) ? (headers[name] ?? "") : "");
    this.run.updates.push({ subject, seq: ++this.run.seq, data, header });
  }

  async writeHistory(summary: RoundSummary): Promise<void> {
    this.#write(historyKey(summary.round), JSON.stringify(summary));
  }

  async readHistory(rounds: number, first = 1): Promise<RoundSummary[]> {
    const found = Array.from({ length: Math.max(0, rounds - first + 1) }, (_, i) =>
      this.run.entries.get(historyKey(first + i)),
    );
    return found.filter((object) => object !== undefined).map(({ text }) => JSON.parse(text));
  }

  /** Nobody else controls a run in memory. */
  async readControl(): Promise<Control> {
    return "running";
  }

  /** Nor does anybody roll out revisions. */
  async readRollout(): Promise<RolloutWish | null> {
    return null;
  }

  async readLease(): Promise<Revised<string> | null> {
    const entry = this.run.entries.get(kLeaderKey);
    return entry === undefined ? null : { ...entry, value: entry.text };
  }

  async writeLease(holder: string, revision: number | null): Promise<number | null> {
    const found = this.run.entries.get(kLeaderKey)?.revision ?? null;
    return found === revision ? this.#write(kLeaderKey, holder) : null;
  }

  async deleteLease(revision: number): Promise<void> {
    if (this.run.entries.get(kLeaderKey)?.revision === revision) {
      this.run.entries.delete(kLeaderKey);
    }
  }

  async putObject(name: string, bytes: Uint8Array): Promise<StoredObject> {
    this.run.objects.set(name, { bytes, seq: ++this.run.seq });
    return { name, nuid: name, chunks: 1, size: bytes.length, digest: await digestOf(bytes) };
  }

  async readObject(_where: string, { name }: StoredObject): Promise<Uint8Array> {
    const found = this.run.objects.get(name);
    if (found === undefined) throw new ObjectGone(name);
    return found.bytes;
  }

  async lastOfObjects(): Promise<number> {
    return this.run.seq;
  }

  async deleteObjects(objects: readonly StoredObject[]): Promise<void> {
    for (const { name } of objects) this.run.objects.delete(name);
  }

  async deleteObjectsBut(kept: readonly StoredObject[], upTo: number): Promise<void> {
    const names = new Set(kept.map(({ name }) => name));
    for (const [name, { seq }] of this.run.objects) {
      if (!names.has(name) && seq <= upTo) this.run.objects.delete(name);
    }
  }

  async deleteUpdates(readTo: number): Promise<void> {
    this.run.updates = this.run.updates.filter(({ seq }) => seq > readTo);
  }

  async readUpdates(
    signal: AbortSignal,
    wakeSignal: WakeSignal,
    receive: (message: Message) => Promise<void>,
    upToDate: () => void = () => {},
  ): Promise<void> {
    let last = 0;
    while (!signal.aborted) {
      const next = this.run.updates.find(({ seq }) => seq > last);
      if (next === undefined) {
        upToDate();
        await wakeSignal.wait(kPollMs, signal);
        continue;
      }
      last = next.seq;
      await receive(next);
    }
  }

  #write(key: string, text: string): number {
    const revision = ++this.run.seq;
    this.run.entries.set(key, { text, revision, time: performance.now() });
    return revision;
  }
}
