// Assembles the messages of one round to files, for clients that may send them.

import { isName } from "../../nats/names.js";
import { digestOf } from "../digest.js";
import { clientIn } from "../names.js";
import type { Reason } from "./decode.js";
import { kDigestHeader, kPartHeader, kRoundHeader } from "./encode.js";

/** A message of the stream. */
export interface Message {
  readonly subject: string;
  readonly seq: number;
  readonly data: Uint8Array;
  header(name: string): string;
}

/** Whether the headers of a message have the signature of its client. */
export type Verify = (client: string, header: (name: string) => string) => Promise<boolean>;

/** What is checked of the messages of a round. */
export interface InboxLimits {
  readonly updateBytes: number;
  readonly messages: number;
  /** The files of one client that are read in a round until it has sent a sound one; others are refused. */
  readonly attempts: number;
  readonly verify: Verify;
}

/** A complete file from a client. */
export interface SentFile {
  readonly client: string;
  readonly bytes: Uint8Array;
}

interface Parts {
  readonly digest: string;
  readonly pieces: Uint8Array[];
  readonly count: number;
  bytes: number;
}

const kPart = /^(\d{1,6})\/(\d{1,6})$/;
const kDigest = /^[0-9a-f]{64}$/;

/** Assembles the files of a round. */
export class Assembly {
  readonly #parts = new Map<string, Parts>();
  readonly #messages = new Map<string, number>();

  constructor(
    readonly round: number,
    readonly limits: InboxLimits,
  ) {}

  /** Receives the next message; returns a file, why the message was refused, or null for a part. `refused` may add reasons to refuse it. */
  async receive(
    message: Message,
    refused: (client: string) => Reason | null,
  ): Promise<SentFile | Reason | null> {
    const client = clientIn(message.subject);
    const [, part, count] = kPart.exec(message.header(kPartHeader)) ?? [];
    const digest = message.header(kDigestHeader);
    if (!isName(client) || part === undefined || !kDigest.test(digest)) return "message";
    if (message.header(kRoundHeader) !== `${this.round}`) return "late";
    const reason = refused(client);
    if (reason === "unselected") return reason;
    const messages = (this.#messages.get(client) ?? 0) + 1;
    this.#messages.set(client, messages);
    if (messages > this.limits.messages) return "flood";
    if (reason !== null) return reason;
    const bytes = this.#addPart(client, digest, Number(part), Number(count), message.data);
    if (bytes === null || typeof bytes === "string") return bytes;
    if ((await digestOf(bytes)) !== digest) return "digest";
    const isSigned = await this.limits.verify(client, (name) => message.header(name));
    return isSigned ? { client, bytes } : "signature";
  }

  /** Returns the file once its last part has arrived. Parts come in order; the first part of a file replaces an incomplete file. */
  #addPart(client: string, digest: string, part: number, count: number, data: Uint8Array) {
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
