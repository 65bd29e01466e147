// Messages over a pair of pipes: JSON of UTF-8 after its length in four bytes. Both directions block, so that a call from Python may be
// answered by a call into Python.

import { readSync, writeSync } from "node:fs";

const kChunk = 1 << 20;

/** One end of the pipes, given the numbers of the file descriptors. */
export class Wire {
  #readFd;
  #writeFd;
  #inbox = Buffer.alloc(0);
  #chunk = Buffer.alloc(kChunk);

  constructor(readFd, writeFd) {
    this.#readFd = readFd;
    this.#writeFd = writeFd;
  }

  /** Waits for the next message. Returns null when Python has closed its end. */
  receive() {
    const header = this.#take(4);
    const body = header && this.#take(header.readUInt32LE(0));
    return body && JSON.parse(body.toString("utf8"));
  }

  send(message) {
    const body = Buffer.from(JSON.stringify(message), "utf8");
    const all = Buffer.alloc(4 + body.length);
    all.writeUInt32LE(body.length, 0);
    body.copy(all, 4);
    for (let at = 0; at < all.length; ) at += writeSync(this.#writeFd, all, at);
  }

  #take(count) {
    while (this.#inbox.length < count) {
      const got = readSync(this.#readFd, this.#chunk, 0, kChunk);
      if (got === 0) return null;
      this.#inbox = Buffer.concat([this.#inbox, this.#chunk.subarray(0, got)]);
    }
    const head = this.#inbox.subarray(0, count);
    this.#inbox = this.#inbox.subarray(count);
    return head;
  }
}
