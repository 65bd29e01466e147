// The updates of one round: each client's first valid update is counted. The result depends only on the messages and their order, so a
// coordinator that reads the stream again gets the same.

import { Assembly, type InboxLimits, type Message } from "../update/assembly.js";
import { type Accepted, type Expected, type Reason, readUpdate } from "../update/decode.js";

/** Collects the updates of a round. */
export class Inbox {
  readonly #counted = new Map<string, Accepted>();
  readonly #refused = new Map<Reason, number>();
  readonly #assembly: Assembly;
  #selected: ReadonlySet<string>;
  #readTo = 0;

  constructor(
    readonly expected: Expected,
    limits: InboxLimits,
    selected: readonly string[],
  ) {
    this.#assembly = new Assembly(expected.round, limits);
    this.#selected = new Set(selected);
  }

  /** Changes which clients may send updates; counted updates stay counted. */
  select(clients: readonly string[]): void {
    this.#selected = new Set(clients);
  }

  /** The counted updates, in the order of the clients' names: sums of floats must not depend on the order of arrival. */
  get updates(): Accepted[] {
    return [...this.#counted.values()].sort((a, b) => (a.client < b.client ? -1 : 1));
  }

  /** Whether every selected client has been counted. */
  get isComplete(): boolean {
    return [...this.#selected].every((client) => this.#counted.has(client));
  }

  /** The number of refused updates by reason. */
  get refused(): Record<string, number> {
    return Object.fromEntries(this.#refused);
  }

  /** The sequence number of the last message. */
  get readTo(): number {
    return this.#readTo;
  }

  /** Takes the next message; returns the client that was counted, why it was refused, or null for a part. */
  async receive(message: Message): Promise<Accepted | Reason | null> {
    this.#readTo = Math.max(this.#readTo, message.seq);
    const result = await this.#resultOf(message);
    if (typeof result === "string") this.#refused.set(result, (this.#refused.get(result) ?? 0) + 1);
    else if (result !== null) this.#counted.set(result.client, result);
    return result;
  }

  async #resultOf(message: Message): Promise<Accepted | Reason | null> {
    const file = await this.#assembly.receive(message, (client) => {
      if (!this.#selected.has(client)) return "unselected";
      return this.#counted.has(client) ? "repeated" : null;
    });
    if (file === null || typeof file === "string") return file;
    return readUpdate(file.client, file.bytes, this.expected);
  }
}
