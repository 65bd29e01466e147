// GPU buffers, by the number of their block in the stream.

import type { ErrorKeeper } from "./errors";
import { Usage } from "./usage";

/** A GPU buffer that blocks of its size take in turn. */
export interface Block {
  /** Of the buffer: no two that live at a time have the same. */
  readonly id: number;
  readonly buffer: GPUBuffer;
  /** Of the buffer: a multiple of 16, so that shaders can see all of it as fours of words. */
  readonly size: number;
  /** Bytes that were asked for, rounded up to words. */
  used: number;
  /** There was no memory for it. */
  isMissing: boolean;
  /** The batch whose recorded commands use it. */
  batch: number;
  /** Recordings that use it: it is not destroyed. */
  keepers: number;
}

/**
 * Blocks of this size hold numbers that the host writes: one that no recorded command uses can be written without
 * interrupting a compute pass, so these are not used twice in a batch.
 */
const kNumberBytes = 64;

/** Unused bytes that are kept for later blocks. */
const kMostUnused = 256 * 2 ** 20;

const kUsage = Usage.Storage | Usage.CopySource | Usage.CopyTarget;

export class Blocks {
  created = 0;
  readonly #device: GPUDevice;
  readonly #errors: ErrorKeeper;
  readonly #batch: () => number;
  readonly #byNumber = new Map<number, Block>();
  // By size, in the order of ids: the same requests get the same buffers, and so the same bind groups.
  readonly #unused = new Map<number, Block[]>();
  #unusedBytes = 0;
  #nextId = 1;

  /** `batch` gives the number of the batch that is being recorded. */
  constructor(device: GPUDevice, errors: ErrorKeeper, batch: () => number) {
    this.#device = device;
    this.#errors = errors;
    this.#batch = batch;
  }

  allocate(number: number, bytes: number): void {
    if (number === 0 || this.#byNumber.has(number)) throw new Error(`block ${number} is not free`);
    this.#byNumber.set(number, this.take(bytes));
  }

  free(number: number): void {
    this.give(this.#known(number));
    this.#byNumber.delete(number);
  }

  get(number: number): Block {
    const block = this.#known(number);
    if (!block.isMissing) return block;
    // That has been told. Whoever uses the number next may have more luck.
    const again = this.take(block.used);
    this.#byNumber.set(number, again);
    return again;
  }

  #known(number: number): Block {
    const block = this.#byNumber.get(number);
    if (block === undefined) throw new Error(`there is no block ${number}`);
    return block;
  }

  /** A buffer without a number, for as long as a kernel needs one. */
  take(bytes: number): Block {
    const size = Math.max(16, Math.ceil(bytes / 16) * 16);
    const used = Math.ceil(bytes / 4) * 4;
    const unused = this.#takeUnused(size);
    if (unused !== undefined) {
      this.#unusedBytes -= size;
      unused.used = used;
      return unused;
    }
    this.created++;
    const { result: buffer, failure } = this.#errors.judged(
      ["validation", "out-of-memory"],
      `${size} bytes: `,
      () => this.#device.createBuffer({ size, usage: kUsage }),
    );
    const block = {
      id: this.#nextId++,
      buffer,
      size,
      used,
      isMissing: false,
      batch: 0,
      keepers: 0,
    };
    void failure.then((error) => {
      block.isMissing = error !== undefined;
    });
    return block;
  }

  #takeUnused(size: number): Block | undefined {
    const list = this.#unused.get(size);
    if (list === undefined || size > kNumberBytes) return list?.shift();
    const place = list.findIndex(({ batch }) => batch !== this.#batch());
    return place < 0 ? undefined : list.splice(place, 1)[0];
  }

  /** What was recorded before may still use it. */
  give(block: Block): void {
    if (block.isMissing) return;
    const list = this.#unused.get(block.size) ?? [];
    this.#unused.set(block.size, list);
    const place = list.findIndex(({ id }) => id > block.id);
    list.splice(place < 0 ? list.length : place, 0, block);
    this.#unusedBytes += block.size;
  }

  /** Destroys unused buffers beyond a limit, the largest first. Nothing recorded may be waiting. */
  trim(onDestroy: (block: Block) => void): void {
    if (this.#unusedBytes <= kMostUnused) return;
    for (const size of [...this.#unused.keys()].sort((a, b) => b - a)) {
      const list = this.#unused.get(size) as Block[];
      for (let i = list.length - 1; i >= 0 && this.#unusedBytes > kMostUnused; i--) {
        const block = list[i] as Block;
        if (block.keepers > 0) continue;
        list.splice(i, 1);
        this.#unusedBytes -= size;
        block.buffer.destroy();
        onDestroy(block);
      }
      if (list.length === 0) this.#unused.delete(size);
    }
  }
}
