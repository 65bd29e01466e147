// The status words: a kernel that checks indices on the device reports there, in two words of its own, whether one was out of
// range, or where a number is wrong. The host learns it when words that were copied at a point of the stream have been mapped.

import type { Block } from "./blocks";
import type { PlayerError } from "./errors";
import { current, type Fault, type Faults } from "./faults";
import { kThreads } from "./kernels/invocations";
import type { Dispatch } from "./recorder";
import type { View } from "./stream";

/** The words of a slot: the count of indices out of range, the first of them as two words, and one that is not used. */
export const kSlotWords = 4;
const kSlotBytes = 4 * kSlotWords;
/** Slot 0 is never set. */
const kSlots = 2 ** 14;
/** The most faults that a block has before they are merged, and that an optimizer's step looks at. */
export const kMaxFaults = 4;
/** The host asks for the words when it does not know so many outcomes, even if nothing is read. */
const kMaxUnknown = 256;

/** Words that are copied at one point of the stream. */
export interface Snapshot {
  readonly faults: readonly Fault[];
  /** The slots to copy: from the first up to the last, exclusively. */
  readonly ranges: readonly (readonly [first: number, last: number])[];
  readonly bytes: number;
}

export class Status {
  #block: Block;
  readonly #makeBlock: (bytes: number) => Block;
  readonly #clear: (block: Block, offset: number, bytes: number) => void;
  readonly #dispatch: (dispatch: Dispatch) => void;
  // In the order in which they were made; their slots increase, except where they begin again.
  #unknown: Fault[] = [];
  #nextSlot = 1;
  // Slots that may be set although nobody uses them.
  #set = new Set<number>();
  #hasFailed = false;
  #asked = 0;

  /** `makeBlock` returns a new block of zeros, `clear` clears bytes of a block, `dispatch` runs a shader, both at this point of the stream. */
  constructor(
    makeBlock: (bytes: number) => Block,
    clear: (block: Block, offset: number, bytes: number) => void,
    dispatch: (dispatch: Dispatch) => void,
  ) {
    this.#makeBlock = makeBlock;
    this.#block = makeBlock(kSlots * kSlotBytes);
    this.#clear = clear;
    this.#dispatch = dispatch;
  }

  /** The memory of the words; another one if there was none before. */
  get block(): Block {
    if (this.#block.isMissing) this.#block = this.#makeBlock(kSlots * kSlotBytes);
    return this.#block;
  }

  /** Whether no content of any block can have a fault. */
  get isQuiet(): boolean {
    return this.#unknown.length === 0 && !this.#hasFailed;
  }

  get view(): View {
    return { block: this.block, offset: 0, dtype: "int32" };
  }

  /** Notes that blocks have faults that are known. */
  noteFailure(): void {
    this.#hasFailed = true;
  }

  /** Returns the fault of a check that is recorded next. */
  make(op: string, rule?: string): Fault {
    const fault = { slot: this.#takeSlot(), op, rule, error: undefined, isSettled: false };
    this.#unknown.push(fault);
    return fault;
  }

  /** Returns at most as many faults as a block may keep: if there are more, one fault that has happened as soon as one of them has. */
  few(faults: Faults): Faults {
    if (faults.length <= kMaxFaults) return faults;
    const merged = { ...this.make(""), members: faults };
    this.#unknown[this.#unknown.length - 1] = merged;
    this.#dispatch({
      key: "merge status",
      memory: [{ name: "status", view: this.view, mode: "atomic" }],
      uniforms: {
        u32: { merged: merged.slot, count: faults.length },
        table: padded(faults.map(({ slot }) => slot)),
      },
      workgroups: [1],
      body: () => `@compute @workgroup_size(${kThreads})
fn main(@builtin(local_invocation_index) lane: u32) {
  for (var i = lane; i < u.count; i += ${kThreads}u) {
    if (load_status(${kSlotWords}u * u.table[i / 4u][i % 4u]) != 0) {
      store_status(${kSlotWords}u * u.merged, 1);
    }
  }
}
`,
    });
    return [merged];
  }

  /** Returns the words to copy at this point of the stream to learn the outcome of all checks so far. */
  snapshot(): Snapshot | undefined {
    const faults = this.#unknown;
    if (faults.length === 0) return undefined;
    const ranges: [number, number][] = [];
    for (const { slot } of faults) {
      const last = ranges.at(-1);
      if (last !== undefined && slot >= last[0]) last[1] = slot + 1;
      else ranges.push([slot, slot + 1]);
    }
    this.#asked = faults.length;
    const slots = ranges.reduce((sum, [first, last]) => sum + last - first, 0);
    return { faults: [...faults], ranges, bytes: slots * kSlotBytes };
  }

  /** Whether so many outcomes are unknown that the host should ask for them. */
  get isDue(): boolean {
    return this.#unknown.length - this.#asked >= kMaxUnknown;
  }

  /** Records the copies of a snapshot to a staging buffer. */
  copy(encoder: GPUCommandEncoder, { ranges }: Snapshot, to: GPUBuffer, offset: number): void {
    let at = offset;
    for (const [first, last] of ranges) {
      const bytes = (last - first) * kSlotBytes;
      encoder.copyBufferToBuffer(this.block.buffer, first * kSlotBytes, to, at, bytes);
      at += bytes;
    }
  }

  /** Settles the faults of a snapshot whose words have been copied; returns the failures that became known. */
  settle({ faults, ranges }: Snapshot, words: Int32Array): PlayerError[] {
    const failures: PlayerError[] = [];
    for (const fault of faults) {
      if (fault.isSettled) continue;
      fault.isSettled = true;
      let at = 0;
      for (const [first, last] of ranges) {
        if (fault.slot >= first && fault.slot < last) {
          at += fault.slot - first;
          break;
        }
        at += last - first;
      }
      const [count, low, high] = words.subarray(kSlotWords * at) as Iterable<number> as [
        number,
        number,
        number,
      ];
      if (count === 0) continue;
      this.#set.add(fault.slot);
      this.#hasFailed = true;
      fault.error = failureOf(fault, high * 2 ** 32 + (low >>> 0));
      if (!("members" in fault)) failures.push(fault.error);
    }
    this.#unknown = this.#unknown.filter(({ isSettled }) => !isSettled);
    this.#asked = Math.min(this.#asked, this.#unknown.length);
    return failures;
  }

  #takeSlot(): number {
    if (this.#nextSlot === kSlots) this.#nextSlot = 1;
    const slot = this.#nextSlot++;
    // After so many checks within one batch, a slot has two owners: both fail if one does.
    if (this.#set.delete(slot)) this.#clear(this.block, slot * kSlotBytes, kSlotBytes);
    return slot;
  }
}

/** A fault that has happened if one of others has. */
interface Merged extends Fault {
  readonly members: Faults;
}

function failureOf(fault: Fault, index: number): PlayerError {
  if ("members" in fault) {
    const [member] = current((fault as Merged).members);
    if (member?.error !== undefined) return member.error;
  }
  const { op, rule } = fault;
  if (rule !== undefined) return { kind: "argument", op, message: `${rule} ${index}` };
  return { kind: "index", op, message: `index ${index} is out of range`, index };
}

function padded(slots: readonly number[]): number[] {
  return [...slots, ...new Array((4 - (slots.length % 4)) % 4).fill(0)];
}

/** Returns the slots that a step looks at before it changes anything. */
export function guardsOf(faults: Faults): number[] {
  return Array.from({ length: kMaxFaults }, (_, i) => faults[i]?.slot ?? 0);
}
