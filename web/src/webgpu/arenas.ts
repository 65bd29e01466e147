// Buffers that many blocks lie in, so that one dispatch can see them all: a shader sees ten buffers or so.

import type { Block } from "./blocks";

/** A buffer whose blocks play one role in a kernel. */
export interface Arena {
  /** All of it. */
  readonly whole: Block;
  readonly blocks: Block[];
  readonly free: Set<Block>;
}

/** Where a binding may begin on every device. */
const kAlignment = 256;

export class Arenas {
  readonly #make: (bytes: number) => Block;
  readonly #nextId: () => number;
  readonly #byRole = new Map<number, Arena[]>();

  /** `make` gives a buffer of its own, `nextId` what tells blocks apart. */
  constructor(make: (bytes: number) => Block, nextId: () => number) {
    this.#make = make;
    this.#nextId = nextId;
  }

  /** Places for those of the blocks that have to move so that all are in one arena of a role. */
  destinationsFor(role: number, blocks: Iterable<Block>): Map<Block, Block> {
    const canMove = ({ number, recordingCount }: Block) => number !== 0 && recordingCount === 0;
    const all = [...new Set(blocks)].filter(canMove);
    if (all.length === 0) return new Map();
    const arenas = this.#byRole.get(role) ?? [];
    this.#byRole.set(role, arenas);
    const holds = (arena: Arena) => all.some((block) => block.arena === arena);
    const holding = arenas.filter(holds);
    // Later ones have more room.
    const others = arenas.filter((arena) => !holds(arena));
    for (const arena of [...holding.reverse(), ...others]) {
      const destinations = this.#fit(arena, all);
      if (destinations !== undefined) return destinations;
    }
    // Where blocks change there will be others: room for as many again.
    const bytes = all.reduce((sum, { size }) => sum + alignedSize(size), 0);
    const whole = this.#make(holding.length === 0 ? bytes : 2 * bytes);
    const arena = { whole, blocks: [], free: new Set<Block>() };
    arenas.push(arena);
    return this.#fit(arena, all) as Map<Block, Block>;
  }

  /** Destroys what nobody uses. */
  trim(destroy: (block: Block) => void): void {
    for (const [role, arenas] of this.#byRole) {
      const isUsed = ({ blocks, free }: Arena) => free.size < blocks.length;
      for (const { blocks, whole } of arenas.filter((arena) => !isUsed(arena)))
        for (const block of [...blocks, whole]) destroy(block);
      this.#byRole.set(role, arenas.filter(isUsed));
    }
  }

  // Places for those that are not in the arena, if it has them.
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
    const block: Block = {
      id: this.#nextId(),
      number: 0,
      buffer: whole.buffer,
      offset,
      size,
      used: size,
      batch: 0,
      recordingCount: 0,
      arena,
      get isMissing() {
        return whole.isMissing;
      },
      set isMissing(isMissing) {
        whole.isMissing = isMissing;
      },
    };
    arena.blocks.push(block);
    return block;
  }
}

function alignedSize(size: number): number {
  return Math.ceil(size / kAlignment) * kAlignment;
}
