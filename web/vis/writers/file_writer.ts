// The base class of writers of files.

import type { Bytes } from "edgegrad";
import { fail, refuse } from "../../errors/errors.js";
import type { LogRecord, RecordKind } from "../log/record.js";
import { Recorder } from "../log/recorder.js";
import { type ListenerHandle, RunLog } from "../log/run_log.js";
import type { Sink } from "./sink.js";

/** A recorder that writes to a file, a stream or memory. */
export abstract class FileWriter extends Recorder {
  readonly #sink: Sink;
  #isClosed = false;
  readonly #followed: ListenerHandle[] = [];
  readonly #kinds: readonly RecordKind[];

  protected constructor(sink: Sink, kinds: readonly RecordKind[]) {
    super();
    this.#sink = sink;
    this.#kinds = kinds;
  }

  /** Resolves when all added values are written; rejects with the first error. */
  flush(): Promise<void> {
    return this.settled();
  }

  /** Writes the remaining values and closes the file or stream. Nothing can be added afterward. */
  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const handle of this.#followed) handle.remove();
    try {
      await this.settled();
    } finally {
      await this.#sink.close();
    }
  }

  /** Returns the bytes of the file, for a writer without a target: `new Blob([await writer.bytes()])` is a file for a page. */
  async bytes(): Promise<Bytes> {
    await this.settled();
    if (this.#sink.bytes !== undefined) return this.#sink.bytes();
    const where = `${this.constructor.name}.bytes`;
    return fail("InvalidArgument", where, "only a writer without a target keeps its bytes.");
  }

  /**
   * Writes the records of a run of a log, and its new records from now on. Records of kinds that the file does not support are skipped.
   * remove() of the handle ends this, and so does close().
   */
  follow(log: RunLog, run: string): ListenerHandle {
    const where = `${this.constructor.name}.follow`;
    this.assertOpen(where);
    if (!(log instanceof RunLog)) refuse(where, "log", "a RunLog", log);
    for (const record of log.run(run).all()) this.take(record);
    const handle = log.listen((record, name) => {
      if (name === run && !this.#isClosed) this.take(record);
    });
    this.#followed.push(handle);
    return handle;
  }

  /** Writes a record as it is, if the file supports its kind. */
  override take(record: LogRecord): void {
    if (!this.#kinds.includes(record.kind)) return;
    const bytes = this.encode(record);
    if (bytes instanceof Promise) this.waitFor(bytes.then((ready) => this.write(ready)));
    else this.write(bytes);
  }

  /** Returns the bytes of a record. */
  protected abstract encode(record: LogRecord): Bytes | Promise<Bytes>;

  /** Appends bytes. */
  protected write(bytes: Bytes): void {
    const later = this.#sink.write(bytes);
    if (later !== undefined) this.waitFor(later);
  }

  protected override accept(where: string, kind: RecordKind): void {
    this.assertOpen(where);
    if (this.#kinds.includes(kind)) return;
    const known = this.#kinds.join(", ");
    fail("InvalidArgument", where, `this kind of file has no ${kind}; it has: ${known}.`);
  }

  /** Throws if the writer is closed. */
  protected assertOpen(where: string): void {
    if (this.#isClosed) fail("Disposed", where, "the writer is closed. Make a new one.");
  }
}
