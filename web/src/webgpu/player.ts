// Plays batches of the stream (README.md) on a device.

import { type Block, Blocks } from "./blocks";
import { Clock } from "./clock";
import type { DType } from "./dtype";
import { asPlayerError, ErrorKeeper } from "./errors";
import { copyBytes } from "./kernels/elementwise/copy";
import type { Commands, Kernel } from "./kernels/kernel";
import { kernels } from "./kernels/table";
import { Pipelines } from "./pipelines";
import { type Host, kStatusBytes, Readback } from "./readback";
import { type Dispatch, Recorder } from "./recorder";
import { Recording } from "./recording";
import { type Meanings, Opcode, Reader, type View } from "./stream";

/** As many as a set of queries can have. */
const kClockSlots = 4096;

/** What a player has done since it began. */
export interface PlayerStats {
  readonly submits: number;
  readonly dispatches: number;
  readonly pipelines: number;
  readonly bindGroups: number;
  readonly buffersCreated: number;
  readonly readbacks: number;
}

export class Player implements Meanings {
  readonly #errors: ErrorKeeper;
  readonly #blocks: Blocks;
  readonly #pipelines: Pipelines;
  readonly #recorder: Recorder;
  readonly #readback: Readback;
  readonly #kernels: ReadonlyMap<string, Kernel>;
  readonly #names = new Map<number, string>();
  readonly #recordings = new Map<number, Recording>();
  readonly #status: Block;
  readonly #isSoftware: boolean;
  readonly #device: GPUDevice;
  #statusIsUsed = false;
  #openClock: Clock | undefined;

  /** `table` has the kernels that there are, by name. */
  constructor(device: GPUDevice, host: Host, table: ReadonlyMap<string, Kernel> = kernels) {
    this.#errors = new ErrorKeeper(device, (error) => {
      host.lost(error.message);
      this.#readback.failAll(error);
    });
    this.#blocks = new Blocks(device, this.#errors, () => this.#recorder.batch);
    this.#pipelines = new Pipelines(device, this.#errors);
    this.#recorder = new Recorder(device, this.#errors, this.#pipelines, (failure) =>
      this.#readback.start(failure),
    );
    this.#readback = new Readback(device, this.#errors, host, (number) => this.name(number));
    this.#kernels = table;
    this.#device = device;
    this.#isSoftware = device.adapterInfo?.isFallbackAdapter === true;
    this.#status = this.#blocks.take(kStatusBytes);
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

  /** Plays whole commands. Errors go to the host with the next read; nothing is thrown. */
  play(words: Uint32Array): void {
    const reader = new Reader(words, this);
    while (this.#playNext(reader));
    this.#guard("", () => {
      this.#recorder.submit();
      this.#blocks.trim((block) => this.#pipelines.forget(block));
    });
  }

  /** Lets go of the device when all that was done so far has been judged; reads on their way fail. */
  async close(): Promise<void> {
    await this.#errors.settled();
    this.#device.destroy();
    await this.#device.lost;
  }

  /** @internal */
  block(number: number): Block {
    return this.#blocks.get(number);
  }

  /** @internal */
  name(number: number): string {
    return this.#names.get(number) ?? "";
  }

  // Whether there was another command. One that fails is passed over.
  #playNext(reader: Reader): boolean {
    let opcode: number | undefined;
    this.#guard("", () => {
      opcode = reader.next();
      if (opcode === Opcode.Kernel) return;
      if (opcode !== undefined) this.#playCommand(opcode, reader);
    });
    if (opcode === Opcode.Kernel) this.#playKernel(reader);
    return opcode !== undefined;
  }

  #playCommand(opcode: number, reader: Reader): void {
    switch (opcode) {
      case Opcode.Name: {
        this.#names.set(reader.word(), reader.text());
        break;
      }
      case Opcode.Read: {
        this.#read(reader);
        break;
      }
      case Opcode.Allocate: {
        const number = reader.word();
        this.#blocks.allocate(number, reader.word());
        break;
      }
      case Opcode.Free: {
        this.#blocks.free(reader.word());
        break;
      }
      case Opcode.Write: {
        const block = this.block(reader.word());
        const offset = reader.word();
        this.#recorder.write(block, offset, reader.bytes(reader.word()));
        break;
      }
      case Opcode.Stamp: {
        this.#clock().stamp(this.#recorder.encoder(), reader.word());
        break;
      }
      case Opcode.Stamps: {
        const block = this.block(reader.word());
        this.#clock().copy(this.#recorder.encoder(), block, reader.word());
        this.#recorder.markUsed(block);
        break;
      }
      case Opcode.BeginRecording: {
        const recording = new Recording();
        this.#recordings.set(reader.word(), recording);
        this.#recorder.recording = recording;
        break;
      }
      case Opcode.EndRecording: {
        this.#recorder.endRecording();
        break;
      }
      case Opcode.Play: {
        this.#playRecording(reader.word());
        break;
      }
      case Opcode.Forget: {
        const number = reader.word();
        this.#recordings.get(number)?.letGo();
        this.#recordings.delete(number);
        break;
      }
      case Opcode.Copy: {
        const to = { block: this.block(reader.word()), offset: reader.word() };
        const from = { block: this.block(reader.word()), offset: reader.word() };
        const bytes = reader.word();
        this.#withCommands("copy", 0, (commands) => copyBytes(commands, to, from, bytes));
        break;
      }
      default:
        throw new Error(`there is no command ${opcode}`);
    }
    reader.finish();
  }

  #playRecording(number: number): void {
    const recording = this.#recordings.get(number);
    if (recording === undefined) throw new Error(`there is no recording ${number}`);
    if (recording.failure === undefined) this.#recorder.play(recording);
    else this.#errors.keep(recording.failure);
    this.#statusIsUsed ||= recording.usesStatus;
  }

  // Nobody asks for one where the device has none.
  #clock(): Clock {
    this.#openClock ??= new Clock(this.#device, kClockSlots);
    return this.#openClock;
  }

  #playKernel(reader: Reader): void {
    let op = "";
    this.#guard(
      () => op,
      () => {
        const name = reader.name();
        const opNumber = reader.word();
        op = this.name(opNumber);
        const kernel = this.#kernels.get(name);
        if (kernel === undefined) throw new Error(`there is no kernel ${name}`);
        this.#withCommands(op, opNumber, (commands) => kernel.play(reader, commands));
        reader.finish();
      },
    );
  }

  #read(reader: Reader): void {
    const number = reader.word();
    const offset = reader.word();
    const bytes = reader.word();
    const address = reader.word() + reader.word() * 2 ** 32;
    const ticket = reader.word();
    const { lost } = this.#errors;
    if (lost !== undefined) {
      this.#readback.refuse(ticket, lost);
      return;
    }
    try {
      const block = this.block(number);
      const status = this.#statusIsUsed ? this.#status : undefined;
      const read = { block, offset, bytes, address, ticket };
      this.#readback.record(this.#recorder.encoder(), read, status);
      this.#recorder.markUsed(block);
      this.#statusIsUsed = false;
    } catch (exception) {
      this.#readback.refuse(ticket, this.#errors.take() ?? asPlayerError(exception, ""));
    }
  }

  #withCommands(op: string, opNumber: number, work: (commands: Commands) => void): void {
    const recorder = this.#recorder;
    const scratch: Block[] = [];
    try {
      work({
        opNumber,
        isSoftware: this.#isSoftware,
        dispatch: (dispatch: Dispatch) => recorder.dispatch(dispatch, op),
        copy: (to: Block, toOffset: number, from: Block, fromOffset: number, bytes: number) =>
          recorder.copy(to, toOffset, from, fromOffset, bytes),
        clear: (view: View) => recorder.clear(view.block),
        scratch: (bytes: number, dtype: DType) => {
          const block = this.#blocks.take(bytes);
          scratch.push(block);
          return { block, offset: 0, dtype };
        },
        status: () => {
          this.#statusIsUsed = true;
          if (recorder.recording !== undefined) recorder.recording.usesStatus = true;
          return { block: this.#status, offset: 0, dtype: "int32" };
        },
      });
    } finally {
      for (const block of scratch) this.#blocks.give(block);
    }
  }

  #guard(op: string | (() => string), work: () => void): void {
    try {
      work();
    } catch (exception) {
      const error = asPlayerError(exception, typeof op === "string" ? op : op());
      this.#errors.keep(error);
      const { recording } = this.#recorder;
      if (recording !== undefined) recording.failure ??= error;
    }
  }
}
