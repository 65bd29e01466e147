// A batch as it is recorded: one command encoder, as few compute passes as can be, one submit.

import type { Block } from "./blocks";
import type { ErrorKeeper, PlayerError } from "./errors";
import { kNumberBytes, type Pipelines } from "./pipelines";
import type { NumbersOnDevice, Recording } from "./recording";
import type { Access } from "./shader";
import { Memory, type Numbers, shaderText, writeNumbers } from "./shader";
import { Usage } from "./usage";

/** One run of a shader. */
export interface Dispatch {
  /** Of all that the shader's text depends on, besides the memory that it accesses. */
  readonly key: string;
  readonly memory: readonly Access[];
  readonly numbers: Numbers;
  readonly workgroups: readonly [x: number, y?: number, z?: number];
  /** The kernel's own text, with a function `main`; see shader.ts. */
  body(): string;
}

/** A dispatch that is ready for a batch, any number of times. */
export interface Prepared {
  readonly pipeline: GPUComputePipeline;
  readonly bindGroup: GPUBindGroup;
  readonly numbers: Uint8Array;
  readonly workgroups: readonly [x: number, y: number, z: number];
  readonly blocks: readonly Block[];
}

/** A submit is made when this much is full. */
const kNumberCapacity = 2 ** 20;
const kUploadCapacity = 2 ** 20;
const kAll = ["validation", "out-of-memory", "internal"] as const;
/** What is larger is uploaded in a buffer of its own. */
const kLargestUpload = kUploadCapacity / 4;

export class Recorder {
  submits = 0;
  dispatches = 0;
  buffersCreated = 0;
  /** Keeps what is recorded, if it is there. */
  recording: Recording | undefined;
  readonly #device: GPUDevice;
  readonly #errors: ErrorKeeper;
  readonly #pipelines: Pipelines;
  readonly #onSubmit: (failure: Promise<PlayerError | undefined>) => void;
  #batch = 1;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  // The one that the pass has.
  #pipeline: GPUComputePipeline | undefined;
  readonly #numbersOfOne = new DataView(new ArrayBuffer(kNumberBytes));
  readonly #numbers = new Uint8Array(kNumberCapacity);
  #numberBytes = 0;
  #numberBuffer: GPUBuffer | undefined;
  #numberGroup: GPUBindGroup | undefined;
  readonly #uploads = new Uint8Array(kUploadCapacity);
  #uploadBytes = 0;
  #uploadBuffer: GPUBuffer | undefined;
  #toDestroy: GPUBuffer[] = [];

  constructor(
    device: GPUDevice,
    errors: ErrorKeeper,
    pipelines: Pipelines,
    onSubmit: (failure: Promise<PlayerError | undefined>) => void,
  ) {
    this.#device = device;
    this.#errors = errors;
    this.#pipelines = pipelines;
    this.#onSubmit = onSubmit;
  }

  /** The number of the batch that is being recorded. */
  get batch(): number {
    return this.#batch;
  }

  /** Undefined where there is nothing to do. */
  prepare(dispatch: Dispatch, op: string): Prepared | undefined {
    const { key, memory: accesses, numbers, workgroups, body } = dispatch;
    const [x, y = 1, z = 1] = workgroups;
    if (x === 0 || y === 0 || z === 0) return undefined;
    const memory = new Memory(accesses);
    const { layout, blocks } = memory;
    const pipeline = this.#pipelines.pipeline(`${key};${memory.key}`, layout, op, () =>
      shaderText({ memory, numbers, body: body() }),
    );
    const bindGroup = this.#pipelines.bindGroup(layout, blocks, op);
    const bytes = 4 * writeNumbers({ memory, numbers }, this.#numbersOfOne);
    return {
      pipeline,
      bindGroup,
      numbers: new Uint8Array(this.#numbersOfOne.buffer.slice(0, bytes)),
      workgroups: [x, y, z],
      blocks,
    };
  }

  dispatch(prepared: Prepared): void {
    const { pipeline, bindGroup, numbers, workgroups, blocks } = prepared;
    const offset = this.#addNumbers(numbers);
    const pass = this.#computePass();
    if (this.#pipeline !== pipeline) pass.setPipeline(pipeline);
    this.#pipeline = pipeline;
    pass.setBindGroup(0, bindGroup);
    pass.setBindGroup(1, this.#numberBindGroup(), [offset]);
    pass.dispatchWorkgroups(...workgroups);
    for (const block of blocks) this.markUsed(block);
    this.dispatches++;
    this.recording?.addDispatch(prepared, this.#numbers.subarray(offset, this.#numberBytes));
  }

  /** Ends the recording that is being made. */
  endRecording(): void {
    const { recording } = this;
    this.recording = undefined;
    recording?.finish((numbers) => this.#numbersOnDevice(numbers));
  }

  /** Records again what a recording has. */
  play(recording: Recording): void {
    recording.play({
      computePass: () => this.#computePass(),
      encoder: () => this.encoder(),
    });
    this.#pipeline = undefined;
    for (const block of recording.blocks) this.markUsed(block);
    this.dispatches += recording.dispatches;
  }

  /** Bytes to the device; offsets and length are multiples of 4. */
  write(block: Block, offset: number, bytes: Uint8Array): void {
    if (bytes.length === 0) return;
    // What no recorded command uses can be written ahead of them.
    if (block.batch !== this.#batch) {
      this.#errors.watch(["validation"], "", () =>
        this.#device.queue.writeBuffer(block.buffer, block.offset + offset, unshared(bytes)),
      );
      return;
    }
    if (bytes.length > kLargestUpload) {
      const own = this.#createBuffer(bytes.length, Usage.CopySource, true);
      new Uint8Array(own.getMappedRange()).set(bytes);
      own.unmap();
      this.#toDestroy.push(own);
      this.encoder().copyBufferToBuffer(own, 0, block.buffer, block.offset + offset, bytes.length);
      return;
    }
    if (this.#uploadBytes + bytes.length > kUploadCapacity) this.submit();
    const at = this.#uploadBytes;
    this.#uploads.set(bytes, at);
    this.#uploadBytes += bytes.length;
    this.#uploadBuffer ??= this.#createBuffer(kUploadCapacity, Usage.CopySource | Usage.CopyTarget);
    this.encoder().copyBufferToBuffer(
      this.#uploadBuffer,
      at,
      block.buffer,
      block.offset + offset,
      bytes.length,
    );
    this.markUsed(block);
  }

  /** Between different buffers; offsets and length are multiples of 4. */
  copy(to: Block, toOffset: number, from: Block, fromOffset: number, bytes: number): void {
    if (bytes === 0) return;
    const source = from.offset + fromOffset;
    const target = to.offset + toOffset;
    this.#command([from, to], (encoder) =>
      encoder.copyBufferToBuffer(from.buffer, source, to.buffer, target, bytes),
    );
  }

  /** Zeros. */
  clear(block: Block): void {
    this.#command([block], (encoder) =>
      encoder.clearBuffer(block.buffer, block.offset, block.size),
    );
  }

  #command(blocks: readonly Block[], encode: (encoder: GPUCommandEncoder) => void): void {
    encode(this.encoder());
    for (const block of blocks) this.markUsed(block);
    this.recording?.addCommand(encode, blocks);
  }

  /** What is recorded uses it: writes may not overtake that. */
  markUsed(block: Block): void {
    block.batch = this.#batch;
  }

  /** For commands outside of compute passes. */
  encoder(): GPUCommandEncoder {
    this.#pass?.end();
    this.#pass = undefined;
    this.#pipeline = undefined;
    this.#encoder ??= this.#device.createCommandEncoder();
    return this.#encoder;
  }

  /** What is recorded so far may use it. */
  destroyLater(buffer: GPUBuffer): void {
    if (this.#encoder === undefined) buffer.destroy();
    else this.#toDestroy.push(buffer);
  }

  /** Submits what has been recorded, if anything has. */
  submit(): void {
    if (this.#encoder !== undefined) this.#submit(this.encoder());
    this.#batch++;
  }

  #submit(encoder: GPUCommandEncoder): void {
    const { queue } = this.#device;
    this.#encoder = undefined;
    if (this.#numberBytes > 0 && this.#numberBuffer !== undefined)
      queue.writeBuffer(this.#numberBuffer, 0, this.#numbers, 0, this.#numberBytes);
    if (this.#uploadBytes > 0 && this.#uploadBuffer !== undefined)
      queue.writeBuffer(this.#uploadBuffer, 0, this.#uploads, 0, this.#uploadBytes);
    this.#numberBytes = 0;
    this.#uploadBytes = 0;
    const failure = this.#errors.judged(kAll, "", () => queue.submit([encoder.finish()])).failure;
    this.submits++;
    for (const buffer of this.#toDestroy) buffer.destroy();
    this.#toDestroy = [];
    this.#onSubmit(failure);
  }

  #computePass(): GPUComputePassEncoder {
    this.#pass ??= this.encoder().beginComputePass();
    return this.#pass;
  }

  // The place of a dispatch's numbers among those of the batch.
  #addNumbers(numbers: Uint8Array): number {
    if (this.#numberBytes + 2 * kNumberBytes > kNumberCapacity) this.submit();
    const at = this.#numberBytes;
    this.#numbers.set(numbers, at);
    const unit = this.#device.limits.minUniformBufferOffsetAlignment;
    this.#numberBytes += Math.ceil(numbers.length / unit) * unit;
    return at;
  }

  #numberBindGroup(): GPUBindGroup {
    if (this.#numberGroup === undefined) {
      this.#numberBuffer = this.#createBuffer(kNumberCapacity, Usage.Uniform | Usage.CopyTarget);
      this.#numberGroup = this.#groupOfNumbers(this.#numberBuffer);
    }
    return this.#numberGroup;
  }

  #groupOfNumbers(buffer: GPUBuffer): GPUBindGroup {
    return this.#device.createBindGroup({
      layout: this.#pipelines.numbersLayout,
      entries: [{ binding: 0, resource: { buffer, size: kNumberBytes } }],
    });
  }

  // With room for what shaders see after the last ones.
  #numbersOnDevice(numbers: Uint8Array): NumbersOnDevice {
    const buffer = this.#createBuffer(numbers.length + kNumberBytes, Usage.Uniform, true);
    new Uint8Array(buffer.getMappedRange()).set(numbers);
    buffer.unmap();
    return { buffer, group: this.#groupOfNumbers(buffer) };
  }

  #createBuffer(size: number, usage: number, mappedAtCreation = false): GPUBuffer {
    this.buffersCreated++;
    return this.#errors.watch(["validation", "out-of-memory"], "", () =>
      this.#device.createBuffer({ size, usage, mappedAtCreation }),
    );
  }
}

// Not every WebGPU takes shared memory.
function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice();
}
