// Memory on its way to the host: copied into staging buffers in the order of the stream, mapped after the
// batch, and copied into the engine's memory.

import type { Block } from "./blocks";
import { asPlayerError, type ErrorCollector, type PlayerError } from "./errors";
import { kMapRead, Usage } from "./usage";

/** Who hears of reads, and into whose memory they go. */
export interface Host {
  /** The engine's memory as it is now; it can grow. */
  memory(): Uint8Array;
  /** The bytes of a read are there, or there is the reason why not. */
  readDone(ticket: number, error?: PlayerError): void;
  /** The device is gone, and with it every read that is on its way. */
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
  /** Whether the status words lie at the end. */
  readonly hasStatus: boolean;
}

interface Batch {
  readonly failure: Promise<PlayerError | undefined>;
  /** Of the failure: what went wrong first. */
  cause?: PlayerError | undefined;
}

/** Words of the status buffer: how many indices were out of range, then of the first one the number of the op's name and the index. */
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

  /** Records the copies of a read; with `status`, the status words come along and begin anew. */
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

  /** What has been recorded is submitted; `failure` of that is the failure of all its reads. */
  start(failure: Promise<PlayerError | undefined>): void {
    const reads = this.#recorded;
    this.#recorded = [];
    const batch: Batch = { failure };
    for (const read of reads) {
      const finished = this.#finish(read, batch).finally(() => this.#mapping.delete(finished));
      this.#mapping.add(finished);
    }
  }

  /** Resolves when no read is being mapped. Node's WebGPU complains of those that its thread does not outlive. */
  async settled(): Promise<void> {
    while (this.#mapping.size > 0) await Promise.all(this.#mapping);
  }

  /** A read that cannot even be recorded; later, as all answers. */
  failLater(ticket: number, error: PlayerError): void {
    this.#waiting.add(ticket);
    queueMicrotask(() => this.#answer(ticket, error));
  }

  /** Every read that is on its way fails. */
  failAll(error: PlayerError): void {
    for (const ticket of [...this.#waiting]) this.#answer(ticket, error);
  }

  async #finish(read: Pending, batch: Batch): Promise<void> {
    const { staging, ticket } = read;
    try {
      const mapped = staging.buffer.mapAsync(kMapRead);
      mapped.catch(() => undefined);
      // Judged before it is mapped: an error of the batch is the reason of what follows.
      await this.#errors.settled();
      const failure = await batch.failure;
      const error = this.#errors.take() ?? batch.cause ?? failure;
      if (failure !== undefined) batch.cause ??= error;
      await mapped.catch((exception) => {
        if (error === undefined) throw exception;
      });
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
