// Free GPU buffers by size, for reuse by later requests of the same size.

import type { Block } from "./blocks";

/** The maximum total size of the free blocks that are retained. */
const kMaxBytes = 256 * 2 ** 20;

export class FreeList {
  // By size, sorted by id: repeated requests get the same buffers, and therefore the same bind groups.
  readonly #bySize = new Map<number, Block[]>();
  #bytes = 0;

  /** Removes and returns the first block of this size for which `fits` is true. */
  take(size: number, fits: (block: Block) => boolean): Block | undefined {
    const list = this.#bySize.get(size) ?? [];
    const index = list.findIndex(fits);
    if (index < 0) return undefined;
    this.#bytes -= size;
    return list.splice(index, 1)[0];
  }

  add(block: Block): void {
    const list = this.#bySize.get(block.size) ?? [];
    this.#bySize.set(block.size, list);
    const index = list.findIndex(({ id }) => id > block.id);
    list.splice(index < 0 ? list.length : index, 0, block);
    this.#bytes += block.size;
  }

  /** Releases blocks, the largest first, until the rest is within the limit. */
  trim(release: (block: Block) => void, maxBytes = kMaxBytes): void {
    if (this.#bytes <= maxBytes) return;
    for (const size of [...this.#bySize.keys()].sort((a, b) => b - a)) {
      const list = this.#bySize.get(size) as Block[];
      for (let i = list.length - 1; i >= 0 && this.#bytes > maxBytes; i--) {
        const block = list[i] as Block;
        if (block.recordingCount > 0) continue;
        list.splice(i, 1);
        this.#bytes -= size;
        release(block);
      }
      if (list.length === 0) this.#bySize.delete(size);
    }
  }
}
