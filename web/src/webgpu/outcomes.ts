// What commands of kernels came to, by their words: training calls the same again and again, and then nothing of it
// needs to be found anew.

import type { Block } from "./blocks";

/** A block that a command names, and of how much use it was then. */
export interface Named {
  readonly number: number;
  readonly block: Block;
  readonly used: number;
}

/** An outcome holds while all that it was made of is as it was. */
export interface Outcome {
  readonly blocks: readonly Named[];
  readonly scratch: readonly Block[];
}

interface Known<T> {
  readonly words: Uint32Array;
  readonly outcome: T;
}

/** With more, all are found anew as they are called. */
const kMostKnown = 8192;

export class Outcomes<T extends Outcome> {
  // Of a command that was called once there is only the hash: much is never called again.
  readonly #known = new Map<number, Known<T> | undefined>();

  /** The outcome of these words, if it still holds; `block` has the blocks by their numbers as they are now. */
  find(words: Uint32Array, block: (number: number) => Block): T | undefined {
    const known = this.#known.get(hashOf(words));
    if (known === undefined || !areEqual(known.words, words)) return undefined;
    const { blocks, scratch } = known.outcome;
    for (const was of blocks)
      if (block(was.number) !== was.block || was.block.used !== was.used) return undefined;
    for (const { isMissing } of scratch) if (isMissing) return undefined;
    return known.outcome;
  }

  keep(words: Uint32Array, outcome: T): void {
    const hash = hashOf(words);
    const wasCalled = this.#known.has(hash);
    if (!wasCalled && this.#known.size >= kMostKnown) this.#known.clear();
    // A copy: the words lie in memory of the engine.
    this.#known.set(hash, wasCalled ? { words: words.slice(), outcome } : undefined);
  }

  clear(): void {
    this.#known.clear();
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
