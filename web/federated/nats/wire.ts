// A client's connection to NATS. It publishes to its two subjects and listens to three; it uses nothing of JetStream.

import type { MsgHdrs, NatsConnection } from "@nats-io/nats-core";
import { isForbidden } from "../../nats/failures.js";
import { sleep } from "../../nats/waiting.js";
import type { Sheet } from "../asks.js";
import { inboxOf, type RunNames } from "../names.js";
import { recordOf } from "./signals.js";

const kAnswerMs = 3000;
const kCloseMs = 250;

/** A client's connection to a run. */
export class NatsWire {
  constructor(
    readonly connection: NatsConnection,
    readonly names: RunNames,
    readonly name: string,
    private readonly makeHeaders: () => MsgHdrs,
  ) {}

  /** The maximum size of a message in bytes. */
  get maxPayload(): number {
    return this.connection.info?.max_payload ?? 2 ** 20;
  }

  /** Calls a function when a coordinator asks whether this process is there. */
  onProbe(session: string, asked: () => void): void {
    this.connection.subscribe(`${inboxOf(this.name)}.${session}`, {
      callback: (error) => {
        if (error === null) asked();
      },
    });
  }

  /** Asks the coordinator; rejects with a transient error if none leads. */
  async ask({ headers, data }: Sheet): Promise<Sheet> {
    const made = this.makeHeaders();
    for (const [name, value] of Object.entries(headers)) made.set(name, value);
    const subject = this.names.asksOf(this.name);
    const options = { headers: made, timeout: kAnswerMs };
    const answer = await this.connection.request(subject, data, options);
    return { headers: recordOf(answer.headers), data: answer.data };
  }

  /** Calls a function when a coordinator has written the record, with the record if it is small. */
  onRecord(changed: (sheet: Sheet) => void): void {
    this.connection.subscribe(this.names.changed, {
      callback: (error, { headers, data }) => {
        if (error === null) changed({ headers: recordOf(headers), data });
      },
    });
  }

  /** Calls a function when a coordinator asks which clients are present. */
  onWho(asked: () => void): void {
    this.connection.subscribe(this.names.who, {
      callback: (error) => {
        if (error === null) asked();
      },
    });
  }

  /** Calls a function if the server denies a subject; this is the only report of a denied subscription. */
  onForbidden(heard: (error: Error) => void): void {
    void (async () => {
      for await (const status of this.connection.status()) {
        if (status.type === "error" && isForbidden(status.error)) heard(status.error);
      }
    })();
  }

  /** Calls a function when the connection has been made again, after which messages may be missing. */
  onBack(heard: () => void): void {
    void (async () => {
      for await (const { type } of this.connection.status()) if (type === "reconnect") heard();
    })();
  }

  /** Announces that this client is present or leaves. */
  say(what: string): void {
    if (!this.connection.isClosed()) {
      this.connection.publish(this.names.presenceOf(this.name), what);
    }
  }

  /** Closes the connection after pending messages are sent, or soon if the server is unavailable. */
  async close(): Promise<void> {
    await Promise.race([this.connection.flush().catch(() => {}), sleep(kCloseMs)]);
    await this.connection.close();
  }
}
