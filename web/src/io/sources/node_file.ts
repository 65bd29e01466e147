import type { nodeFiles } from "../../runtime/host/node.js";
import { failClosed, failToRead, reject } from "../broken_file.js";
import { kPieceBytes, type Source } from "./source.js";

type Handle = Awaited<ReturnType<NonNullable<ReturnType<typeof nodeFiles>>["promises"]["open"]>>;

// New memory costs as much as reading into it. A piece of this size is still in a cache when it is copied to where it belongs.
const kTransientBytes = 2 ** 20;

/** A file of Node, open for reading. */
export class NodeFileSource implements Source {
  readonly name: string;
  readonly size: number;
  readonly #where: string;
  readonly #spare: Uint8Array[] = [];
  #handle: Handle | null;

  private constructor(where: string, name: string, size: number, handle: Handle) {
    this.name = name;
    this.size = size;
    this.#where = where;
    this.#handle = handle;
  }

  /** Opens a file; `files` is Node's module. */
  static async open(
    where: string,
    path: string | URL,
    files: NonNullable<ReturnType<typeof nodeFiles>>,
  ): Promise<NodeFileSource> {
    let handle: Handle | undefined;
    try {
      handle = await files.promises.open(path);
      const status = await handle.stat();
      if (!status.isFile()) throw new Error("it is not a file");
      return new NodeFileSource(where, String(path), status.size, handle);
    } catch (error) {
      await handle?.close();
      return failToRead(where, String(path), error);
    }
  }

  async *pieces(start: number, end: number, isTransient = false): AsyncIterable<Uint8Array> {
    const memory = isTransient ? (this.#spare.pop() ?? new Uint8Array(kTransientBytes)) : null;
    const most = memory?.length ?? kPieceBytes;
    try {
      for (let at = start; at < end; ) {
        const length = Math.min(end - at, most);
        const piece = await this.#read(at, memory?.subarray(0, length) ?? new Uint8Array(length));
        if (piece.length === 0) reject(`${this.name} ends before byte ${end}.`);
        yield piece;
        at += piece.length;
      }
    } finally {
      if (memory !== null && this.#handle !== null) this.#spare.push(memory);
    }
  }

  async #read(start: number, bytes: Uint8Array): Promise<Uint8Array> {
    if (this.#handle === null) failClosed(this.#where);
    try {
      const { bytesRead } = await this.#handle.read(bytes, 0, bytes.length, start);
      return bytes.subarray(0, bytesRead);
    } catch (error) {
      return failToRead(this.#where, this.name, error);
    }
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    this.#spare.length = 0;
    await handle?.close();
  }
}
