// What a page gives to the engine and takes from it without the CPU: buffers and pictures of the device's own queue.

import type { ErrorCode } from "../generated/border.js";
import type { Block, Blocks } from "./blocks";
import type { Buffers } from "./buffers";
import type { ErrorCollector, PlayerError } from "./errors";
import { kNoFaults } from "./faults";
import { changeContent } from "./half_copies";
import type { Recorder } from "./recorder";
import { kPictureUsage, Usage } from "./usage";

/** The elements of a packed tensor. */
export interface Place {
  /** The number of the block. */
  readonly block: number;
  /** In bytes, a multiple of 4. */
  readonly offset: number;
  readonly bytes: number;
}

/** What a page gets of a tensor: a GPUBufferBinding. */
export interface Binding {
  readonly buffer: GPUBuffer;
  readonly offset: number;
  readonly size: number;
  /** Whether it is the tensor's memory, not a copy. */
  readonly isView: boolean;
}

/** How a page gets a tensor. */
interface Lending {
  /** Whether it gets a copy in any case. */
  readonly copy: boolean;
  /** Whether the page writes into the buffer. */
  readonly write: boolean;
}

/** The part of a tensor's interface that the exchange uses. */
interface LentTensor {
  readonly device: string;
  readonly isContiguous: boolean;
  readonly strides: readonly number[];
  detach(): LentTensor;
  clone(): LentTensor;
  contiguous(): LentTensor;
  reshape(shape: readonly number[]): LentTensor;
  narrow(dim: number, start: number, length: number): LentTensor;
  data(): Promise<unknown>;
  dispose(): void;
}

/** The part of the engine that the exchange uses. It makes the errors, because this script lacks their class. */
interface Engine {
  placeOf(where: string, tensor: LentTensor, isWritten: boolean): Place;
  fail(code: ErrorCode, where: string, message: string): never;
}

/** What the exchange uses of the player. */
export interface ExchangePlayer {
  readonly device: GPUDevice;
  readonly errors: ErrorCollector;
  readonly buffers: Buffers;
  readonly blocks: Blocks;
  readonly recorder: Recorder;
  /** Does `task` at this point of the stream. */
  enqueue(task: () => Promise<void> | undefined): void;
  /** From here on, the content of a block has this error. */
  poison(block: Block, error: PlayerError): void;
  /** Plays all commands that the engine has recorded. */
  flush(): void;
  /** Resolves when it is known which blocks exist. */
  confirm(): Promise<void> | undefined;
}

/** A buffer between the page and a block, which keeps what the page gave until its turn comes. */
interface Kept {
  readonly buffer: GPUBuffer;
  readonly failure: Promise<PlayerError | undefined>;
}

/** Offsets of bindings are multiples of this on every device. */
const kBindingUnit = 256;

/** So many buffers are kept for the next import of the same size. */
const kMostSpare = 4;

export class Exchange {
  readonly #player: ExchangePlayer;
  readonly #spare: { readonly size: number; readonly kept: Kept }[] = [];

  constructor(player: ExchangePlayer) {
    this.#player = player;
  }

  /** Copies what a buffer of the page contains now to a tensor. Its bytes are rounded up to words. */
  importBuffer(place: Place, op: string, source: GPUBuffer, offset: number): void {
    const size = wordsOf(place.bytes);
    this.#import(place, op, (encoder, to) =>
      encoder.copyBufferToBuffer(source, offset, to, 0, size),
    );
  }

  /** Copies what a picture shows now to a tensor of rows of `rowBytes` with RGBA. Throws what the browser throws for the picture. */
  importPicture(
    place: Place,
    op: string,
    source: GPUCopyExternalImageSource,
    [width, height, rowBytes]: readonly [width: number, height: number, rowBytes: number],
  ): void {
    const { device } = this.#player;
    let texture: GPUTexture | undefined;
    try {
      this.#import(place, op, (encoder, buffer) => {
        texture = device.createTexture({
          size: [width, height],
          format: "rgba8unorm",
          usage: kPictureUsage,
        });
        device.queue.copyExternalImageToTexture({ source }, { texture }, [width, height]);
        encoder.copyTextureToBuffer({ texture }, { buffer, bytesPerRow: rowBytes }, [
          width,
          height,
        ]);
      });
    } finally {
      texture?.destroy();
    }
  }

  // What the page gives is copied at once, because it may change it after the call, and reaches the block when its turn comes.
  #import(place: Place, op: string, encode: (encoder: GPUCommandEncoder, to: GPUBuffer) => void) {
    const { device, errors, recorder, poison } = this.#player;
    const size = wordsOf(place.bytes);
    const kept = this.#take(size);
    const { failure } = errors.attempt(["validation", "out-of-memory"], op, () => {
      const encoder = device.createCommandEncoder();
      try {
        encode(encoder, kept.buffer);
      } catch (exception) {
        this.#give(size, kept);
        throw exception;
      }
      device.queue.submit([encoder.finish()]);
    });
    const copied = Promise.all([kept.failure, failure]);
    this.#atTurn(place, copied, (block, [shortage, refusal]) => {
      if (block.isMissing) return;
      const error = shortage ?? (refusal && argumentError(op, refusal));
      changeContent(block);
      if (error !== undefined) {
        poison(block, { ...error, op });
        return;
      }
      block.faults = kNoFaults;
      const at = block.offset + place.offset;
      recorder.encoder().copyBufferToBuffer(kept.buffer, 0, block.buffer, at, size);
      recorder.markUsed(block);
      block.writtenIn = recorder.batch;
      recorder.submit();
      this.#give(size, kept);
    });
  }

  /**
   * Implements Tensor.toGPUBuffer(): resolves to a binding of a tensor, once all that it depends on has been submitted. Rejects as a read
   * does if something failed that it was computed from.
   */
  async lend(tensor: LentTensor, { copy, write }: Lending, engine: Engine): Promise<Binding> {
    const where = "toGPUBuffer";
    if (tensor.device !== "webgpu")
      engine.fail(
        "DeviceMismatch",
        where,
        `expected a tensor on webgpu, got one on ${tensor.device}.`,
      );
    const isWhole = tensor.isContiguous && engine.placeOf(where, tensor, false).offset % 4 === 0;
    if (write && (copy || !isWhole)) {
      const found = copy ? "copy: true" : `strides [${tensor.strides}]`;
      engine.fail(
        "InvalidArgument",
        where,
        `write: expected a contiguous tensor at a multiple of 4 bytes and no copy, got ${found}. Write to a clone and copy_() from it.`,
      );
    }
    // Held until it has been submitted, also if the caller disposes the tensor meanwhile.
    const alias = tensor.detach();
    const result = isWhole ? alias : packedCopy(alias);
    try {
      const place = engine.placeOf(where, write ? tensor : result, write);
      this.#player.flush();
      const { isSure, ...binding } = await this.#export(place, { copy: copy || !isWhole, write });
      if (!isSure) await untilSure(result);
      return binding;
    } catch (error) {
      const { kind, message } = error as Partial<PlayerError>;
      if (kind !== "out-of-memory") throw error;
      return engine.fail("OutOfMemory", where, `${message}`);
    } finally {
      result.dispose();
    }
  }

  #export(place: Place, lending: Lending): Promise<Binding & { readonly isSure: boolean }> {
    return new Promise((resolve, reject) => {
      this.#atTurn(place, undefined, (block) => {
        const { recorder } = this.#player;
        const isSure = block.faults.length === 0;
        const at = block.offset + place.offset;
        const size = wordsOf(place.bytes);
        if (!lending.copy && at % kBindingUnit === 0) {
          block.isLent = true;
          if (lending.write) changeContent(block);
          recorder.submit();
          resolve({ buffer: block.buffer, offset: at, size, isView: true, isSure });
          return undefined;
        }
        return this.#copyOf(block, at, size).then(
          (buffer) => resolve({ buffer, offset: 0, size, isView: false, isSure }),
          reject,
        );
      });
    });
  }

  async #copyOf(block: Block, at: number, size: number): Promise<GPUBuffer> {
    const { buffers, recorder } = this.#player;
    const { buffer, failure } = buffers.create(Math.max(4, size), kPageUsage);
    const error = await failure;
    if (error !== undefined) throw error;
    recorder.encoder().copyBufferToBuffer(block.buffer, at, buffer, 0, size);
    recorder.markUsed(block);
    recorder.submit();
    buffers.disown(buffer);
    return buffer;
  }

  /**
   * Shows a tensor of rows of RGBA, whose length is a multiple of 256 bytes, on a canvas. Resolves to whether it did. Without
   * `isSure`, it does not as long as a computation that led to the content may still fail.
   */
  show(
    place: Place,
    context: GPUCanvasContext,
    [width, height, rowBytes]: readonly [width: number, height: number, rowBytes: number],
    isSure: boolean,
  ): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.#atTurn(place, undefined, (block) => {
        if (!isSure && block.faults.length > 0) {
          resolve(false);
          return;
        }
        const { device, recorder } = this.#player;
        try {
          context.configure({
            device,
            format: "rgba8unorm",
            usage: kPictureUsage,
            alphaMode: "premultiplied",
          });
          recorder.submit();
          const encoder = device.createCommandEncoder();
          const offset = block.offset + place.offset;
          encoder.copyBufferToTexture(
            { buffer: block.buffer, offset, bytesPerRow: rowBytes },
            { texture: context.getCurrentTexture() },
            [width, height],
          );
          device.queue.submit([encoder.finish()]);
          resolve(true);
        } catch (error) {
          reject(error);
        }
      });
    });
  }

  // Calls `work`, whose promise the stream waits for, when all earlier commands have been recorded, all blocks are known to exist or not, and `needed` has resolved.
  #atTurn<T>(
    place: Place,
    needed: Promise<T> | undefined,
    work: (block: Block, found: T) => unknown,
  ): void {
    const { blocks, confirm, enqueue } = this.#player;
    enqueue(() => {
      const confirmed = confirm();
      const done = (found: T) => {
        const waits = work(blocks.get(place.block), found);
        return waits instanceof Promise ? waits : undefined;
      };
      if (confirmed === undefined && needed === undefined) return done(undefined as T);
      return Promise.all([needed, confirmed]).then(([found]) => done(found as T));
    });
  }

  #take(size: number): Kept {
    const at = this.#spare.findIndex((buffer) => buffer.size === size);
    const [found] = at < 0 ? [] : this.#spare.splice(at, 1);
    return found?.kept ?? this.#player.buffers.create(size, Usage.CopySource | Usage.CopyTarget);
  }

  #give(size: number, kept: Kept): void {
    this.#spare.push({ size, kept });
    if (this.#spare.length <= kMostSpare) return;
    const [oldest] = this.#spare.splice(0, 1);
    if (oldest !== undefined) this.#player.buffers.destroy(oldest.kept.buffer);
  }
}

/** What a page may do with a copy. */
const kPageUsage =
  Usage.CopySource |
  Usage.CopyTarget |
  Usage.Index |
  Usage.Vertex |
  Usage.Uniform |
  Usage.Storage |
  Usage.Indirect;

function packedCopy(alias: LentTensor): LentTensor {
  const copy = alias.clone();
  alias.dispose();
  if (copy.isContiguous) return copy;
  const packed = copy.contiguous();
  copy.dispose();
  return packed;
}

// Reads nothing of a tensor, and with it the outcome of the checks that it depends on.
async function untilSure(tensor: LentTensor): Promise<void> {
  const flat = tensor.reshape([-1]);
  const nothing = flat.narrow(0, 0, 0);
  try {
    await nothing.data();
  } finally {
    nothing.dispose();
    flat.dispose();
  }
}

function wordsOf(bytes: number): number {
  return Math.ceil(bytes / 4) * 4;
}

// WebGPU has refused a command that uses a buffer or picture of the page.
function argumentError(op: string, { message }: PlayerError): PlayerError {
  const text = `WebGPU refuses to copy from it: ${message}`;
  return { kind: "argument", op, message: text };
}
