// What commands of kernels came to, by their words: training calls the same again and again, and then nothing of it
// needs to be found anew.

import type { Block } from "./blocks";

/** A block that a command names, and of how much use it was then. */
export interface BlockReference {
  readonly number: number;
  readonly block: Block;
  readonly used: number;
}

/** An outcome holds while all that it was made of is as it was. */
export interface CacheEntry {
  readonly blocks: readonly BlockReference[];
  readonly scratch: readonly Block[];
}

interface StoredEntry<T> {
  readonly words: Uint32Array;
  readonly entry: T;
}

/** With more, all are found anew as they are called. */
const kMaxEntries = 8192;

export class CommandCache<T extends CacheEntry> {
  // Of a command that was called once there is only the hash: much is never called again.
  readonly #entries = new Map<number, StoredEntry<T> | undefined>();

  /** The outcome of these words, if it still holds; `block` has the blocks by their numbers as they are now. */
  find(words: Uint32Array, block: (number: number) => Block): T | undefined {
    const entries = this.#entries.get(hashOf(words));
    if (entries === undefined || !areEqual(entries.words, words)) return undefined;
    const { blocks, scratch } = entries.entry;
    for (const reference of blocks)
      if (block(reference.number) !== reference.block || reference.block.used !== reference.used)
        return undefined;
    for (const { isMissing } of scratch) if (isMissing) return undefined;
    return entries.entry;
  }

  set(words: Uint32Array, entry: T): void {
    const hash = hashOf(words);
    const wasCalled = this.#entries.has(hash);
    if (!wasCalled && this.#entries.size >= kMaxEntries) this.#entries.clear();
    // A copy: the words lie in memory of the engine.
    this.#entries.set(hash, wasCalled ? { words: words.slice(), entry } : undefined);
  }

  clear(): void {
    this.#entries.clear();
  }
}

function hashOf(words: Uint32Array): number {
  let hash = 0;
  for (let i = 0; i < words.length; i++)
    hash = Math.imul(hash ^ (words[i] as number), 0x9e3779b1) ^ (hash >>> 15);
  return hash;
}

/** Whether two commands, or parts of them, say the same. */
export function areEqual(a: Uint32Array, b: Uint32Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
