// Received messages, and the receivers that wait for messages.

import {
  describeOperation,
  isSameOperation,
  type Message,
  type MessageKey,
  type OperationKey,
} from "./message.js";

// A rank is only a few pieces ahead of the others, unless a program starts many operations at once.
const kMostBytes = 2 ** 29;

interface Waiting {
  readonly operation: OperationKey;
  readonly bytes: number;
  readonly resolve: (payload: Uint8Array<ArrayBuffer>) => void;
}

/** The messages of one generation. */
export class Inbox {
  readonly #stored = new Map<string, Message>();
  readonly #waiting = new Map<string, Waiting>();
  #bytes = 0;

  /** `fail` is called with the reason when ranks call different operations. */
  constructor(private readonly fail: (text: string) => void) {}

  /** Adds a message. A duplicate replaces the first one. */
  add(message: Message): void {
    const name = nameOf(message.key);
    const waiting = this.#waiting.get(name);
    if (waiting !== undefined) {
      this.#waiting.delete(name);
      this.#hand(message, waiting);
      return;
    }
    this.#bytes += message.payload.length;
    this.#stored.set(name, message);
    if (this.#bytes > kMostBytes) {
      this.fail("other ranks have sent 512 MiB for operations that this rank has not begun.");
    }
  }

  /** Resolves to the payload of a message, which must have `bytes` bytes; after fail(), it never settles. */
  take(key: MessageKey, operation: OperationKey, bytes: number): Promise<Uint8Array<ArrayBuffer>> {
    const name = nameOf(key);
    return new Promise((resolve) => {
      const waiting = { operation, bytes, resolve };
      const message = this.#stored.get(name);
      if (message === undefined) {
        this.#waiting.set(name, waiting);
        return;
      }
      this.#stored.delete(name);
      this.#bytes -= message.payload.length;
      this.#hand(message, waiting);
    });
  }

  /** The ranks whose messages are awaited. */
  missing(): number[] {
    const ranks = Array.from(this.#waiting.keys(), (name) => Number(name.split("/")[0]));
    return [...new Set(ranks)].sort((a, b) => a - b);
  }

  #hand({ key, operation, payload }: Message, waiting: Waiting): void {
    if (!isSameOperation(operation, waiting.operation)) {
      const [theirs, ours] = [describeOperation(operation), describeOperation(waiting.operation)];
      this.fail(`rank ${key.from} calls ${theirs} where this rank calls ${ours}.`);
    } else if (payload.length !== waiting.bytes) {
      this.fail(`a message of rank ${key.from} has ${payload.length} bytes.`);
    } else {
      waiting.resolve(payload);
    }
  }
}

const nameOf = ({ from, sequence, piece, step }: MessageKey) =>
  `${from}/${sequence}/${piece}/${step}`;
