// The storage of coordinators in JetStream: the record and the history in a key-value bucket, weights in an object bucket, and updates in
// a stream.

import type { JetStreamClient, JetStreamManager, StoredMsg } from "@nats-io/jetstream";
import type { KV } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/nats-core";
import type { ObjectStore } from "@nats-io/obj";
import { openOrCreate } from "../../nats/buckets.js";
import { isConflict } from "../../nats/failures.js";
import { importPackage, loadClientPackages, loadKeyValue } from "../../nats/packages.js";
import type { WakeSignal } from "../../nats/waiting.js";
import { digestOf } from "../digest.js";
import {
  type Control,
  controlFrom,
  historyKey,
  kControlKey,
  kLeaderKey,
  kRecordKey,
  kRolloutKey,
  type RunNames,
} from "../names.js";
import { parseRecord, type RoundSummary, type RunRecord } from "../record.js";
import type { RolloutWish } from "../rollout.js";
import type { StoredObject } from "../stored_object.js";
import type { Message } from "../update/assembly.js";
import type { Part } from "../update/encode.js";
import { readObject } from "./objects.js";

const kNanosPerMs = 1e6;
// A client that gets no acknowledgment repeats its message for less than this time.
const kRepeatedWithinMs = 10 * 60 * 1000;

// Clients announce that they have sent an update; polling finds updates whose announcement was lost.
const kPollMs = 250;
const kMostAtOnce = 16;
// The lease and other runs are written at the same time.
const kSpareBytes = 16 * 1024;

/** A value with the revision that the next write must name. */
export interface Revised<T> {
  readonly value: T;
  readonly revision: number;
  /** When it was written, in milliseconds by the clock of the server. */
  readonly time: number;
}

/** How much the server stores. */
export interface StreamLimits {
  readonly messages: number;
  /** How many bytes the server reserves for updates; undefined: none. */
  readonly streamBytes: number | undefined;
  /** The number of servers of a cluster that store each message. */
  readonly replicas: number;
}

let nextId = 1;

/** Thrown if the account has no room for the record. */
class NoRoom extends Error {
  /** NATS's code for this error, by which the coordinator recognizes it. */
  readonly code = 10002;
  override readonly message = "the account's limit of storage is reached";
}

/** The storage of one run. */
export class Storage {
  private constructor(
    readonly names: RunNames,
    private readonly js: JetStreamClient,
    private readonly makeHeaders: typeof import("@nats-io/nats-core").headers,
    private readonly jsm: JetStreamManager,
    private readonly kv: KV,
    private readonly objects: ObjectStore,
    /** Whether the account has a limit of storage. */
    private readonly isLimited: boolean,
  ) {}

  /** Opens the storage of a run, and creates what does not exist. */
  static async open(
    where: string,
    connection: NatsConnection,
    names: RunNames,
    { messages, streamBytes, replicas }: StreamLimits,
  ): Promise<Storage> {
    const { core, jetstream } = await loadClientPackages(where);
    const kv = await loadKeyValue(where);
    const obj = await importPackage(where, () => import("@nats-io/obj"));
    const js = jetstream.jetstream(connection);
    const jsm = await jetstream.jetstreamManager(connection);
    const bucket = { history: 1, allow_direct: true, replicas };
    const values = await openOrCreate(() => new kv.Kvm(js).create(names.bucket, bucket));
    const objects = await openOrCreate(() => new obj.Objm(js).create(names.bucket, { replicas }));
    const stream = {
      name: names.updates,
      subjects: [names.updatesOf("*")],
      // Until the round is over, the server rejects what one client sends beyond this.
      max_msgs_per_subject: messages,
      discard: jetstream.DiscardPolicy.New,
      discard_new_per_subject: true,
      max_bytes: streamBytes ?? -1,
      num_replicas: replicas,
      duplicate_window: kRepeatedWithinMs * kNanosPerMs,
      allow_direct: true,
    };
    try {
      await openOrCreate(() => jsm.streams.add(stream));
    } catch (error) {
      // The stream exists with other limits.
      const kNameInUse = 10058;
      if ((error as { code?: unknown }).code !== kNameInUse) throw error;
      await jsm.streams.update(names.updates, stream);
    }
    const isLimited = (await jsm.getAccountInfo()).limits.max_storage > 0;
    return new Storage(names, js, core.headers, jsm, values, objects, isLimited);
  }

  /** Returns the record, or null if the run has not begun. */
  async readRecord(): Promise<Revised<RunRecord> | null> {
    const entry = await this.kv.get(kRecordKey);
    if (entry === null || entry.operation !== "PUT") return null;
    const value = parseRecord("serve", this.names.run, entry.value);
    return { value, revision: entry.revision, time: entry.created.getTime() };
  }

  /** Writes the first record; returns its revision, or null if another coordinator has done so. */
  async createRecord(record: RunRecord): Promise<number | null> {
    try {
      return await this.kv.create(kRecordKey, JSON.stringify(record));
    } catch (error) {
      if (isConflict(error)) return null;
      throw error;
    }
  }

  /** Replaces the record and returns its revision; throws a conflict if it has changed since it was read. */
  async writeRecord(record: RunRecord, revision: number): Promise<number> {
    const text = JSON.stringify(record);
    // A server whose account has no room drops the old value, too (2.9.10).
    if (this.isLimited) await this.#checkRoom(text.length);
    return this.kv.update(kRecordKey, text, revision);
  }

  async #checkRoom(bytes: number): Promise<void> {
    const { storage, limits } = await this.jsm.getAccountInfo();
    if (storage + bytes + kSpareBytes > limits.max_storage) throw new NoRoom();
  }

  /** Stores a part of a client's update, unless it is stored already. */
  async storePart(client: string, { data, headers, id }: Part): Promise<void> {
    const made = this.makeHeaders();
    for (const [name, value] of Object.entries(headers)) made.set(name, value);
    const publish = (msgID: string) =>
      this.js.publish(this.names.updatesOf(client), data, { msgID, headers: made });
    const { duplicate, seq } = await publish(id);
    // A server whose account has no room removes a message again but keeps its id (2.9.10).
    if (duplicate && (await this.#updateAt(seq)) === null) await publish(`${id}/${nextId++}`);
  }

  /** Stores a round's entry in the history; this is idempotent. */
  async writeHistory(summary: RoundSummary): Promise<void> {
    await this.kv.put(historyKey(summary.round), JSON.stringify(summary));
  }

  /** Returns the entries of the history from the round `first` up to another one. */
  async readHistory(rounds: number, first = 1): Promise<RoundSummary[]> {
    const found: RoundSummary[] = [];
    for (let round = first; round <= rounds; round++) {
      const entry = await this.kv.get(historyKey(round));
      if (entry !== null) found.push(entry.json<RoundSummary>());
    }
    return found;
  }

  /** Returns what the coordinators of the run are to do. */
  async readControl(): Promise<Control> {
    return controlFrom((await this.kv.get(kControlKey))?.string());
  }

  /** Returns the revision that an operator has rolled out last; null if there is none. */
  async readRollout(): Promise<RolloutWish | null> {
    const entry = await this.kv.get(kRolloutKey);
    return entry === null || entry.operation !== "PUT" ? null : entry.json<RolloutWish>();
  }

  /** Returns the lease, or null if nobody holds it. */
  async readLease(): Promise<Revised<string> | null> {
    const entry = await this.kv.get(kLeaderKey);
    if (entry === null || entry.operation !== "PUT") return null;
    const { revision, created } = entry;
    return { value: entry.string(), revision, time: created.getTime() };
  }

  /** Writes the lease and returns its revision; null if another coordinator was faster. */
  async writeLease(holder: string, revision: number | null): Promise<number | null> {
    try {
      if (revision === null) return await this.kv.create(kLeaderKey, holder);
      return await this.kv.update(kLeaderKey, holder, revision);
    } catch (error) {
      if (isConflict(error)) return null;
      throw error;
    }
  }

  /** Releases the lease. */
  async deleteLease(revision: number): Promise<void> {
    try {
      await this.kv.delete(kLeaderKey, { previousSeq: revision });
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }

  /** Stores bytes under a unique name. */
  async putObject(name: string, bytes: Uint8Array): Promise<StoredObject> {
    const { nuid, chunks, size } = await this.objects.putBlob({ name }, bytes);
    return { name, nuid, chunks, size, digest: await digestOf(bytes) };
  }

  /** Returns the bytes of an object. */
  readObject(where: string, object: StoredObject): Promise<Uint8Array> {
    return readObject(where, this.jsm, this.names, object);
  }

  /** The sequence number of the object store's last message, for deleteObjectsBut(). */
  async lastOfObjects(): Promise<number> {
    const { state } = await this.jsm.streams.info(this.names.objects);
    return state.last_seq;
  }

  /** Deletes objects. */
  async deleteObjects(objects: readonly StoredObject[]): Promise<void> {
    for (const filter of objects.flatMap((object) => this.#subjectsOf(object))) {
      await this.jsm.streams.purge(this.names.objects, { filter });
    }
  }

  /**
   * Deletes all objects except those in `kept`, up to a message of the object store: they were left by a coordinator that was killed. Newer
   * objects may belong to a coordinator that has taken over since.
   */
  async deleteObjectsBut(kept: readonly StoredObject[], upTo: number): Promise<void> {
    const subjects = kept.flatMap((object) => this.#subjectsOf(object));
    const query = { subjects_filter: `$O.${this.names.bucket}.>` };
    const { state } = await this.jsm.streams.info(this.names.objects, query);
    for (const filter of Object.keys(state.subjects ?? {})) {
      if (subjects.includes(filter)) continue;
      await this.jsm.streams.purge(this.names.objects, { filter, seq: upTo + 1 });
    }
  }

  /** The subjects of an object's chunks and of its metadata. */
  #subjectsOf({ name, nuid }: StoredObject): string[] {
    const prefix = `$O.${this.names.bucket}`;
    const encoded = btoa(name).replaceAll("+", "-").replaceAll("/", "_");
    return [`${prefix}.C.${nuid}`, `${prefix}.M.${encoded}`];
  }

  /** Deletes the messages of the stream up to a sequence number. */
  async deleteUpdates(readTo: number): Promise<void> {
    if (readTo > 0) await this.jsm.streams.purge(this.names.updates, { seq: readTo + 1 });
  }

  /**
   * Calls a function with each message of the stream, from the first stored one, until the signal is aborted. It uses no consumer, which
   * could be lost with a server. Instead it requests messages by sequence number, several at a time while there are more; gaps are what the
   * server has removed for lack of room. `upToDate` is called whenever all messages have been read.
   */
  async readUpdates(
    signal: AbortSignal,
    wakeSignal: WakeSignal,
    receive: (message: Message) => Promise<void>,
    upToDate: () => void = () => {},
  ): Promise<void> {
    const { state } = await this.jsm.streams.info(this.names.updates);
    let next = Math.max(1, state.first_seq);
    let atOnce = 1;
    while (!signal.aborted) {
      const seqs = Array.from({ length: atOnce }, (_, i) => next + i);
      const found = await Promise.all(seqs.map((seq) => this.#updateAt(seq)));
      const missing = found.indexOf(null);
      const messages = found.slice(0, missing === -1 ? atOnce : missing) as StoredMsg[];
      for (const { subject, seq, data, header } of messages) {
        const read = (name: string) => header.get(name);
        if (!signal.aborted) await receive({ subject, seq, data, header: read });
      }
      next += messages.length;
      atOnce = messages.length === atOnce ? Math.min(2 * atOnce, kMostAtOnce) : 1;
      if (messages.length > 0) continue;
      const after = await this.#updateAfter(next);
      if (after !== null) {
        next = after;
        continue;
      }
      upToDate();
      await wakeSignal.wait(kPollMs, signal);
    }
  }

  /** The sequence number of the first message from a number on; null if there is none. */
  async #updateAfter(seq: number): Promise<number | null> {
    const query = { seq, next_by_subj: this.names.updatesOf("*") };
    const message = await this.jsm.direct.getMessage(this.names.updates, query);
    return message?.seq ?? null;
  }

  #updateAt(seq: number): Promise<StoredMsg | null> {
    return this.jsm.direct.getMessage(this.names.updates, { seq });
  }
}
