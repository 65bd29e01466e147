// Plays the kernel commands of a stream and caches what they record.

import { type Kernel, kKernelFields } from "../generated/stream";
import type { Block, Blocks } from "./blocks";
import { type BlockReference, type CacheEntry, CommandCache } from "./command_cache";
import type { DType } from "./dtype";
import type { Commands } from "./kernels/kernel";
import type { KernelTable } from "./kernels/table";
import { kStatusBytes } from "./readback";
import type { Dispatch, Recorder } from "./recorder";
import { StepCalls, type StepFields } from "./steps/step_calls";
import type { Fields, Reader, View } from "./stream";

/** The largest blocks, in bytes, whose optimiser steps are joined into one dispatch. */
const kMaxJoinedBytes = { software: 2 ** 16, hardware: 2 ** 22 };

/** The commands that a kernel recorded. */
interface Recorded extends CacheEntry {
  readonly blocks: BlockReference[];
  readonly scratch: Block[];
  usesStatus: boolean;
  /** Functions that record the commands again. */
  readonly actions: (() => void)[];
}

export class KernelCalls {
  readonly #table: KernelTable;
  readonly #blocks: Blocks;
  readonly #recorder: Recorder;
  readonly #isSoftware: boolean;
  readonly #status: Block;
  readonly #cache = new CommandCache<Recorded>();
  readonly #steps: StepCalls;
  readonly #block = (number: number) => this.#blocks.get(number);
  // The blocks that the current command refers to, as far as it has been read.
  #references: BlockReference[] = [];
  #statusIsUsed = false;

  /** `table` contains the available kernels by name. */
  constructor(table: KernelTable, blocks: Blocks, recorder: Recorder, isSoftware: boolean) {
    this.#table = table;
    this.#blocks = blocks;
    this.#recorder = recorder;
    this.#isSoftware = isSoftware;
    this.#status = blocks.takeScratch(kStatusBytes);
    const joiner = {
      maxBytes: isSoftware ? kMaxJoinedBytes.software : kMaxJoinedBytes.hardware,
      gather: (role: number, some: readonly Block[]) =>
        // A recording would repeat the moves at every replay.
        recorder.recording === undefined
          ? blocks.gather(role, some, (to, from) => recorder.copy(to, 0, from, 0, from.size))
          : new Map(),
      dispatch: (dispatch: Dispatch, op: string) => {
        const prepared = recorder.prepare(dispatch, op);
        if (prepared !== undefined) recorder.dispatch(prepared);
      },
      markUsed: (block: Block) => recorder.markUsed(block),
    };
    this.#steps = new StepCalls(joiner, this.#block);
  }

  /** Returns the status words if a kernel has used them since the last call. */
  takeStatus(): Block | undefined {
    const status = this.#statusIsUsed ? this.#status : undefined;
    this.#statusIsUsed = false;
    return status;
  }

  /** Notes that the recorded commands may set the status words. */
  markStatusUsed(): void {
    this.#statusIsUsed = true;
    const { recording } = this.#recorder;
    if (recording !== undefined) recording.usesStatus = true;
  }

  /** Clears the cache, because a number may refer to another name now. */
  invalidateCache(): void {
    this.#cache.clear();
  }

  /** Adds a block that the current command refers to. */
  addReference(number: number, block: Block): void {
    this.#references.push({ number, block, used: block.used });
  }

  /** Records all optimiser steps that are still waiting to be joined. */
  finish(): void {
    this.#steps.finish();
  }

  /** Plays the current command of a reader; `onOp` receives the op that it belongs to. */
  play(
    command: Kernel,
    reader: Reader,
    nameOf: (number: number) => string,
    onOp: (op: string) => void,
  ): void {
    const name = nameOf(command.kernel);
    const op = nameOf(command.op);
    onOp(op);
    const kernel = this.#table.get(name);
    const fields = (kKernelFields as Readonly<Record<string, Fields>>)[name];
    if (kernel === undefined || fields === undefined) throw new Error(`there is no kernel ${name}`);
    this.#references = [];
    if ("options" in kernel) {
      this.#steps.play(kernel, fields as StepFields, reader, op, () => this.#references);
      return;
    }
    this.#steps.finish();
    const words = reader.words();
    const cached = this.#cache.find(words, this.#block);
    if (cached !== undefined) {
      for (const action of cached.actions) action();
      if (cached.usesStatus) this.markStatusUsed();
      return;
    }
    const call = reader.read<never>(fields);
    reader.finish();
    const recorded = this.record(op, command.op, (commands) => kernel.play(call, commands));
    this.#cache.set(words, recorded);
  }

  /** Runs `work` for an op and records its commands. */
  record(op: string, opNumber: number, work: (commands: Commands) => void): Recorded {
    const recorder = this.#recorder;
    const recorded: Recorded = {
      blocks: this.#references,
      scratch: [],
      usesStatus: false,
      actions: [],
    };
    const act = (action: () => void) => {
      action();
      recorded.actions.push(action);
    };
    try {
      work({
        opNumber,
        isSoftware: this.#isSoftware,
        dispatch: (dispatch: Dispatch) => {
          const prepared = recorder.prepare(dispatch, op);
          if (prepared !== undefined) act(() => recorder.dispatch(prepared));
        },
        copy: (to: Block, toOffset: number, from: Block, fromOffset: number, bytes: number) =>
          act(() => recorder.copy(to, toOffset, from, fromOffset, bytes)),
        clear: ({ block }: View) => act(() => recorder.clear(block)),
        scratch: (bytes: number, dtype: DType) => {
          const block = this.#blocks.takeScratch(bytes);
          recorded.scratch.push(block);
          return { block, offset: 0, dtype };
        },
        status: () => {
          recorded.usesStatus = true;
          this.markStatusUsed();
          return { block: this.#status, offset: 0, dtype: "int32" };
        },
      });
    } finally {
      for (const block of recorded.scratch) this.#blocks.releaseScratch(block);
    }
    return recorded;
  }
}
