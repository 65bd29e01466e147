// Reads of device memory: it is copied to staging buffers in the order of the stream; after the batch these are mapped and
// copied to the engine's memory.

import type { Block } from "./blocks";
import type { Buffers } from "./buffers";
import { asPlayerError, type ErrorCollector, type PlayerError } from "./errors";
import { errorOf, type Faults } from "./faults";
import type { Snapshot, Status } from "./status";
import { kMapRead, Usage } from "./usage";

/** The receiver of reads, which owns the memory that they are written to. */
export interface Host {
  /** Returns the engine's current memory, which can grow. */
  memory(): Uint8Array;
  /** Called when the bytes of a read have been written, or with the error of the read. */
  readDone(ticket: number, error?: PlayerError): void;
  /** Called for the first failure of an op that is known before anybody has read what was computed from it. */
  warn(op: string, message: string): void;
  /** Plays all commands that the engine has recorded. */
  flush?(): void;
  /** Called when the device is lost, and with it all pending reads. */
  lost(message: string): void;
}

export interface Read {
  readonly block: Block;
  readonly offset: number;
  readonly bytes: number;
  readonly address: number;
  readonly ticket: number;
}

interface Staging {
  readonly buffer: GPUBuffer;
  readonly size: number;
}

interface Pending extends Read {
  readonly staging: Staging;
  /** The faults of the block, and the batch that wrote it, when the read was recorded. */
  readonly faults: Faults;
  readonly writtenIn: number;
  /** The status words at the end of the staging buffer. */
  readonly snapshot: Snapshot | undefined;
}

interface Batch {
  readonly failure: Promise<PlayerError | undefined>;
  /** The first error that led to the failure. */
  cause?: PlayerError | undefined;
}

const kSmallest = 1024;

/** The ticket of a read for nobody but the status words. */
export const kNoTicket = 0;

export class Readback {
  created = 0;
  count = 0;
  /** The bytes that were asked for. */
  bytes = 0;
  readonly #buffers: Buffers;
  readonly #errors: ErrorCollector;
  readonly #host: Host;
  readonly #status: () => Status;
  readonly #freeList = new Map<number, Staging[]>();
  #recorded: Pending[] = [];
  // The ops whose failure was told as a warning, because no read had to report it.
  readonly #warned = new Set<string>();
  // Batches with errors that WebGPU reported after later commands had been recorded.
  readonly #failed: { first: number; last: number; error: PlayerError }[] = [];
  readonly #waiting = new Set<number>();
  readonly #mapping = new Set<Promise<void>>();

  constructor(buffers: Buffers, errors: ErrorCollector, host: Host, status: () => Status) {
    this.#buffers = buffers;
    this.#errors = errors;
    this.#host = host;
    this.#status = status;
  }

  /** Resolves to the error if the memory that a read needs cannot be created; undefined if it is there. */
  reserve({
    offset,
    bytes,
  }: Pick<Read, "offset" | "bytes">): Promise<PlayerError | undefined> | undefined {
    const status = this.#status().snapshot()?.bytes ?? 0;
    const list = this.#listFor(sizeFor(wordsOf(offset, bytes).length + status));
    if (list.free.length > 0) return undefined;
    const { staging, failure } = this.#create(list.size);
    return failure.then((error) => {
      if (error === undefined) list.free.push(staging);
      return error;
    });
  }

  /** Records the copies of a read, and of the status words whose values the host does not know. */
  record(encoder: GPUCommandEncoder, read: Read): void {
    const { block, offset, bytes, ticket } = read;
    const { first, length } = wordsOf(offset, bytes);
    const snapshot = this.#status().snapshot();
    const staging = this.#take(length + (snapshot?.bytes ?? 0));
    if (length > 0)
      encoder.copyBufferToBuffer(block.buffer, block.offset + first, staging.buffer, 0, length);
    if (snapshot !== undefined)
      this.#status().copy(encoder, snapshot, staging.buffer, staging.size - snapshot.bytes);
    if (ticket !== kNoTicket) this.#waiting.add(ticket);
    this.#recorded.push({
      ...read,
      staging,
      faults: block.faults,
      writtenIn: block.writtenIn,
      snapshot,
    });
    if (ticket === kNoTicket) return;
    this.count++;
    this.bytes += bytes;
  }

  /** Starts the recorded reads after their batch was submitted; all of them fail with the `failure` of the batch. */
  start(failure: Promise<PlayerError | undefined>): void {
    const reads = this.#recorded;
    this.#recorded = [];
    const batch: Batch = { failure };
    for (const read of reads) {
      const finished = this.#finish(read, batch).finally(() => this.#mapping.delete(finished));
      this.#mapping.add(finished);
    }
  }

  /** All that was written in batches from `first` to `last` has this error. */
  fail(first: number, last: number, error: PlayerError): void {
    this.#failed.push({ first, last, error });
  }

  /** Resolves when no staging buffer is being mapped. WebGPU for Node.js reports an error if a thread ends before that. */
  async settled(): Promise<void> {
    while (this.#mapping.size > 0) await Promise.all(this.#mapping);
  }

  /** Fails a read that cannot be recorded; asynchronously, like all answers. */
  failLater(ticket: number, error: PlayerError): void {
    this.#waiting.add(ticket);
    // Not queueMicrotask(), because tests replace that by a function that waits for them.
    void Promise.resolve().then(() => this.#answer(ticket, error));
  }

  /** Fails all pending reads. */
  failAll(error: PlayerError): void {
    for (const ticket of [...this.#waiting]) this.#answer(ticket, error);
  }

  async #finish(read: Pending, batch: Batch): Promise<void> {
    const { staging, ticket } = read;
    try {
      const mapped = staging.buffer.mapAsync(kMapRead);
      mapped.catch(() => undefined);
      // Errors of the batch come first, because they cause the errors that follow.
      await this.#errors.settled();
      const failure = await batch.failure;
      const isAsked = ticket !== kNoTicket;
      const error = (isAsked ? this.#errors.take() : undefined) ?? batch.cause ?? failure;
      if (failure !== undefined) batch.cause ??= error;
      await mapped.catch((exception) => {
        if (error === undefined) throw exception;
      });
      // Whoever has its answer already, because the device was lost, no longer owns the memory.
      if (isAsked && !this.#waiting.has(ticket)) return;
      if (staging.buffer.mapState !== "mapped") return this.#answer(ticket, error);
      const inherited = this.#copyOut(read, error);
      staging.buffer.unmap();
      this.#freeList.get(staging.size)?.push(staging);
      this.#answer(ticket, error ?? inherited);
    } catch (exception) {
      this.#answer(ticket, this.#errors.lost ?? asPlayerError(exception, ""));
    }
  }

  #copyOut(read: Pending, error: PlayerError | undefined): PlayerError | undefined {
    const { staging, offset, bytes, address, faults, writtenIn, snapshot } = read;
    const range = staging.buffer.getMappedRange();
    const failures =
      snapshot === undefined
        ? []
        : this.#status().settle(snapshot, new Int32Array(range, staging.size - snapshot.bytes));
    const inherited = errorOf(faults) ?? this.#failureOf(writtenIn);
    // Perhaps nobody reads what was computed from these.
    for (const failure of failures) if (failure !== inherited) this.#warn(failure);
    if (error === undefined && inherited === undefined)
      this.#host.memory().set(new Uint8Array(range, offset % 4, bytes), address);
    return inherited;
  }

  #failureOf(batch: number): PlayerError | undefined {
    return this.#failed.find(({ first, last }) => first <= batch && batch <= last)?.error;
  }

  #warn({ op, message }: PlayerError): void {
    if (this.#warned.has(op)) return;
    this.#warned.add(op);
    this.#host.warn(op, message);
  }

  #answer(ticket: number, error: PlayerError | undefined): void {
    if (!this.#waiting.delete(ticket)) return;
    if (error === undefined) this.#host.readDone(ticket);
    else this.#host.readDone(ticket, error);
  }

  #take(bytes: number): Staging {
    const { size, free } = this.#listFor(sizeFor(bytes));
    return free.pop() ?? this.#create(size).staging;
  }

  #listFor(size: number) {
    const free = this.#freeList.get(size) ?? [];
    this.#freeList.set(size, free);
    return { size, free };
  }

  #create(size: number) {
    this.created++;
    const { buffer, failure } = this.#buffers.create(size, Usage.MapRead | Usage.CopyTarget);
    return { staging: { buffer, size }, failure };
  }
}

// The words of a block that contain bytes.
function wordsOf(offset: number, bytes: number) {
  const first = offset - (offset % 4);
  return { first, length: Math.ceil((offset + bytes - first) / 4) * 4 };
}

function sizeFor(bytes: number): number {
  let size = kSmallest;
  while (size < bytes) size *= 2;
  return size;
}
