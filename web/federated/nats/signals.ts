// A coordinator's side of NATS messages that are not stored: signs of life, answers to clients, and the record for all that listen.

import type { MsgHdrs, NatsConnection } from "@nats-io/nats-core";
import { isName } from "../../nats/names.js";
import type { Sheet } from "../asks.js";
import { clientIn, inboxOf, type RunNames } from "../names.js";

// How long a client may take to answer a probe.
const kProbeMs = 2000;

/** The signals of one run. */
export class NatsSignals {
  constructor(
    readonly connection: NatsConnection,
    readonly names: RunNames,
    private readonly makeHeaders: () => MsgHdrs,
  ) {}

  /** The maximum size of a message in bytes. */
  get maxPayload(): number {
    return this.connection.info?.max_payload ?? 2 ** 20;
  }

  onHere(heard: (client: string, text: string) => void): void {
    this.connection.subscribe(this.names.presenceOf("*"), {
      callback: (error, message) => {
        if (error === null) heard(clientIn(message.subject), message.string());
      },
    });
  }

  ask(): void {
    this.#publish(this.names.who);
  }

  /** Answers requests of clients until the returned function is called. */
  answer(make: (client: string, sheet: Sheet) => Promise<Sheet | null>): () => void {
    const subscription = this.connection.subscribe(this.names.asksOf("*"), {
      callback: (error, { subject, reply = "", headers, data }) => {
        const client = clientIn(subject);
        // The server does not check whether a client may publish to the reply subject that it names.
        const isOwn = isName(client) && reply.startsWith(`${inboxOf(client)}.`);
        if (error !== null || !isOwn) return;
        void make(client, { headers: recordOf(headers), data }).then((answer) => {
          if (answer !== null) this.#publish(reply, answer);
        });
      },
    });
    return () => subscription.unsubscribe();
  }

  /** Asks a process of a client to announce itself. Resolves to false if there can be no such process, or if it does not answer in time. */
  async isThere(client: string, session: string): Promise<boolean> {
    // Both are names: a text with other characters could be more than a subject.
    // The server tells at once that nobody is subscribed. Nobody answers the request itself: clients may not publish to this inbox.
    const probe = this.connection.request(`${inboxOf(client)}.${session}`, "", {
      timeout: kProbeMs,
    });
    await probe.catch(() => {});
    return false;
  }

  /** Sends the record to all clients that listen. */
  announce(sheet: Sheet): void {
    // They ask for one that does not fit into a message.
    const fits = sheet.data.length <= this.maxPayload / 2;
    this.#publish(this.names.changed, fits ? sheet : { headers: {}, data: new Uint8Array(0) });
  }

  /** Calls a function when the connection is lost; it is made again by itself. */
  onLost(lost: () => void): void {
    void (async () => {
      for await (const { type } of this.connection.status()) if (type === "disconnect") lost();
    })();
  }

  close(): Promise<void> {
    return this.connection.close();
  }

  #publish(subject: string, sheet?: Sheet): void {
    if (this.connection.isClosed()) return;
    const headers = this.makeHeaders();
    for (const [name, value] of Object.entries(sheet?.headers ?? {})) headers.set(name, value);
    this.connection.publish(subject, sheet?.data ?? "", sheet && { headers });
  }
}

/** Returns headers as an object. */
export function recordOf(headers: MsgHdrs | undefined): Record<string, string> {
  return Object.fromEntries((headers?.keys() ?? []).map((key) => [key, headers?.get(key) ?? ""]));
}
