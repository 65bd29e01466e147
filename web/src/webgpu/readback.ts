// Reads of device memory: it is copied to staging buffers in the order of the stream; after the batch these are mapped and
// copied to the engine's memory.

import type { Block } from "./blocks";
import { asPlayerError, type ErrorCollector, type PlayerError } from "./errors";
import { kMapRead, Usage } from "./usage";

/** The receiver of reads, which owns the memory that they are written to. */
export interface Host {
  /** Returns the engine's current memory, which can grow. */
  memory(): Uint8Array;
  /** Called when the bytes of a read have been written, or with the error of the read. */
  readDone(ticket: number, error?: PlayerError): void;
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
  /** Whether the status words are at the end of the staging buffer. */
  readonly hasStatus: boolean;
}

interface Batch {
  readonly failure: Promise<PlayerError | undefined>;
  /** The first error that led to the failure. */
  cause?: PlayerError | undefined;
}

/** The size of the status words: the count of indices out of range, then, for the first one, the number of the op's name and the index. */
export const kStatusBytes = 12;

const kSmallest = 1024;

export class Readback {
  created = 0;
  count = 0;
  readonly #device: GPUDevice;
  readonly #errors: ErrorCollector;
  readonly #host: Host;
  readonly #nameOf: (number: number) => string;
  readonly #freeList = new Map<number, Staging[]>();
  #recorded: Pending[] = [];
  readonly #waiting = new Set<number>();
  readonly #mapping = new Set<Promise<void>>();

  constructor(
    device: GPUDevice,
    errors: ErrorCollector,
    host: Host,
    nameOf: (number: number) => string,
  ) {
    this.#device = device;
    this.#errors = errors;
    this.#host = host;
    this.#nameOf = nameOf;
  }

  /** Records the copies of a read. If `status` is given, the status words are copied as well and cleared. */
  record(encoder: GPUCommandEncoder, read: Read, status: Block | undefined): void {
    const { block, offset, bytes, ticket } = read;
    const first = offset - (offset % 4);
    const length = Math.ceil((offset + bytes - first) / 4) * 4;
    const staging = this.#take(length + kStatusBytes);
    if (length > 0)
      encoder.copyBufferToBuffer(block.buffer, block.offset + first, staging.buffer, 0, length);
    if (status !== undefined) {
      const end = staging.size - kStatusBytes;
      encoder.copyBufferToBuffer(status.buffer, 0, staging.buffer, end, kStatusBytes);
      encoder.clearBuffer(status.buffer, 0, kStatusBytes);
    }
    this.#waiting.add(ticket);
    this.#recorded.push({ ...read, staging, hasStatus: status !== undefined });
    this.count++;
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

  /** Resolves when no staging buffer is being mapped. WebGPU for Node.js reports an error if a thread ends before that. */
  async settled(): Promise<void> {
    while (this.#mapping.size > 0) await Promise.all(this.#mapping);
  }

  /** Fails a read that cannot be recorded; asynchronously, like all answers. */
  failLater(ticket: number, error: PlayerError): void {
    this.#waiting.add(ticket);
    queueMicrotask(() => this.#answer(ticket, error));
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
      const error = this.#errors.take() ?? batch.cause ?? failure;
      if (failure !== undefined) batch.cause ??= error;
      await mapped.catch((exception) => {
        if (error === undefined) throw exception;
      });
      // Whoever has its answer already, because the device was lost, no longer owns the memory.
      if (!this.#waiting.has(ticket)) return;
      if (staging.buffer.mapState !== "mapped") return this.#answer(ticket, error);
      const indexError = this.#copyOut(read, error);
      staging.buffer.unmap();
      this.#freeList.get(staging.size)?.push(staging);
      this.#answer(ticket, error ?? indexError);
    } catch (exception) {
      this.#answer(ticket, this.#errors.lost ?? asPlayerError(exception, ""));
    }
  }

  #copyOut(read: Pending, error: PlayerError | undefined): PlayerError | undefined {
    const { staging, offset, bytes, address, hasStatus } = read;
    const range = staging.buffer.getMappedRange();
    if (hasStatus) {
      const words = new Int32Array(range, staging.size - kStatusBytes, kStatusBytes / 4);
      const [count, op, index] = words as unknown as [number, number, number];
      if (count !== 0) {
        const name = this.#nameOf(op);
        const message = `index ${index} is out of range`;
        return { kind: "index", op: name, message, index };
      }
    }
    if (error === undefined)
      this.#host.memory().set(new Uint8Array(range, offset % 4, bytes), address);
    return undefined;
  }

  #answer(ticket: number, error: PlayerError | undefined): void {
    if (!this.#waiting.delete(ticket)) return;
    if (error === undefined) this.#host.readDone(ticket);
    else this.#host.readDone(ticket, error);
  }

  #take(bytes: number): Staging {
    let size = kSmallest;
    while (size < bytes) size *= 2;
    const list = this.#freeList.get(size) ?? [];
    this.#freeList.set(size, list);
    const freeList = list.pop();
    if (freeList !== undefined) return freeList;
    this.created++;
    const usage = Usage.MapRead | Usage.CopyTarget;
    const buffer = this.#errors.watch(["validation", "out-of-memory"], "", () =>
      this.#device.createBuffer({ size, usage }),
    );
    return { buffer, size };
  }
}
