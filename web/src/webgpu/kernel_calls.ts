// Plays the kernel commands of a stream, caches what they record, and passes failures on to their results.

import { type Kernel, kKernelFields } from "../generated/stream";
import type { Block, Blocks } from "./blocks";
import { type BlockReference, type CacheEntry, CommandCache } from "./command_cache";
import type { DType } from "./dtype";
import { asPlayerError, type PlayerError } from "./errors";
import { errorOf, type Fault, type Faults, faultOf, kNoFaults, union } from "./faults";
import { changeContent, halfCopyOf, originalOf, type Widened } from "./half_copies";
import type { AdapterTraits, AnyKernel, Commands } from "./kernels/kernel";
import type { KernelTable } from "./kernels/table";
import type { Dispatch, PreparedDispatch, Recorder } from "./recorder";
import type { CallRecord, Recording, Replayed } from "./recording";
import { guardsOf, Status } from "./status";
import { StepCalls, type StepFields } from "./steps/step_calls";
import type { StepOptions } from "./steps/step_kernel";
import { boundBlocks, type Step, stepsDispatch } from "./steps/step_shader";
import type { Fields, Reader, View } from "./stream";

/** The largest blocks, in bytes, whose optimizer steps are joined into one dispatch. */
const kMaxJoinedBytes = { software: 2 ** 16, hardware: 2 ** 22 };

/** A call that is ready to be recorded. */
export interface PreparedCall extends CacheEntry, CallRecord {
  readonly blocks: BlockReference[];
  readonly scratch: Block[];
  /** Functions that record the commands; they receive the number of the status words. */
  readonly actions: ((slot: number) => void)[];
  /** What it reads in the place of copies, and the copy that it makes. */
  readonly originals: readonly Original[];
  readonly widened: Widened | undefined;
}

interface Original {
  readonly given: View;
  readonly found: View;
}

export class KernelCalls {
  readonly status: Status;
  readonly #table: KernelTable;
  readonly #blocks: Blocks;
  readonly #recorder: Recorder;
  readonly #traits: AdapterTraits;
  readonly #cache = new CommandCache<PreparedCall>();
  readonly #steps: StepCalls;
  readonly #block = (number: number) => this.#blocks.get(number);
  // The blocks that the current command refers to, as far as it has been read.
  #references: BlockReference[] = [];

  /** `table` contains the available kernels by name; `recordings` returns those that can be replayed. */
  constructor(
    table: KernelTable,
    blocks: Blocks,
    recorder: Recorder,
    traits: AdapterTraits,
    recordings: () => Iterable<Recording>,
  ) {
    this.#table = table;
    this.#blocks = blocks;
    this.#recorder = recorder;
    this.#traits = traits;
    this.status = new Status(
      (bytes) => blocks.makeScratch(bytes),
      (block, offset, bytes) => recorder.unrecorded(() => recorder.clear(block, offset, bytes)),
      (dispatch) => recorder.unrecorded(() => this.#dispatch(dispatch, "")),
    );
    const joiner = {
      maxBytes: traits.isSoftware ? kMaxJoinedBytes.software : kMaxJoinedBytes.hardware,
      gather: (role: number, some: readonly Block[]) => this.#gather(role, some, recordings),
      run: (steps: readonly Step[], options: StepOptions, op: string) =>
        this.#runSteps(steps, options, op),
    };
    this.#steps = new StepCalls(joiner, this.#block);
  }

  /** Clears the cache, because a number may refer to another name now. */
  invalidateCache(): void {
    this.#cache.clear();
  }

  /** Adds a block that the current command refers to. */
  addReference(number: number, block: Block, isWritten: boolean): void {
    this.#references.push({ number, block, used: block.used, isWritten });
  }

  /** Records all optimizer steps that are still waiting to be joined. */
  finish(): void {
    this.#steps.finish();
  }

  /**
   * Prepares the current command of a reader, whose pipelines and scratch memory may have to be created; `onOp` receives the op that
   * it belongs to. Returns undefined for an optimizer's step, which is recorded later.
   */
  prepare(
    command: Kernel,
    reader: Reader,
    nameOf: (number: number) => string,
    onOp: (op: string) => void,
  ): PreparedCall | undefined {
    this.#references = [];
    const name = nameOf(command.kernel);
    const op = nameOf(command.op);
    onOp(op);
    const kernel = this.#table.get(name);
    const fields = (kKernelFields as Readonly<Record<string, Fields>>)[name];
    if (kernel === undefined || fields === undefined) throw new Error(`there is no kernel ${name}`);
    if ("options" in kernel) {
      this.#steps.play(kernel, fields as StepFields, reader, op, () => this.#references);
      return undefined;
    }
    this.#steps.finish();
    const cached = this.#cache.find(reader.words(), this.#block);
    if (cached !== undefined && this.isCurrent(cached)) return cached;
    const call = reader.read<never>(fields);
    reader.finish();
    return this.#prepare(op, kernel, call);
  }

  /** Records a call that has been prepared. */
  record(call: PreparedCall, words: Uint32Array): void {
    this.#recorder.recording?.addCall(call);
    const own = this.#begin(call);
    for (const action of call.actions) action(own?.slot ?? 0);
    this.#end(call, own);
    this.#noteCopy(call.widened);
    this.#cache.set(words, call);
  }

  /** Whether the originals that a call reads are still what it would read. */
  isCurrent({ originals }: PreparedCall): boolean {
    return originals.every(({ given, found }) => {
      const { block, offset } = originalOf(given, this.#recorder.recording);
      return block === found.block && offset === found.offset;
    });
  }

  /** Passes the error of the current command on to its results, which it returns; none if they are not known. */
  fail(error: PlayerError): readonly Block[] {
    const failed = this.#references.filter(({ isWritten }) => isWritten).map(({ block }) => block);
    this.poison(failed, error);
    return failed;
  }

  /** From here on, the content of blocks has this error. */
  poison(blocks: Iterable<Block>, error: PlayerError): void {
    for (const block of blocks) block.faults = [faultOf(error)];
    this.status.noteFailure();
  }

  /** What a replay does for every call. */
  replayed(): Replayed {
    let last: { call: CallRecord; own: Fault | undefined } | undefined;
    return {
      begin: (call) => {
        const own = this.#begin(call);
        last = { call, own };
        return own?.slot ?? 0;
      },
      end: () => {
        if (last !== undefined) this.#end(last.call, last.own);
        last = undefined;
      },
    };
  }

  #begin({ usesStatus, op, rule }: CallRecord): Fault | undefined {
    return usesStatus ? this.status.make(op, rule) : undefined;
  }

  // The results inherit what the operands have, and what they had themselves unless all of it was replaced.
  #end({ reads, writes, overwrites }: CallRecord, own: Fault | undefined): void {
    for (const block of writes) this.#noteWrite(block);
    if (this.status.isQuiet) return;
    let faults: Faults = own === undefined ? kNoFaults : [own];
    for (const block of reads) faults = union(block.faults, faults);
    if (!overwrites) for (const block of writes) faults = union(block.faults, faults);
    faults = this.status.few(faults);
    for (const block of writes) block.faults = faults;
  }

  #noteCopy(widened: Widened | undefined): void {
    if (widened !== undefined) widened.to.halfCopy = halfCopyOf(widened, this.#recorder.recording);
  }

  #noteWrite(block: Block): void {
    block.writtenIn = this.#recorder.batch;
    changeContent(block);
  }

  #dispatch(dispatch: Dispatch, op: string): void {
    const prepared = this.#recorder.prepare(dispatch, op, true);
    if (prepared !== undefined) this.#recorder.dispatch(prepared);
  }

  // Steps whose gradients have failed change nothing; for those that may have, the device decides.
  #runSteps(steps: readonly Step[], options: StepOptions, op: string): void {
    const recorder = this.#recorder;
    let plain: PreparedDispatch | undefined;
    const run = () => {
      const faults = steps.map((step) => this.#inputFaults(step));
      if (faults.every(({ length }) => length === 0)) {
        plain ??= recorder.prepare(stepsDispatch(steps, options), op, true);
        if (plain !== undefined) recorder.dispatch(plain);
        return;
      }
      const isLeft = (_: unknown, i: number) => errorOf(faults[i] as Faults) === undefined;
      const left = steps.filter(isLeft);
      if (left.length === 0) return;
      const slots = faults.filter(isLeft).map(guardsOf);
      this.#dispatch(stepsDispatch(left, options, { status: this.status.view, slots }), op);
    };
    const used = steps.flatMap(({ memory }) => memory.map(({ view }) => view.block));
    const written = steps.flatMap(({ memory }) =>
      memory.filter(({ mode }) => mode !== "read").map(({ view }) => view.block),
    );
    try {
      recorder.unrecorded(run);
    } catch (exception) {
      const error = asPlayerError(exception, op);
      this.poison(written, error);
      recorder.recording?.fail(error, written);
      return;
    }
    recorder.reportAttempts();
    const noteWrites = () => {
      for (const block of used) recorder.markUsed(block);
      for (const block of written) this.#noteWrite(block);
    };
    noteWrites();
    recorder.recording?.addAgain(() => {
      run();
      noteWrites();
    }, [...used, ...steps.flatMap(boundBlocks)]);
  }

  // Moves the memory of steps. Gradients that recordings write are moved, too, so that replays need fewer dispatches.
  #gather(role: number, some: readonly Block[], recordings: () => Iterable<Recording>) {
    const recorder = this.#recorder;
    // A recording would repeat the moves at every replay.
    if (recorder.recording !== undefined) return new Map<Block, Block>();
    const all = [...recordings()];
    const canMove = (block: Block) =>
      block.number !== 0 &&
      !block.isLent &&
      (block.recordingCount === 0 || all.some((part) => part.canMove(block)));
    const places = this.#blocks.gather(role, some, canMove, (to, from) =>
      recorder.copy(to, 0, from, 0, from.size),
    );
    const moved = new Set([...places.keys()].filter(({ recordingCount }) => recordingCount > 0));
    if (moved.size > 0) {
      recorder.rebind(all, moved);
      this.#cache.clear();
      this.#steps.forgetPlans();
    }
    return places;
  }

  #inputFaults({ memory }: Step): Faults {
    if (this.status.isQuiet) return kNoFaults;
    let faults = kNoFaults;
    for (const { mode, view } of memory)
      if (mode === "read") faults = union(faults, view.block.faults);
    return this.status.few(faults);
  }

  #prepare(op: string, kernel: AnyKernel, call: never): PreparedCall {
    const recorder = this.#recorder;
    const blocksOf = (isWritten: boolean) =>
      this.#references
        .filter((reference) => reference.isWritten === isWritten)
        .map(({ block }) => block);
    const actions: PreparedCall["actions"] = [];
    const scratch: Block[] = [];
    const originals: Original[] = [];
    let usesStatus = false;
    let rule: string | undefined;
    try {
      kernel.play(call, {
        ...this.#traits,
        dispatch: (dispatch: Dispatch) => {
          const prepared = recorder.prepare(dispatch, op);
          if (prepared !== undefined) actions.push((slot) => recorder.dispatch(prepared, slot));
        },
        copy: (to: Block, toOffset: number, from: Block, fromOffset: number, bytes: number) =>
          actions.push(() => recorder.copy(to, toOffset, from, fromOffset, bytes)),
        clear: ({ block }: View) => actions.push(() => recorder.clear(block)),
        scratch: (bytes: number, dtype: DType) => {
          const block = this.#blocks.takeScratch(bytes);
          scratch.push(block);
          return { block, offset: 0, dtype };
        },
        status: (given?: string) => {
          usesStatus = true;
          rule = given;
          return this.status.view;
        },
        original: (given: View) => {
          const found = originalOf(given, recorder.recording);
          originals.push({ given, found });
          return found;
        },
      } satisfies Commands);
    } finally {
      for (const block of scratch) this.#blocks.releaseScratch(block);
    }
    // Not given back, but as necessary.
    if (usesStatus) scratch.push(this.status.block);
    const widened = kernel.widened?.(call);
    // Already here, for what is compiled ahead while the copy waits for its shader. If it fails, so does everything that reads it.
    this.#noteCopy(widened);
    return {
      op,
      blocks: this.#references,
      reads: blocksOf(false),
      writes: blocksOf(true),
      usesStatus,
      rule,
      overwrites: kernel.overwrites?.(call) ?? false,
      scratch,
      actions,
      originals,
      widened,
    };
  }
}
