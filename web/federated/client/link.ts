// A client's requests to the server. It creates no consumers and publishes updates to one subject, so that permissions can forbid
// everything else.

import type { JetStreamClient, JetStreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { isForbidden, isMissing, isTransient } from "../../nats/failures.js";
import { loadClientPackages } from "../../nats/packages.js";
import { sleep } from "../../nats/waiting.js";
import { kRecordKey, type RunNames } from "../names.js";
import { ObjectGone, readObject } from "../nats/objects.js";
import type { kGone, kSent } from "../presence_messages.js";
import { parseRecord, type RunRecord } from "../record.js";
import type { StoredObject } from "../stored_object.js";
import { kPartHeader, kRoundHeader, type Part } from "../update/encode.js";

const kAckTimeoutMs = 3000;
// Before a run begins its stream does not exist, and then the server does not answer at all.
const kRecordTimeoutMs = 1000;
const kCloseMs = 250;

/** Thrown if something cannot be read at the moment: the server is unavailable, or the object has been replaced. */
export class TemporarilyUnavailable extends Error {}

async function orUnavailable<T>(read: Promise<T>): Promise<T> {
  try {
    return await read;
  } catch (error) {
    throw isTransient(error) || error instanceof ObjectGone ? new TemporarilyUnavailable() : error;
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
    // The check would request information on the account, which clients need no permission for.
    const manager = (timeout: number) =>
      jetstream.jetstreamManager(connection, { checkAPI: false, timeout });
    const jsm = await manager(kAckTimeoutMs);
    const records = await manager(kRecordTimeoutMs);
    return new Link(connection, names, name, js, jsm, records, core.headers);
  }

  /** Closes the connection after pending messages are sent, or soon if the server is unavailable. */
  async close(): Promise<void> {
    await Promise.race([this.connection.flush().catch(() => {}), sleep(kCloseMs)]);
    await this.connection.close();
  }

  /** The maximum size of a message in bytes. */
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
      if (isTransient(error) || isMissing(error)) return null;
      throw error;
    }
  }

  /** Calls a function when a coordinator changes the record. */
  onRecord(changed: () => void): void {
    this.#on(this.names.changed, changed);
  }

  /** Calls a function when a coordinator asks which clients are present. */
  onWho(asked: () => void): void {
    this.#on(this.names.who, asked);
  }

  /** Calls a function if the server denies a subject; this is the only report of a denied subscription. */
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

  /** Announces that this client is present, has sent an update or leaves. */
  say(what: "" | typeof kGone | typeof kSent = ""): void {
    if (!this.connection.isClosed()) {
      this.connection.publish(this.names.presenceOf(this.name), what);
    }
  }

  /** Returns the bytes of an object; throws TemporarilyUnavailable. */
  readObject(object: StoredObject): Promise<Uint8Array> {
    return orUnavailable(readObject("join", this.jsm, this.names, object));
  }

  /** Stores a part of an update, unless it is stored already. */
  async send({ data, headers, id }: Part): Promise<void> {
    const made = this.makeHeaders();
    for (const [name, value] of Object.entries(headers)) made.set(name, value);
    await this.js.publish(this.names.updatesOf(this.name), data, { msgID: id, headers: made });
  }

  /** Whether the server already has this client's update of a round, from before a restart; throws TemporarilyUnavailable. */
  async hasSent(round: number): Promise<boolean> {
    const query = { last_by_subj: this.names.updatesOf(this.name) };
    const last = await orUnavailable(this.jsm.direct.getMessage(this.names.updates, query));
    const [part, count] = last?.header.get(kPartHeader).split("/").map(Number) ?? [];
    const isLast = part !== undefined && count !== undefined && part === count - 1;
    return isLast && last?.header.get(kRoundHeader) === `${round}`;
  }
}
