// A cache of what kernel commands recorded, keyed by the words of the command. Training repeats the same commands, which then
// need not be decoded again.

import type { Block } from "./blocks";

/** A block that a command refers to, with its used bytes at that time. */
export interface BlockReference {
  readonly number: number;
  readonly block: Block;
  readonly used: number;
  readonly isWritten: boolean;
}

/** A cached result, which is valid while everything it depends on is unchanged. */
export interface CacheEntry {
  readonly blocks: readonly BlockReference[];
  readonly scratch: readonly Block[];
}

interface StoredEntry<T> {
  readonly words: Uint32Array;
  readonly entry: T;
}

/** The cache is cleared when it has more entries. */
const kMaxEntries = 8192;

export class CommandCache<T extends CacheEntry> {
  // For a command that was seen once, only the hash is stored: many commands are never repeated.
  readonly #entries = new Map<number, StoredEntry<T> | undefined>();

  /** Returns the entry for these words if it is still valid. `block` returns the current block of a number. */
  find(words: Uint32Array, block: (number: number) => Block): T | undefined {
    const stored = this.#entries.get(hashOf(words));
    if (stored === undefined || !areEqual(stored.words, words)) return undefined;
    const { blocks, scratch } = stored.entry;
    for (const reference of blocks)
      if (block(reference.number) !== reference.block || reference.block.used !== reference.used)
        return undefined;
    for (const { isMissing } of scratch) if (isMissing) return undefined;
    return stored.entry;
  }

  /** Stores an entry, from the second time on that it is set for these words. */
  set(words: Uint32Array, entry: T): void {
    const hash = hashOf(words);
    const wasCalled = this.#entries.has(hash);
    if (!wasCalled && this.#entries.size >= kMaxEntries) this.#entries.clear();
    // A copy, because the words are in the engine's memory.
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

/** Whether two sequences of words are equal. */
export function areEqual(a: Uint32Array, b: Uint32Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
