// What a client asks of the server, and sends to it. It makes no consumers and writes to one subject for updates, so that permissions can
// forbid the rest.

import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { isForbidden, isMissing, isPassing } from "../../nats/failures.js";
import { loadClientPackages } from "../../nats/packages.js";
import { sleep } from "../../nats/waiting.js";
import { kRecordKey, type RunNames } from "../names.js";
import { ObjectGone, readObject } from "../nats/objects.js";
import type { kGone, kSent } from "../presence_messages.js";
import { parseRecord, type RunRecord } from "../record.js";
import type { StoredObject } from "../stored_object.js";
import { kPartHeader, kRoundHeader, type Part } from "../update/encode.js";

const kAckTimeoutMs = 3000;
// A server that has no such stream does not answer at all, and before a run begins there is none.
const kRecordTimeoutMs = 1000;
const kCloseMs = 250;

/** Thrown if something cannot be read now: the server is away, or the object has been replaced. */
export class NotNow extends Error {}

async function now<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    throw isPassing(error) || error instanceof ObjectGone ? new NotNow() : error;
  }
}

/** A client's connection to a run. */
export class Link {
  private constructor(
    readonly connection: NatsConnection,
    readonly names: RunNames,
    readonly name: string,
    private readonly js: JetStreamClient,
    private readonly jsm: JetStreamManager,
    private readonly records: JetStreamManager,
    private readonly makeHeaders: typeof import("@nats-io/nats-core").headers,
  ) {}

  static async open(connection: NatsConnection, names: RunNames, name: string): Promise<Link> {
    const { core, jetstream } = await loadClientPackages("join");
    const js = jetstream.jetstream(connection, { timeout: kAckTimeoutMs });
    // The check would ask for the account, which clients need not see.
    const manager = (timeout: number) =>
      jetstream.jetstreamManager(connection, { checkAPI: false, timeout });
    const jsm = await manager(kAckTimeoutMs);
    const records = await manager(kRecordTimeoutMs);
    return new Link(connection, names, name, js, jsm, records, core.headers);
  }

  /** Ends it, when what was said has been sent, or soon if the server is away. */
  async close(): Promise<void> {
    await Promise.race([this.connection.flush().catch(() => {}), sleep(kCloseMs)]);
    await this.connection.close();
  }

  /** The most bytes of a message. */
  get maxPayload(): number {
    return this.connection.info?.max_payload ?? 2 ** 20;
  }

  /** Returns the record; null if the run has not begun, or the server does not answer. */
  async readRecord(): Promise<RunRecord | null> {
    const { bucket, keys } = this.names;
    try {
      const query = { last_by_subj: `$KV.${bucket}.${kRecordKey}` };
      const message = await this.records.direct.getMessage(keys, query);
      return message === null ? null : parseRecord(message.data);
    } catch (error) {
      if (isPassing(error) || isMissing(error)) return null;
      throw error;
    }
  }

  /** Calls a function when a coordinator has changed the record. */
  onRecord(changed: () => void): void {
    this.#on(this.names.changed, changed);
  }

  /** Calls a function when a coordinator asks who is there. */
  onWho(asked: () => void): void {
    this.#on(this.names.who, asked);
  }

  /** Calls a function if the server forbids a subject, which for subscriptions it says in no other way. */
  onForbidden(heard: (error: Error) => void): void {
    void (async () => {
      for await (const status of this.connection.status()) {
        if (status.type === "error" && isForbidden(status.error)) heard(status.error);
      }
    })();
  }

  #on(subject: string, heard: () => void): void {
    const callback = (error: Error | null) => {
      if (error === null) heard();
    };
    this.connection.subscribe(subject, { callback });
  }

  /** Says that this client is there, and what else there is to say. */
  say(what: "" | typeof kGone | typeof kSent = ""): void {
    if (!this.connection.isClosed()) {
      this.connection.publish(this.names.presenceOf(this.name), what);
    }
  }

  /** Returns the bytes of an object; throws NotNow. */
  readObject(object: StoredObject): Promise<Uint8Array> {
    return now(readObject("join", this.jsm, this.names, object));
  }

  /** Stores a part of an update; a part that is stored already is not stored again. */
  async send({ data, headers, id }: Part): Promise<void> {
    const made = this.makeHeaders();
    for (const [name, value] of Object.entries(headers)) made.set(name, value);
    await this.js.publish(this.names.updatesOf(this.name), data, { msgID: id, headers: made });
  }

  /** Whether the server has this client's update of a round, from before the client was started; throws NotNow. */
  async hasSent(round: number): Promise<boolean> {
    const query = { last_by_subj: this.names.updatesOf(this.name) };
    const last = await now(this.jsm.direct.getMessage(this.names.updates, query));
    const [part, count] = last?.header.get(kPartHeader).split("/").map(Number) ?? [];
    const isLast = part !== undefined && count !== undefined && part === count - 1;
    return isLast && last?.header.get(kRoundHeader) === `${round}`;
  }
}
