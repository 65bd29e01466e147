// The messages of one round: parts become updates, and each client's first sound update is counted. What it keeps depends only on
// the messages and their order, so a coordinator that reads the stream again finds the same.

import { isName } from "../../nats/names.js";
import { digestOf } from "../digest.js";
import { clientIn } from "../names.js";
import { type Accepted, type Expected, type Reason, readUpdate } from "../update/decode.js";
import { kDigestHeader, kPartHeader, kRoundHeader } from "../update/encode.js";

/** A message of the stream. */
export interface Message {
  readonly subject: string;
  readonly seq: number;
  readonly data: Uint8Array;
  header(name: string): string;
}

/** How much a client may send in a round. */
export interface InboxLimits {
  readonly updateBytes: number;
  readonly messages: number;
}

interface Parts {
  readonly digest: string;
  readonly pieces: Uint8Array[];
  readonly count: number;
  bytes: number;
}

const kPart = /^(\d{1,6})\/(\d{1,6})$/;
const kDigest = /^[0-9a-f]{64}$/;

/** Collects the updates of a round. */
export class Inbox {
  readonly #counted = new Map<string, Accepted>();
  readonly #parts = new Map<string, Parts>();
  readonly #messages = new Map<string, number>();
  readonly #refused = new Map<Reason, number>();
  #selected: ReadonlySet<string>;
  #readTo = 0;

  constructor(
    readonly expected: Expected,
    readonly limits: InboxLimits,
    selected: readonly string[],
  ) {
    this.#selected = new Set(selected);
  }

  /** Changes who may send updates; those that have been counted stay. */
  select(clients: readonly string[]): void {
    this.#selected = new Set(clients);
  }

  /** The counted updates, in the order of the clients' names: sums of floats must not depend on who was first. */
  get updates(): Accepted[] {
    return [...this.#counted.values()].sort((a, b) => (a.client < b.client ? -1 : 1));
  }

  /** Whether every selected client has been counted. */
  get isComplete(): boolean {
    return [...this.#selected].every((client) => this.#counted.has(client));
  }

  /** How many updates were refused, by reason. */
  get refused(): Record<string, number> {
    return Object.fromEntries(this.#refused);
  }

  /** The number of the last message. */
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
    const client = clientIn(message.subject);
    const [, part, count] = kPart.exec(message.header(kPartHeader)) ?? [];
    const digest = message.header(kDigestHeader);
    if (!isName(client) || part === undefined || !kDigest.test(digest)) return "message";
    if (message.header(kRoundHeader) !== `${this.expected.round}`) return "late";
    if (!this.#selected.has(client)) return "unselected";
    const messages = (this.#messages.get(client) ?? 0) + 1;
    this.#messages.set(client, messages);
    if (messages > this.limits.messages) return "flood";
    if (this.#counted.has(client)) return "repeated";
    const bytes = this.#joined(client, digest, Number(part), Number(count), message.data);
    if (bytes === null || typeof bytes === "string") return bytes;
    if ((await digestOf(bytes)) !== digest) return "digest";
    return readUpdate(client, bytes, this.expected);
  }

  /** Returns the file once its last part is there. Parts come in order; a file that begins replaces one that never ended. */
  #joined(client: string, digest: string, part: number, count: number, data: Uint8Array) {
    const { updateBytes, messages } = this.limits;
    if (count < 1 || part >= count || count > messages) return "size";
    const started = this.#parts.get(client);
    const parts = part === 0 ? { digest, pieces: [], count, bytes: 0 } : started;
    const isNext =
      parts?.digest === digest && parts.count === count && parts.pieces.length === part;
    if (parts === undefined || !isNext) {
      this.#parts.delete(client);
      return "digest";
    }
    parts.pieces.push(data);
    parts.bytes += data.length;
    this.#parts.set(client, parts);
    if (parts.bytes > updateBytes) {
      this.#parts.delete(client);
      return "size";
    }
    if (part < count - 1) return null;
    this.#parts.delete(client);
    const bytes = new Uint8Array(parts.bytes);
    let at = 0;
    for (const piece of parts.pieces) {
      bytes.set(piece, at);
      at += piece.length;
    }
    return bytes;
  }
}
