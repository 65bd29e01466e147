// Plays batches of the stream (README.md) on a device.

import type { Read } from "../generated/stream";
import { type Block, Blocks } from "./blocks";
import { Buffers } from "./buffers";
import { Clock } from "./clock";
import { asPlayerError, ErrorCollector, type PlayerError } from "./errors";
import { Exchange } from "./exchange";
import { errorOf, kNoFaults } from "./faults";
import { changeContent } from "./half_copies";
import { KernelCalls, type PreparedCall } from "./kernel_calls";
import { traitsOf } from "./kernels/kernel";
import { type KernelTable, kernels } from "./kernels/table";
import { LookAhead } from "./look_ahead";
import { Pipelines } from "./pipelines";
import { type Host, kNoTicket, Readback } from "./readback";
import { Recorder } from "./recorder";
import { Recording } from "./recording";
import { type CommandName, Reader, type Symbols } from "./stream";

/** The maximum size of a query set. */
const kClockSlots = 4096;

/** What a player has done since it was created. */
export interface PlayerStats {
  readonly submits: number;
  readonly dispatches: number;
  readonly pipelines: number;
  readonly bindGroups: number;
  readonly buffersCreated: number;
  readonly readbacks: number;
  readonly bytesWritten: number;
  readonly bytesRead: number;
}

/** Work between two batches; it may take time. */
type Task = () => Promise<void> | undefined;

/** Kernels and Idle leave the steps waiting that are to be joined; all others come after them. */
type OtherCommand = Exclude<CommandName, "Kernel" | "Idle">;

export class Player implements Symbols {
  /** What the page gives and takes. */
  readonly exchange: Exchange;
  readonly #errors: ErrorCollector;
  readonly #buffers: Buffers;
  readonly #blocks: Blocks;
  readonly #pipelines: Pipelines;
  readonly #recorder: Recorder;
  readonly #readback: Readback;
  readonly #kernelCalls: KernelCalls;
  readonly #names = new Map<number, string>();
  readonly #recordings = new Map<number, Recording>();
  readonly #device: GPUDevice;
  // Absent where shaders are compiled one after the other.
  readonly #lookAhead: LookAhead | undefined;
  #openClock: Clock | undefined;
  // Batches that wait while something that an earlier one needs is being created.
  #queue: (Reader | Task)[] = [];
  #playing: Promise<void> | undefined;
  #isClosed = false;

  /** `table` contains the available kernels by name. */
  constructor(device: GPUDevice, host: Host, table: KernelTable = kernels) {
    this.#errors = new ErrorCollector(device, (error) => {
      host.lost(error.message);
      this.#readback.failAll(error);
    });
    this.#buffers = new Buffers(device, this.#errors);
    this.#blocks = new Blocks(this.#buffers, () => this.#recorder.batch);
    this.#pipelines = new Pipelines(device, this.#errors);
    const traits = traitsOf(device);
    const { isSoftware } = traits;
    const onSubmit = (failure: Promise<PlayerError | undefined>, batch: number) =>
      this.#readback.start(failure.then((error) => this.#submitted(batch, error)));
    this.#recorder = new Recorder(
      device,
      this.#errors,
      this.#buffers,
      this.#pipelines,
      isSoftware,
      onSubmit,
    );
    this.#readback = new Readback(
      this.#buffers,
      this.#errors,
      host,
      () => this.#kernelCalls.status,
    );
    this.#kernelCalls = new KernelCalls(table, this.#blocks, this.#recorder, traits, () =>
      this.#recordings.values(),
    );
    if (!isSoftware)
      this.#lookAhead = new LookAhead(table, this.#blocks, this.#names, this.#recorder, traits);
    this.#device = device;
    this.exchange = new Exchange({
      device,
      errors: this.#errors,
      buffers: this.#buffers,
      blocks: this.#blocks,
      recorder: this.#recorder,
      enqueue: (task) => this.#enqueue(task),
      poison: (block, error) => this.#kernelCalls.poison([block], error),
      flush: () => host.flush?.(),
      confirm: () => this.#confirm(),
    });
  }

  get stats(): PlayerStats {
    const recorder = this.#recorder;
    return {
      submits: recorder.submits,
      dispatches: recorder.dispatches,
      pipelines: this.#pipelines.created,
      bindGroups: this.#pipelines.bindGroupsCreated,
      buffersCreated: this.#blocks.created + this.#readback.created + recorder.buffersCreated,
      readbacks: this.#readback.count,
      bytesWritten: recorder.bytesWritten,
      bytesRead: this.#readback.bytes,
    };
  }

  /**
   * Plays a batch of complete commands. Returns a promise if that takes until something has been created, and undefined if it is
   * done. Never fails: errors are reported with reads.
   */
  play(words: Uint32Array): Promise<void> | undefined {
    if (this.#isClosed) return undefined;
    if (this.#playing !== undefined) {
      this.#queue.push(new Reader(words.slice(), this));
      this.#compileAhead();
      return this.#playing;
    }
    return this.#begin(this.#playRest(new Reader(words, this)));
  }

  // Does a task after all batches so far.
  #enqueue(task: Task): void {
    if (this.#isClosed) return;
    if (this.#playing !== undefined) this.#queue.push(task);
    else this.#begin(this.#perform(task));
  }

  #begin(waits: Promise<void> | undefined): Promise<void> | undefined {
    if (waits === undefined) return undefined;
    this.#playing = waits.then(() => this.#playQueue());
    return this.#playing;
  }

  #perform(task: Task): Promise<void> | undefined {
    let waits: Promise<void> | undefined;
    this.#guard("", () => {
      waits = task();
    });
    return waits?.catch((exception) => this.#fail(asPlayerError(exception, ""), false));
  }

  /**
   * Destroys the device once WebGPU has validated all work so far, or only what was created on it if it `isOthers`. Pending reads
   * fail.
   */
  async close(isOthers = false): Promise<void> {
    this.#isClosed = true;
    this.#queue = [];
    await this.#playing;
    await this.#errors.settled();
    await this.#pipelines.settled();
    if (isOthers) {
      this.#errors.ignoreLoss();
      this.#buffers.destroyAll();
      this.#openClock?.destroy();
    } else {
      this.#device.destroy();
      await this.#device.lost;
    }
    await this.#readback.settled();
  }

  /** @internal */
  block(number: number, isWritten: boolean): Block {
    const block = this.#blocks.get(number);
    this.#kernelCalls.addReference(number, block, isWritten);
    return block;
  }

  /** @internal */
  name(number: number): string {
    return this.#names.get(number) ?? "";
  }

  async #playQueue(): Promise<void> {
    for (let next = this.#queue.shift(); next !== undefined; next = this.#queue.shift())
      await (next instanceof Reader ? this.#playRest(next) : this.#perform(next));
    // At once, because the next batch would otherwise be put into a queue that nobody plays.
    this.#playing = undefined;
    this.#lookAhead?.clear();
  }

  // Plays the rest of a batch; where it has to wait, the words are copied, because the caller may reuse their memory.
  #playRest(reader: Reader): Promise<void> | undefined {
    for (;;) {
      const outcome = this.#playNext(reader);
      if (outcome === kEnd) break;
      if (outcome === undefined) continue;
      reader.keepWords();
      this.#compileAhead(reader);
      return outcome.then(() => this.#playRest(reader));
    }
    this.#guard("", () => this.#kernelCalls.finish());
    this.#guard("", () => {
      if (this.#kernelCalls.status.isDue) this.#readStatus();
      this.#recorder.submit();
      this.#trim();
    });
    return undefined;
  }

  // Begins to compile what comes after `current`, while that waits for a shader.
  #compileAhead(current?: Reader): void {
    if (!this.#pipelines.isCompiling) return;
    const waiting = this.#queue.filter((entry) => entry instanceof Reader);
    for (const reader of current === undefined ? waiting : [current, ...waiting])
      this.#lookAhead?.read(reader);
  }

  #trim(maxBytes?: number): void {
    this.#blocks.trim((block) => this.#pipelines.forget(block), maxBytes);
  }

  // A read of nothing, for the status words that come with it.
  #readStatus(): void {
    const { block } = this.#kernelCalls.status;
    const read = { block, offset: 0, bytes: 0, address: 0, ticket: kNoTicket };
    this.#readback.record(this.#recorder.encoder(), read);
  }

  // Resolves when it is known whether there was enough memory for all blocks so far; undefined if it is.
  #confirm(): Promise<void> | undefined {
    return this.#blocks.confirm(
      () => this.#release(),
      (block) => this.#pipelines.forget(block),
    );
  }

  // Gives back all memory that nothing needs.
  #release(): void {
    // The steps that wait may need blocks that are idle after them.
    this.#kernelCalls.finish();
    this.#recorder.submit();
    this.#trim(0);
    this.#blocks.destroyIdle((block) => this.#pipelines.forget(block));
  }

  // Plays the next command. Returns kEnd at the end, and a promise if that takes time. A command that fails is skipped.
  #playNext(reader: Reader): typeof kEnd | Promise<void> | undefined {
    let name: CommandName | undefined;
    const isRead = this.#guard("", () => {
      name = reader.next();
    });
    if (!isRead) return undefined;
    if (name === undefined) return kEnd;
    if (name === "Idle") {
      this.#guard("", () => this.#blocks.idle(reader.command("Idle").block));
      return undefined;
    }
    const play = name === "Kernel" ? () => this.#playKernel(reader) : this.#other(name, reader);
    const confirmed = name === "Allocate" ? undefined : this.#confirm();
    return confirmed === undefined ? play() : confirmed.then(play);
  }

  #other(name: OtherCommand, reader: Reader) {
    return () => {
      let waits: Promise<void> | undefined;
      this.#guard("", () => this.#kernelCalls.finish());
      this.#guard("", () => {
        waits = this.#playCommand(name, reader);
        reader.finish();
      });
      return waits;
    };
  }

  #playCommand(name: OtherCommand, reader: Reader): Promise<void> | undefined {
    switch (name) {
      case "Name": {
        const { number, text } = reader.command(name);
        this.#names.set(number, text);
        this.#kernelCalls.invalidateCache();
        break;
      }
      case "Read": {
        return this.#read(reader.command(name));
      }
      case "Allocate": {
        const { block, bytes } = reader.command(name);
        this.#blocks.allocate(block, bytes);
        break;
      }
      case "Free": {
        this.#blocks.free(reader.command(name).block);
        break;
      }
      case "Use": {
        const { block, bytes } = reader.command(name);
        this.#blocks.use(block, bytes);
        break;
      }
      case "Write": {
        const { block: number, offset, bytes } = reader.command(name);
        const block = this.#blocks.get(number);
        const confirmed = this.#confirm();
        const reserved = this.#recorder.reserveUpload(block, bytes.length);
        if (confirmed === undefined && reserved === undefined) this.#write(block, offset, bytes);
        else {
          const kept = bytes.slice();
          return Promise.all([confirmed, reserved]).then(() => this.#write(block, offset, kept));
        }
        break;
      }
      case "Stamp": {
        this.#clock().stamp(this.#recorder.encoder(), reader.command(name).slot);
        break;
      }
      case "Stamps": {
        const { block: number, count } = reader.command(name);
        const block = this.#blocks.get(number);
        this.#clock().copy(this.#recorder.encoder(), block, count);
        this.#recorder.markUsed(block);
        changeContent(block);
        break;
      }
      case "BeginRecording": {
        const recording = new Recording();
        this.#recordings.set(reader.command(name).recording, recording);
        this.#recorder.recording = recording;
        break;
      }
      case "EndRecording": {
        return this.#recorder.endRecording();
      }
      case "Play": {
        this.#playRecording(reader.command(name).recording);
        break;
      }
      case "Forget": {
        const { recording } = reader.command(name);
        const buffer = this.#recordings.get(recording)?.release();
        if (buffer !== undefined) this.#recorder.destroyLater(buffer);
        this.#recordings.delete(recording);
        break;
      }
    }
    return undefined;
  }

  #write(block: Block, offset: number, bytes: Uint8Array): void {
    if (block.isMissing) return;
    const isCommand = this.#recorder.write(block, offset, bytes);
    changeContent(block);
    const isWhole = offset === 0 && bytes.length >= block.used;
    if (isWhole) block.faults = kNoFaults;
    if (isCommand) block.writtenIn = this.#recorder.batch;
    else if (isWhole) block.writtenIn = 0;
  }

  // What a batch with an error, and later ones, would have written until now has that error, because it may depend on it.
  #submitted(batch: number, error: PlayerError | undefined): PlayerError | undefined {
    const shortage = this.#buffers.takeShortage();
    if (error === undefined) return undefined;
    const cause = shortage ?? error;
    this.#kernelCalls.poison(this.#blocks.writtenSince(batch), cause);
    this.#readback.fail(batch, this.#recorder.batch, cause);
    return cause;
  }

  #playRecording(number: number): void {
    const recording = this.#recordings.get(number);
    if (recording === undefined) throw new Error(`there is no recording ${number}`);
    const { failure, hasUnknownResults, written } = recording;
    if (failure === undefined) {
      this.#recorder.play(recording, this.#kernelCalls.replayed());
      return;
    }
    this.#kernelCalls.poison(written, failure);
    if (hasUnknownResults) this.#errors.add(failure);
  }

  // Only called if the device supports timestamps.
  #clock(): Clock {
    this.#openClock ??= new Clock(this.#device, kClockSlots);
    return this.#openClock;
  }

  // Prepares a kernel's call, and records it when everything that it needs exists.
  #playKernel(reader: Reader, isRepeated = false): Promise<void> | undefined {
    let op = "";
    let call: PreparedCall | undefined;
    try {
      call = this.#kernelCalls.prepare(
        reader.command("Kernel"),
        reader,
        (number) => this.name(number),
        (found) => {
          op = found;
        },
      );
    } catch (exception) {
      this.#fail(asPlayerError(exception, op), true);
      return undefined;
    }
    this.#recorder.reserve();
    if (call === undefined) return undefined;
    const scratchConfirmed = this.#confirm();
    const attempted = this.#errors.attempted();
    if (scratchConfirmed === undefined && attempted === undefined) {
      this.#record(call, reader, undefined);
      return undefined;
    }
    const prepared = call;
    return Promise.all([scratchConfirmed, attempted]).then(([, error]) => {
      const isComplete = missingOf(prepared) === undefined && this.#kernelCalls.isCurrent(prepared);
      if (isRepeated || (error === undefined && isComplete))
        return this.#record(prepared, reader, error);
      // If blocks were missing, memory has been released meanwhile.
      if (error?.kind === "out-of-memory") this.#release();
      reader.rewind();
      return this.#playKernel(reader, true);
    });
  }

  #record(call: PreparedCall, reader: Reader, error: PlayerError | undefined): void {
    const missing = missingOf(call);
    const found = missing ?? error;
    const failure = found && { ...found, op: found.op || call.op };
    if (failure !== undefined) this.#fail(failure, true);
    else this.#guard(call.op, () => this.#kernelCalls.record(call, reader.words()));
  }

  #read(read: Read): Promise<void> | undefined {
    const { offset, count: bytes, ticket } = read;
    const wanted = { offset, bytes };
    const reserved = this.#readback.reserve(wanted);
    if (reserved === undefined) {
      this.#recordRead(read);
      return undefined;
    }
    return reserved
      .then((error) => {
        if (error === undefined) return undefined;
        this.#release();
        return this.#readback.reserve(wanted);
      })
      .then((error) => {
        if (error === undefined) this.#recordRead(read);
        else this.#readback.failLater(ticket, this.#errors.lost ?? error);
      });
  }

  #recordRead({ block: number, offset, count: bytes, address, ticket }: Read): void {
    const { lost } = this.#errors;
    if (lost !== undefined) {
      this.#readback.failLater(ticket, lost);
      return;
    }
    try {
      const block = this.#blocks.get(number);
      const error = errorOf(block.faults);
      if (error !== undefined) {
        this.#readback.failLater(ticket, error);
        return;
      }
      this.#readback.record(this.#recorder.encoder(), { block, offset, bytes, address, ticket });
      this.#recorder.markUsed(block);
    } catch (exception) {
      this.#readback.failLater(ticket, this.#errors.take() ?? asPlayerError(exception, ""));
    }
  }

  // Returns whether there was no error.
  #guard(op: string, work: () => void): boolean {
    try {
      work();
      return true;
    } catch (exception) {
      this.#fail(asPlayerError(exception, op), false);
      return false;
    }
  }

  // Passes an error on to the results of the kernel, if it is one of a kernel and they are known, else to the next read.
  #fail(error: PlayerError, isOfKernel: boolean): void {
    const failed = isOfKernel ? this.#kernelCalls.fail(error) : [];
    if (failed.length === 0) this.#errors.add(error);
    this.#recorder.recording?.fail(error, failed);
  }
}

// The error of memory that a call needs and that could not be allocated.
function missingOf({ scratch, blocks }: PreparedCall): PlayerError | undefined {
  const missing = [...scratch, ...blocks.map(({ block }) => block)].find(
    ({ isMissing }) => isMissing,
  );
  return missing && errorOf(missing.faults);
}

const kEnd = "end";
