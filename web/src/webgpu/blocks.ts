// GPU buffers, by the number of their block in the stream.

import { type Arena, Arenas } from "./arenas";
import type { Buffers } from "./buffers";
import type { PlayerError } from "./errors";
import { type Faults, faultOf, kNoFaults } from "./faults";
import { FreeList } from "./free_list";
import { changeContent, type HalfCopy } from "./half_copies";
import { Usage } from "./usage";

/** A GPU buffer, or a part of one, that is reused for blocks of its size. */
export interface Block {
  /** Unique among all blocks. */
  readonly id: number;
  /** Its number in the stream, or 0 if it has none. */
  number: number;
  buffer: GPUBuffer;
  /** In the buffer, in bytes. */
  offset: number;
  /** In bytes; a multiple of 16, so that shaders can access all of it as vectors of four words. */
  readonly size: number;
  /** The arena that contains it, if it is part of one. */
  arena?: Arena;
  /** The bytes of the tensor whose memory it is, rounded up to words. */
  used: number;
  /** Whether its allocation failed or it has been destroyed. */
  isMissing: boolean;
  /** Whether nobody needs its content before it is used again. */
  isIdle: boolean;
  /** The failures that its content has inherited. */
  faults: Faults;
  /** The number of the last batch whose commands use it. */
  batch: number;
  /** The number of the last batch whose commands write it; 0 if no command has written its content. */
  writtenIn: number;
  /** Counts the times that its content became another one. */
  version: number;
  /** Set if its content is that of a float16 tensor. */
  halfCopy: HalfCopy | undefined;
  /** Whether the page has its buffer: it then stays where it is. */
  isLent: boolean;
  /** The number of recordings that use it; while it is not 0, the block is not destroyed. */
  recordingCount: number;
}

/** Returns a block whose content no command has used. */
export function unusedBlock(
  place: Pick<Block, "id" | "buffer" | "offset" | "size" | "arena">,
): Block {
  return {
    ...place,
    number: 0,
    used: 0,
    isMissing: false,
    isIdle: false,
    faults: kNoFaults,
    batch: 0,
    writtenIn: 0,
    version: 0,
    halfCopy: undefined,
    isLent: false,
    recordingCount: 0,
  };
}

interface Created {
  readonly block: Block;
  readonly failure: Promise<PlayerError | undefined>;
}

/**
 * Blocks up to this size usually hold numbers that the host writes. A block that no recorded command uses can be written
 * without interrupting a compute pass, so such blocks are not reused within a batch.
 */
const kSmallBlockBytes = 64;

const kUsage = Usage.Storage | Usage.CopySource | Usage.CopyTarget;

export class Blocks {
  created = 0;
  readonly #buffers: Buffers;
  readonly #batch: () => number;
  readonly #byNumber = new Map<number, Block>();
  readonly #freeList = new FreeList();
  // Separate, so that cached commands can use their scratch blocks again at any time.
  readonly #freeScratch = new FreeList();
  readonly #arenas = new Arenas(
    (bytes) => this.#make(bytes),
    () => this.#nextId++,
  );
  #nextId = 1;
  // Blocks that were created, with the outcomes.
  #created: Created[] = [];

  /** `batch` returns the number of the batch that is being recorded. */
  constructor(buffers: Buffers, batch: () => number) {
    this.#buffers = buffers;
    this.#batch = batch;
  }

  allocate(number: number, bytes: number): void {
    if (number === 0 || this.#byNumber.has(number)) throw new Error(`block ${number} is not free`);
    const block = this.#take(bytes);
    block.faults = kNoFaults;
    this.#set(number, block);
  }

  /** From here on, the first `bytes` are the memory of a new tensor. */
  use(number: number, bytes: number): void {
    const before = this.#lookup(number);
    // Memory may be available now.
    const block = markUsed(before.isMissing ? this.#take(before.size) : before, bytes);
    if (block !== before) this.#set(number, block);
    block.isIdle = false;
    block.isLent = false;
    block.writtenIn = 0;
    block.faults = kNoFaults;
  }

  /** The content of a block is not needed until it is used again: if memory is short, others get it. */
  idle(number: number): void {
    this.#lookup(number).isIdle = true;
  }

  free(number: number): void {
    const block = this.#lookup(number);
    this.#byNumber.delete(number);
    this.#release(block);
  }

  /** Returns the block with a number, if there is one. */
  find(number: number): Block | undefined {
    return this.#byNumber.get(number);
  }

  get(number: number): Block {
    const block = this.#lookup(number);
    if (!block.isMissing) return block;
    // Try again, because memory may be available now. The content is what it was: nothing.
    const again = markUsed(this.#take(block.size), block.used);
    again.faults = block.faults;
    this.#set(number, again);
    return again;
  }

  /**
   * Resolves when all blocks that were created exist or are known to be missing; undefined if that is so already. `release` makes
   * the device give back memory that is no longer used, if there was too little; `onReplace` is called for blocks that get another
   * buffer after that.
   */
  confirm(release: () => void, onReplace: (block: Block) => void): Promise<void> | undefined {
    if (this.#created.length === 0) return undefined;
    const created = this.#created;
    this.#created = [];
    return this.#confirm(created, release, onReplace);
  }

  async #confirm(
    created: readonly Created[],
    release: () => void,
    onReplace: (block: Block) => void,
  ): Promise<void> {
    const failures = await Promise.all(created.map(({ failure }) => failure));
    if (failures.every((error) => error === undefined)) return;
    release();
    for (const [i, { block }] of created.entries()) {
      if (failures[i] === undefined) continue;
      const { buffer, failure } = this.#buffers.create(block.size, kUsage);
      const error = await failure;
      block.buffer = buffer;
      onReplace(block);
      if (error === undefined) continue;
      block.isMissing = true;
      block.faults = [faultOf(error)];
      // Whoever has released it did not know that.
      for (const list of [this.#freeList, this.#freeScratch])
        list.take(block.size, (b) => b === block);
    }
  }

  /**
   * Moves blocks with numbers into one buffer, which the blocks of a role share, if `canMove`. Returns a map from old to new blocks. A
   * block of a recording stays the same block, at another place: what binds it has to be made anew. `copy` copies the content.
   */
  gather(
    role: number,
    blocks: readonly Block[],
    canMove: (block: Block) => boolean,
    copy: (to: Block, from: Block) => void,
  ): ReadonlyMap<Block, Block> {
    const places = this.#arenas.destinationsFor(role, blocks, canMove);
    for (const [from, to] of places) {
      if (from.recordingCount > 0) {
        this.#moveTo(to, from, copy);
        places.set(from, from);
        continue;
      }
      copy(to, from);
      markUsed(to, from.used);
      to.faults = from.faults;
      to.writtenIn = this.#batch();
      this.#set(from.number, to);
      this.#release(from);
    }
    return places;
  }

  #moveTo(place: Block, block: Block, copy: (to: Block, from: Block) => void): void {
    const before = { ...block, id: this.#nextId++, recordingCount: 0 };
    if (block.arena !== undefined) this.#arenas.put(before, block);
    copy(place, before);
    this.#arenas.put(block, place);
    block.writtenIn = this.#batch();
    this.#release(before);
  }

  /** Returns the blocks that commands of this batch or of later ones write. */
  writtenSince(batch: number): Block[] {
    return [...this.#byNumber.values()].filter(({ writtenIn }) => writtenIn >= batch);
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

  /** Takes a buffer without a number, for temporary use by a kernel. */
  takeScratch(bytes: number): Block {
    const freeList = this.#freeScratch.take(sizeOf(bytes), () => true);
    return freeList === undefined ? this.#make(bytes) : markUsed(freeList, bytes);
  }

  /** Makes a buffer without a number, filled with zeros, which is not released. */
  makeScratch(bytes: number): Block {
    return this.#make(bytes);
  }

  /** Releases a scratch buffer; commands that were recorded before may still use it. */
  releaseScratch(block: Block): void {
    if (!block.isMissing) this.#freeScratch.add(block);
  }

  #take(bytes: number): Block {
    const size = sizeOf(bytes);
    const batch = size > kSmallBlockBytes ? undefined : this.#batch();
    const freeList = this.#freeList.take(size, (block) => block.batch !== batch);
    return freeList === undefined ? this.#make(bytes) : markUsed(freeList, bytes);
  }

  #make(bytes: number): Block {
    const size = sizeOf(bytes);
    this.created++;
    const { buffer, failure } = this.#buffers.create(size, kUsage);
    const id = this.#nextId++;
    const block = unusedBlock({ id, buffer, offset: 0, size });
    this.#created.push({ block, failure });
    return markUsed(block, bytes);
  }

  /** Destroys free buffers beyond a limit, the largest first. All recorded commands must have been submitted. */
  trim(onDestroy: (block: Block) => void, maxBytes?: number): void {
    for (const freeList of [this.#freeList, this.#freeScratch, this.#arenas])
      freeList.trim((block) => this.#destroy(block, onDestroy), maxBytes);
  }

  /** Destroys the buffers of idle blocks, which get new ones when they are used. As for trim(), all commands must be submitted. */
  destroyIdle(onDestroy: (block: Block) => void): void {
    for (const block of this.#byNumber.values()) {
      const isNeeded = !block.isIdle || block.recordingCount > 0 || block.arena !== undefined;
      if (isNeeded || block.isMissing) continue;
      block.faults = kNoFaults;
      this.#destroy(block, onDestroy);
    }
  }

  #destroy(block: Block, onDestroy: (block: Block) => void): void {
    this.#buffers.destroy(block.buffer);
    block.isMissing = true;
    onDestroy(block);
  }
}

function sizeOf(bytes: number): number {
  return Math.max(16, Math.ceil(bytes / 16) * 16);
}

function markUsed(block: Block, bytes: number): Block {
  block.used = Math.ceil(bytes / 4) * 4;
  changeContent(block);
  return block;
}
