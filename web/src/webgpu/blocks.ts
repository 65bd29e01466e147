// GPU buffers, by the number of their block in the stream.

import { type Arena, Arenas } from "./arenas";
import type { ErrorCollector } from "./errors";
import { FreeList } from "./free_list";
import { Usage } from "./usage";

/** A GPU buffer, or a piece of one, that blocks of its size take in turn. */
export interface Block {
  /** No two that live at a time have the same. */
  readonly id: number;
  /** That it has in the stream, or 0. */
  number: number;
  readonly buffer: GPUBuffer;
  /** In the buffer. */
  readonly offset: number;
  /** A multiple of 16, so that shaders can see all of it as fours of words. */
  readonly size: number;
  /** That it is a piece of, if it is one. */
  readonly arena?: Arena;
  /** Bytes that were asked for, rounded up to words. */
  used: number;
  /** There was no memory for it, or it is destroyed. */
  isMissing: boolean;
  /** The batch whose recorded commands use it. */
  batch: number;
  /** Recordings that use it: it is not destroyed. */
  recordingCount: number;
}

/**
 * Blocks of this size hold numbers that the host writes: one that no recorded command uses can be written without
 * interrupting a compute pass, so these are not used twice in a batch.
 */
const kSmallBlockBytes = 64;

const kUsage = Usage.Storage | Usage.CopySource | Usage.CopyTarget;

export class Blocks {
  created = 0;
  readonly #device: GPUDevice;
  readonly #errors: ErrorCollector;
  readonly #batch: () => number;
  readonly #byNumber = new Map<number, Block>();
  readonly #freeList = new FreeList();
  // Apart, so that who knows a block of these can use it again at any time.
  readonly #freeScratch = new FreeList();
  readonly #arenas = new Arenas(
    (bytes) => this.#make(bytes),
    () => this.#nextId++,
  );
  #nextId = 1;

  /** `batch` gives the number of the batch that is being recorded. */
  constructor(device: GPUDevice, errors: ErrorCollector, batch: () => number) {
    this.#device = device;
    this.#errors = errors;
    this.#batch = batch;
  }

  allocate(number: number, bytes: number): void {
    if (number === 0 || this.#byNumber.has(number)) throw new Error(`block ${number} is not free`);
    this.#set(number, this.#take(bytes));
  }

  free(number: number): void {
    const block = this.#lookup(number);
    this.#byNumber.delete(number);
    this.#release(block);
  }

  get(number: number): Block {
    const block = this.#lookup(number);
    if (!block.isMissing) return block;
    // That has been told. Whoever uses the number next may have more luck.
    const again = this.#take(block.used);
    this.#set(number, again);
    return again;
  }

  /**
   * Moves blocks with numbers into one buffer, which blocks of that role share; the new blocks by the old ones. `copy`
   * has the content copied.
   */
  gather(
    role: number,
    blocks: readonly Block[],
    copy: (to: Block, from: Block) => void,
  ): ReadonlyMap<Block, Block> {
    const places = this.#arenas.destinationsFor(role, blocks);
    for (const [from, to] of places) {
      copy(to, from);
      to.used = from.used;
      this.#set(from.number, to);
      this.#release(from);
    }
    return places;
  }

  #set(number: number, block: Block): void {
    block.number = number;
    this.#byNumber.set(number, block);
  }

  #release(block: Block): void {
    block.number = 0;
    if (block.isMissing) return;
    if (block.arena === undefined) this.#freeList.add(block);
    else block.arena.free.add(block);
  }

  #lookup(number: number): Block {
    const block = this.#byNumber.get(number);
    if (block === undefined) throw new Error(`there is no block ${number}`);
    return block;
  }

  /** A buffer without a number, for as long as a kernel needs one. */
  takeScratch(bytes: number): Block {
    const freeList = this.#freeScratch.take(sizeOf(bytes), () => true);
    return freeList === undefined ? this.#make(bytes) : used(freeList, bytes);
  }

  /** What was recorded before may still use it. */
  releaseScratch(block: Block): void {
    if (!block.isMissing) this.#freeScratch.add(block);
  }

  #take(bytes: number): Block {
    const size = sizeOf(bytes);
    const batch = size > kSmallBlockBytes ? undefined : this.#batch();
    const freeList = this.#freeList.take(size, (block) => block.batch !== batch);
    return freeList === undefined ? this.#make(bytes) : used(freeList, bytes);
  }

  #make(bytes: number): Block {
    const size = sizeOf(bytes);
    this.created++;
    const { result: buffer, failure } = this.#errors.watchWithFailure(
      ["validation", "out-of-memory"],
      `${size} bytes: `,
      () => this.#device.createBuffer({ size, usage: kUsage }),
    );
    const id = this.#nextId++;
    const block = {
      id,
      number: 0,
      buffer,
      offset: 0,
      size,
      used: 0,
      isMissing: false,
      batch: 0,
      recordingCount: 0,
    };
    void failure.then((error) => {
      block.isMissing ||= error !== undefined;
    });
    return used(block, bytes);
  }

  /** Destroys unused buffers beyond a limit, the largest first. Nothing recorded may be waiting. */
  trim(onDestroy: (block: Block) => void): void {
    const destroy = (block: Block) => {
      block.buffer.destroy();
      block.isMissing = true;
      onDestroy(block);
    };
    for (const freeList of [this.#freeList, this.#freeScratch, this.#arenas])
      freeList.trim(destroy);
  }
}

function sizeOf(bytes: number): number {
  return Math.max(16, Math.ceil(bytes / 16) * 16);
}

function used(block: Block, bytes: number): Block {
  block.used = Math.ceil(bytes / 4) * 4;
  return block;
}
