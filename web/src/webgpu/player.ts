// Plays batches of the stream (README.md) on a device.

import type { Read } from "../generated/stream";
import { type Block, Blocks } from "./blocks";
import { Clock } from "./clock";
import { asPlayerError, ErrorCollector } from "./errors";
import { KernelCalls } from "./kernel_calls";
import { type KernelTable, kernels } from "./kernels/table";
import { Pipelines } from "./pipelines";
import { type Host, Readback } from "./readback";
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
}

export class Player implements Symbols {
  readonly #errors: ErrorCollector;
  readonly #blocks: Blocks;
  readonly #pipelines: Pipelines;
  readonly #recorder: Recorder;
  readonly #readback: Readback;
  readonly #kernelCalls: KernelCalls;
  readonly #names = new Map<number, string>();
  readonly #recordings = new Map<number, Recording>();
  readonly #device: GPUDevice;
  #openClock: Clock | undefined;

  /** `table` contains the available kernels by name. */
  constructor(device: GPUDevice, host: Host, table: KernelTable = kernels) {
    this.#errors = new ErrorCollector(device, (error) => {
      host.lost(error.message);
      this.#readback.failAll(error);
    });
    this.#blocks = new Blocks(device, this.#errors, () => this.#recorder.batch);
    this.#pipelines = new Pipelines(device, this.#errors);
    this.#recorder = new Recorder(device, this.#errors, this.#pipelines, (failure) =>
      this.#readback.start(failure),
    );
    this.#readback = new Readback(device, this.#errors, host, (number) => this.name(number));
    const isSoftware = device.adapterInfo?.isFallbackAdapter === true;
    this.#kernelCalls = new KernelCalls(table, this.#blocks, this.#recorder, isSoftware);
    this.#device = device;
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
    };
  }

  /** Plays a batch of complete commands. Never throws: errors are reported to the host with the next read. */
  play(words: Uint32Array): void {
    const reader = new Reader(words, this);
    while (this.#playNext(reader));
    this.#guard("", () => this.#kernelCalls.finish());
    this.#guard("", () => {
      this.#recorder.submit();
      this.#blocks.trim((block) => this.#pipelines.forget(block));
    });
  }

  /** Destroys the device once WebGPU has validated all work so far. Pending reads fail. */
  async close(): Promise<void> {
    await this.#errors.settled();
    this.#device.destroy();
    await this.#device.lost;
    await this.#readback.settled();
  }

  /** @internal */
  block(number: number): Block {
    const block = this.#blocks.get(number);
    this.#kernelCalls.addReference(number, block);
    return block;
  }

  /** @internal */
  name(number: number): string {
    return this.#names.get(number) ?? "";
  }

  // Plays the next command; returns false at the end. A command that fails is skipped.
  #playNext(reader: Reader): boolean {
    let name: CommandName | undefined;
    let isEnd = false;
    this.#guard("", () => {
      name = reader.next();
      isEnd = name === undefined;
      if (name === undefined || name === "Kernel") return;
      this.#kernelCalls.finish();
      this.#playCommand(name, reader);
      reader.finish();
    });
    if (name === "Kernel") this.#playKernel(reader);
    return !isEnd;
  }

  #playCommand(name: Exclude<CommandName, "Kernel">, reader: Reader): void {
    switch (name) {
      case "Name": {
        const { number, text } = reader.command(name);
        this.#names.set(number, text);
        this.#kernelCalls.invalidateCache();
        break;
      }
      case "Read": {
        this.#read(reader.command(name));
        break;
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
      case "Write": {
        const { block, offset, bytes } = reader.command(name);
        this.#recorder.write(this.#blocks.get(block), offset, bytes);
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
        break;
      }
      case "BeginRecording": {
        const recording = new Recording();
        this.#recordings.set(reader.command(name).recording, recording);
        this.#recorder.recording = recording;
        break;
      }
      case "EndRecording": {
        this.#recorder.endRecording();
        break;
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
  }

  #playRecording(number: number): void {
    const recording = this.#recordings.get(number);
    if (recording === undefined) throw new Error(`there is no recording ${number}`);
    if (recording.failure === undefined) this.#recorder.play(recording);
    else this.#errors.add(recording.failure);
    if (recording.usesStatus) this.#kernelCalls.markStatusUsed();
  }

  // Only called if the device supports timestamps.
  #clock(): Clock {
    this.#openClock ??= new Clock(this.#device, kClockSlots);
    return this.#openClock;
  }

  #playKernel(reader: Reader): void {
    let op = "";
    this.#guard(
      () => op,
      () =>
        this.#kernelCalls.play(
          reader.command("Kernel"),
          reader,
          (number) => this.name(number),
          (found) => {
            op = found;
          },
        ),
    );
  }

  #read({ block: number, offset, count: bytes, address, ticket }: Read): void {
    const { lost } = this.#errors;
    if (lost !== undefined) {
      this.#readback.failLater(ticket, lost);
      return;
    }
    try {
      const block = this.#blocks.get(number);
      const status = this.#kernelCalls.takeStatus();
      const read = { block, offset, bytes, address, ticket };
      this.#readback.record(this.#recorder.encoder(), read, status);
      this.#recorder.markUsed(block);
    } catch (exception) {
      this.#readback.failLater(ticket, this.#errors.take() ?? asPlayerError(exception, ""));
    }
  }

  #guard(op: string | (() => string), work: () => void): void {
    try {
      work();
    } catch (exception) {
      const error = asPlayerError(exception, typeof op === "string" ? op : op());
      this.#errors.add(error);
      const { recording } = this.#recorder;
      if (recording !== undefined) recording.failure ??= error;
    }
  }
}
