// Reads commands that have not been played yet, while the player waits for a shader: a GPU compiles several at once. Where this
// expects another shader than the one that is used in the end, the player compiles that when it gets there.

import { kKernelFields } from "../generated/stream";
import type { Block, Blocks } from "./blocks";
import type { DType } from "./dtype";
import { kNoFaults } from "./faults";
import { type HalfCopy, halfCopyOf, originalOf } from "./half_copies";
import type { AdapterTraits, AnyKernel } from "./kernels/kernel";
import type { KernelTable } from "./kernels/table";
import type { Recorder } from "./recorder";
import { type Fields, Reader, type Symbols } from "./stream";

export class LookAhead implements Symbols {
  readonly #table: KernelTable;
  readonly #playedBlocks: Blocks;
  readonly #playedNames: ReadonlyMap<number, string>;
  readonly #recorder: Recorder;
  readonly #traits: AdapterTraits;
  // What commands that have been read, but not been played, define.
  readonly #blocks = new Map<number, Block>();
  readonly #names = new Map<number, string>();
  readonly #halfCopies = new Map<Block, HalfCopy>();
  readonly #isRead = new WeakSet<Reader>();
  #nextId = -1;

  /** `table` contains the available kernels; `blocks` and `names` are what the player has played, `recorder` compiles. */
  constructor(
    table: KernelTable,
    blocks: Blocks,
    names: ReadonlyMap<number, string>,
    recorder: Recorder,
    traits: AdapterTraits,
  ) {
    this.#table = table;
    this.#playedBlocks = blocks;
    this.#playedNames = names;
    this.#recorder = recorder;
    this.#traits = traits;
  }

  /** Reads what comes after the current command of a batch, unless it has done so before. */
  read(batch: Reader): void {
    if (this.#isRead.has(batch)) return;
    this.#isRead.add(batch);
    const reader = new Reader(batch.following(), this);
    try {
      for (let name = reader.next(); name !== undefined; name = reader.next()) {
        if (name === "Name") {
          const { number, text } = reader.command(name);
          this.#names.set(number, text);
        } else if (name === "Allocate" || name === "Use") {
          const { block, bytes } = reader.command(name);
          this.#blocks.set(block, this.#placeholder(bytes));
        } else if (name === "Kernel") this.#readKernel(reader);
      }
    } catch {
      // The player will report it.
    }
  }

  /** All that has been read has been played. */
  clear(): void {
    this.#blocks.clear();
    this.#names.clear();
    this.#halfCopies.clear();
  }

  /** @internal */
  block(number: number): Block {
    const block = this.#blocks.get(number) ?? this.#playedBlocks.find(number);
    if (block === undefined) throw new Error(`there is no block ${number}`);
    return block;
  }

  /** @internal */
  name(number: number): string {
    return this.#names.get(number) ?? this.#playedNames.get(number) ?? "";
  }

  // Optimizer steps are left out, because what is joined into one shader is not known yet.
  #readKernel(reader: Reader): void {
    const command = reader.command("Kernel");
    const name = this.name(command.kernel);
    const kernel = this.#table.get(name);
    const fields = (kKernelFields as Readonly<Record<string, Fields>>)[name];
    if (kernel === undefined || fields === undefined || "options" in kernel) return;
    const call = reader.read<never>(fields);
    try {
      this.#expectAll(kernel, call, this.name(command.op));
    } catch {
      // The player will report it.
    }
  }

  #expectAll(kernel: AnyKernel, call: never, op: string): void {
    const { recording } = this.#recorder;
    const view = (bytes: number, dtype: DType) => ({
      block: this.#placeholder(bytes),
      offset: 0,
      dtype,
    });
    kernel.play(call, {
      ...this.#traits,
      dispatch: (dispatch) => this.#recorder.expect(dispatch, op),
      copy: () => undefined,
      clear: () => undefined,
      scratch: view,
      status: () => view(0, "int32"),
      original: (given) => originalOf(given, recording, this.#halfCopies.get(given.block)),
    });
    const widened = kernel.widened?.(call);
    if (widened !== undefined) this.#halfCopies.set(widened.to, halfCopyOf(widened, recording));
  }

  // A block for the texts of shaders, which depend on what is the same block and on sizes.
  #placeholder(bytes: number): Block {
    const id = this.#nextId--;
    return {
      ...{ id, number: 0, offset: 0, size: bytes, used: bytes },
      ...{ isMissing: false, isIdle: false, faults: kNoFaults },
      ...{ batch: 0, writtenIn: 0, version: 0, halfCopy: undefined, isLent: false },
      recordingCount: 0,
      buffer: { label: `${id}` } as GPUBuffer,
    };
  }
}
