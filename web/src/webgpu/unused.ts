// Blocks that nobody has, kept for whoever needs one of their size.

import type { Block } from "./blocks";

/** Unused bytes that are kept for later blocks. */
const kMostBytes = 256 * 2 ** 20;

export class UnusedBlocks {
  // By size, in the order of ids: the same requests get the same buffers, and so the same bind groups.
  readonly #bySize = new Map<number, Block[]>();
  #bytes = 0;

  /** The first of that size which `fits`. */
  take(size: number, fits: (block: Block) => boolean): Block | undefined {
    const list = this.#bySize.get(size) ?? [];
    const place = list.findIndex(fits);
    if (place < 0) return undefined;
    this.#bytes -= size;
    return list.splice(place, 1)[0];
  }

  give(block: Block): void {
    const list = this.#bySize.get(block.size) ?? [];
    this.#bySize.set(block.size, list);
    const place = list.findIndex(({ id }) => id > block.id);
    list.splice(place < 0 ? list.length : place, 0, block);
    this.#bytes += block.size;
  }

  /** Lets go of blocks beyond a limit, the largest first. */
  trim(letGo: (block: Block) => void): void {
    if (this.#bytes <= kMostBytes) return;
    for (const size of [...this.#bySize.keys()].sort((a, b) => b - a)) {
      const list = this.#bySize.get(size) as Block[];
      for (let i = list.length - 1; i >= 0 && this.#bytes > kMostBytes; i--) {
        const block = list[i] as Block;
        if (block.keepers > 0) continue;
        list.splice(i, 1);
        this.#bytes -= size;
        letGo(block);
      }
      if (list.length === 0) this.#bySize.delete(size);
    }
  }
}
