// Buffers that contain many blocks, so that one dispatch can access all of them: a shader can bind only about ten buffers.

import { type Block, unusedBlock } from "./blocks";

/** A buffer whose blocks all have the same role in a kernel. */
export interface Arena {
  /** The whole buffer as a block. */
  readonly whole: Block;
  readonly blocks: Block[];
  readonly free: Set<Block>;
}

/** The alignment of binding offsets that every device supports. */
const kAlignment = 256;

export class Arenas {
  readonly #make: (bytes: number) => Block;
  readonly #nextId: () => number;
  readonly #byRole = new Map<number, Arena[]>();

  /** `make` creates a separate buffer, `nextId` returns a unique id for a block. */
  constructor(make: (bytes: number) => Block, nextId: () => number) {
    this.#make = make;
    this.#nextId = nextId;
  }

  /** Returns the new blocks for those of `blocks` that have to move, so that all that can move are in one arena of the role. */
  destinationsFor(
    role: number,
    blocks: Iterable<Block>,
    canMove: (block: Block) => boolean,
  ): Map<Block, Block> {
    const all = [...new Set(blocks)].filter(canMove);
    if (all.length === 0) return new Map();
    const arenas = (this.#byRole.get(role) ?? []).filter(({ whole }) => !whole.isMissing);
    this.#byRole.set(role, arenas);
    const holds = (arena: Arena) => all.some((block) => block.arena === arena);
    const holding = arenas.filter(holds);
    // Later arenas are larger.
    const others = arenas.filter((arena) => !holds(arena));
    for (const arena of [...holding.reverse(), ...others]) {
      const destinations = this.#fit(arena, all);
      if (destinations !== undefined) return destinations;
    }
    // If some blocks are in an arena already, the set of blocks changes; leave space for as many more.
    const bytes = all.reduce((sum, { size }) => sum + alignedSize(size), 0);
    const whole = this.#make(holding.length === 0 ? bytes : 2 * bytes);
    const arena = { whole, blocks: [], free: new Set<Block>() };
    arenas.push(arena);
    return this.#fit(arena, all) as Map<Block, Block>;
  }

  /** Makes a block the part of an arena that another one was. */
  put(block: Block, place: Block): void {
    const arena = place.arena as Arena;
    arena.blocks[arena.blocks.indexOf(place)] = block;
    block.arena = arena;
    block.buffer = place.buffer;
    block.offset = place.offset;
    isMissingWith(arena.whole, block);
  }

  /** Destroys arenas without used blocks. */
  trim(destroy: (block: Block) => void): void {
    for (const [role, arenas] of this.#byRole) {
      const isUsed = ({ blocks, free }: Arena) => free.size < blocks.length;
      for (const { blocks, whole } of arenas.filter((arena) => !isUsed(arena)))
        for (const block of [...blocks, whole]) destroy(block);
      this.#byRole.set(role, arenas.filter(isUsed));
    }
  }

  // Allocates space for the blocks that are not in the arena yet; returns undefined if they do not fit.
  #fit(arena: Arena, blocks: readonly Block[]): Map<Block, Block> | undefined {
    const destinations = new Map<Block, Block>();
    for (const block of blocks) {
      if (block.arena === arena) continue;
      const destination = this.#allocate(arena, block.size);
      if (destination === undefined) {
        for (const taken of destinations.values()) arena.free.add(taken);
        return undefined;
      }
      destinations.set(block, destination);
    }
    return destinations;
  }

  #allocate(arena: Arena, size: number): Block | undefined {
    for (const block of arena.free) {
      if (block.size !== size) continue;
      arena.free.delete(block);
      return block;
    }
    const last = arena.blocks.at(-1);
    const offset = last === undefined ? 0 : last.offset + alignedSize(last.size);
    const { whole } = arena;
    if (offset + size > whole.size) return undefined;
    const block = unusedBlock({ id: this.#nextId(), buffer: whole.buffer, offset, size, arena });
    block.used = size;
    isMissingWith(whole, block);
    arena.blocks.push(block);
    return block;
  }
}

// From here on, a block is missing if the whole buffer is.
function isMissingWith(whole: Block, block: Block): void {
  Object.defineProperty(block, "isMissing", {
    get: () => whole.isMissing,
    set(isMissing: boolean) {
      whole.isMissing = isMissing;
    },
    enumerable: true,
    configurable: true,
  });
}

function alignedSize(size: number): number {
  return Math.ceil(size / kAlignment) * kAlignment;
}
