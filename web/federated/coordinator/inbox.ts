// The updates of one round: each client's first valid update is counted. The result depends only on the messages and their order, so a
// coordinator that reads the stream again gets the same.

import { clientIn } from "../names.js";
import { Assembly, type InboxLimits, type Message } from "../update/assembly.js";
import {
  type Accepted,
  type Expected,
  type Reason,
  type Refusal,
  readUpdate,
  refusal,
} from "../update/decode.js";
import { isLastPart } from "../update/encode.js";

// Refusals that say nothing about an update of this round.
const kBeside: ReadonlySet<Reason> = new Set(["late", "repeated", "unselected", "message"]);

/** What has become of a message. */
export type Received =
  | { readonly counted: Accepted }
  | {
      readonly refused: Refusal;
      readonly client: string;
      /** Whether the client may send another update in this round. */
      readonly again: boolean;
    }
  | null;

/** Collects the updates of a round. */
export class Inbox {
  readonly #counted = new Map<string, Accepted>();
  readonly #refused = new Map<Reason, number>();
  /** The number of files of each client that were refused. */
  readonly #files = new Map<string, number>();
  readonly #assembly: Assembly;
  #selected: ReadonlySet<string>;
  #readTo = 0;

  constructor(
    round: number,
    /** What a client's update is checked against. */
    private readonly expectedOf: (client: string) => Expected,
    readonly limits: InboxLimits,
    selected: readonly string[],
  ) {
    this.#assembly = new Assembly(round, limits);
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

  /** Whether no more updates can come: every selected client is counted, or has sent as many refused ones as it may. */
  get isComplete(): boolean {
    return ![...this.#selected].some((client) => this.#isMissing(client));
  }

  /** The selected clients that may still send an update that is counted. */
  get missing(): string[] {
    return [...this.#selected].filter((client) => this.#isMissing(client));
  }

  /** The number of refused updates by reason. */
  get refused(): Record<string, number> {
    return Object.fromEntries(this.#refused);
  }

  /** The sequence number of the last message. */
  get readTo(): number {
    return this.#readTo;
  }

  /** Takes the next message; returns null for a part that is not the last. */
  async receive(message: Message): Promise<Received> {
    this.#readTo = Math.max(this.#readTo, message.seq);
    const result = await this.#resultOf(message);
    if (result === null) return null;
    if (!("reason" in result)) {
      this.#counted.set(result.client, result);
      return { counted: result };
    }
    const client = clientIn(message.subject);
    const { reason } = result;
    this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
    const isFile = isLastPart((name) => message.header(name));
    if (isFile && !kBeside.has(reason)) this.#files.set(client, (this.#files.get(client) ?? 0) + 1);
    return { refused: result, client, again: this.#mayTry(client) };
  }

  #isMissing(client: string): boolean {
    return !this.#counted.has(client) && this.#mayTry(client);
  }

  #mayTry(client: string): boolean {
    return (this.#files.get(client) ?? 0) < this.limits.attempts;
  }

  async #resultOf(message: Message): Promise<Accepted | Refusal | null> {
    const file = await this.#assembly.receive(message, (client) => {
      if (!this.#selected.has(client)) return "unselected";
      return this.#counted.has(client) ? "repeated" : null;
    });
    if (file === null) return null;
    if (typeof file === "string") return refusal(file);
    return readUpdate(file.client, file.bytes, this.expectedOf(file.client));
  }
}
