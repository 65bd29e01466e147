// A client's connection to a run in memory.

import { TemporarilyUnavailable } from "../client/link.js";
import { kRecordKey, type RunNames } from "../names.js";
import type { RunRecord } from "../record.js";
import type { StoredObject } from "../stored_object.js";
import { kPartHeader, kRoundHeader, type Part } from "../update/encode.js";
import { type MemoryRun, tell } from "./network.js";

const kPayload = 2 ** 20;

/** Thrown if no more messages of a client are stored. */
class Full extends Error {
  /** NATS's code for this error, by which the client recognizes it. */
  readonly code = 10077;
}

/** A client's connection to a run. */
export class MemoryLink {
  readonly maxPayload = kPayload;
  readonly #own: (() => void)[] = [];
  readonly #ids = new Set<string>();
  #isClosed = false;

  constructor(
    readonly run: MemoryRun,
    readonly names: RunNames,
    readonly name: string,
  ) {}

  async readRecord(): Promise<RunRecord | null> {
    const entry = this.run.entries.get(kRecordKey);
    return entry === undefined ? null : JSON.parse(entry.text);
  }

  onRecord(changed: () => void): void {
    this.run.changed.add(changed);
    this.#own.push(() => this.run.changed.delete(changed));
  }

  onWho(asked: () => void): void {
    this.run.who.add(asked);
    this.#own.push(() => this.run.who.delete(asked));
  }

  /** Nothing is forbidden here. */
  onForbidden(): void {}

  say(what = ""): void {
    if (!this.#isClosed) tell(this.run.here, this.name, what);
  }

  async readObject({ name }: StoredObject): Promise<Uint8Array> {
    const found = this.run.objects.get(name);
    if (found === undefined) throw new TemporarilyUnavailable();
    return found.bytes;
  }

  async send({ data, headers, id }: Part): Promise<void> {
    if (this.#ids.has(id)) return;
    const subject = this.names.updatesOf(this.name);
    const own = this.run.updates.filter((one) => one.subject === subject);
    if (own.length >= this.run.mostMessages) throw new Full();
    this.#ids.add(id);
    const header = (name: string) => (Object.hasOwn(headers, name) ? (headers[name] ?? "") : "");
    this.run.updates.push({ subject, seq: ++this.run.seq, data: data.slice(), header });
  }

  async hasSent(round: number): Promise<boolean> {
    const subject = this.names.updatesOf(this.name);
    const last = this.run.updates.filter((one) => one.subject === subject).at(-1);
    const [part, count] = last?.header(kPartHeader).split("/").map(Number) ?? [];
    const isLast = part !== undefined && count !== undefined && part === count - 1;
    return isLast && last?.header(kRoundHeader) === `${round}`;
  }

  async close(): Promise<void> {
    for (const off of this.#own) off();
    this.#isClosed = true;
  }
}
