// Records a batch: one command encoder, as few compute passes as possible, one submit.

import type { Block } from "./blocks";
import type { Buffers } from "./buffers";
import { asPlayerError, type ErrorCollector, type PlayerError, TooLarge } from "./errors";
import { compiled, kUniformBytes, ownText, type Pipeline, type Pipelines } from "./pipelines";
import type { Recording, Replayed } from "./recording";
import type { Access } from "./shader";
import { Memory, type Uniforms, writeUniforms } from "./shader";
import { Usage } from "./usage";

/** A request to run a shader. */
export interface Dispatch {
  /** Identifies everything that the shader's text depends on, apart from the memory that it accesses. */
  readonly key: string;
  readonly memory: readonly Access[];
  readonly uniforms: Uniforms;
  readonly workgroups: readonly [x: number, y?: number, z?: number];
  /** The kernel's own text, with a function `main`; see shader.ts. */
  body(): string;
  /** Packed floats that it stores, each of them once, by the names of their memory. */
  readonly stores?: readonly Stores[];
  /** If it only computes elements, each by itself. */
  readonly elements?: Elements;
  /** Returns a dispatch that computes the same in workgroups of so many invocations, if there is one. */
  narrowed?(threads: number): Dispatch | undefined;
}

interface Stores {
  readonly name: string;
  readonly count: number;
}

/** The work of an elementwise dispatch, which another one can do for it (merge/fuse.ts). */
interface Elements {
  readonly count: number;
  /** The names of the memory that it reads as floats, at the position of the element. */
  readonly linear: readonly string[];
  /** The memory that `functions` access. */
  readonly memory: readonly Access[];
  /** WGSL functions, of which `evaluate(i)` computes element i. */
  functions(): string;
}

/** A dispatch whose uniforms have been written. */
export interface WrittenDispatch {
  readonly source: Dispatch;
  readonly uniforms: Uint8Array;
  /** The byte in the uniforms where the number of the status words is, which differs from call to call. */
  readonly slotAt: number | undefined;
  readonly workgroups: readonly [x: number, y: number, z: number];
  readonly blocks: readonly Block[];
}

/** A dispatch with all its resources, which can be recorded any number of times. */
export interface PreparedDispatch extends WrittenDispatch {
  /** The dispatches that it was made of, if it is one for several. */
  readonly parts?: readonly WrittenDispatch[];
  readonly pipeline: Pipeline;
  readonly bindGroup: GPUBindGroup;
}

/** The batch is submitted when its uniforms or its uploads exceed these sizes, in bytes. */
const kUniformCapacity = 2 ** 20;
const kUploadCapacity = 2 ** 20;
/** The uniform with the number of a call's status words. */
export const kSlotUniform = "slot";
const kAll = ["validation", "out-of-memory", "internal"] as const;
/** Larger uploads get a separate buffer. */
const kLargestUpload = kUploadCapacity / 4;

export class Recorder {
  submits = 0;
  dispatches = 0;
  buffersCreated = 0;
  /** The bytes of tensors that were written from the host; not uniforms. */
  bytesWritten = 0;
  /** If set, everything that is recorded is also added to this recording. */
  recording: Recording | undefined;
  readonly #device: GPUDevice;
  readonly #errors: ErrorCollector;
  readonly #buffers: Buffers;
  readonly #pipelines: Pipelines;
  readonly #isSoftware: boolean;
  readonly #onSubmit: (failure: Promise<PlayerError | undefined>, batch: number) => void;
  #batch = 1;
  #encoder: GPUCommandEncoder | undefined;
  #pass: GPUComputePassEncoder | undefined;
  // The pipeline that is set in the current pass.
  #pipeline: GPUComputePipeline | undefined;
  readonly #encodedUniforms = new DataView(new ArrayBuffer(kUniformBytes));
  readonly #uniforms = new Uint8Array(kUniformCapacity);
  readonly #uniformNumbers = new DataView(this.#uniforms.buffer);
  #uniformBytes = 0;
  #uniformBuffer: GPUBuffer | undefined;
  #uniformGroup: GPUBindGroup | undefined;
  readonly #uploads = new Uint8Array(kUploadCapacity);
  #uploadBytes = 0;
  #uploadBuffer: GPUBuffer | undefined;
  #toDestroy: GPUBuffer[] = [];

  /** On a device that computes on the CPU (`isSoftware`), shaders are compiled one after the other anyway. */
  constructor(
    device: GPUDevice,
    errors: ErrorCollector,
    buffers: Buffers,
    pipelines: Pipelines,
    isSoftware: boolean,
    onSubmit: (failure: Promise<PlayerError | undefined>, batch: number) => void,
  ) {
    this.#device = device;
    this.#errors = errors;
    this.#buffers = buffers;
    this.#pipelines = pipelines;
    this.#isSoftware = isSoftware;
    this.#onSubmit = onSubmit;
  }

  /** The number of the batch that is being recorded. */
  get batch(): number {
    return this.#batch;
  }

  /** Creates the buffer of uniforms, which every batch with dispatches needs, unless it exists; its error is one of `attempted`. */
  reserve(): void {
    if (this.#uniformBuffer !== undefined) return;
    const { buffer, failure } = this.#create(kUniformCapacity, Usage.Uniform | Usage.CopyTarget);
    this.#uniformBuffer = buffer;
    this.#uniformGroup = this.#createUniformGroup(buffer);
    this.#errors.need(failure);
    void failure.then((error) => {
      if (error === undefined || this.#uniformBuffer !== buffer) return;
      this.#uniformBuffer = undefined;
      this.#uniformGroup = undefined;
    });
  }

  /** Resolves when it is known whether a write can take its place among the commands; undefined if it is. */
  reserveUpload(block: Block, bytes: number): Promise<void> | undefined {
    if (block.batch !== this.#batch || bytes > kLargestUpload || this.#uploadBuffer !== undefined)
      return undefined;
    const { buffer, failure } = this.#create(kUploadCapacity, Usage.CopySource | Usage.CopyTarget);
    return failure.then((error) => {
      if (error === undefined) this.#uploadBuffer = buffer;
    });
  }

  /** Begins to compile the shader of a dispatch that has not been reached yet. */
  expect(dispatch: Dispatch, op: string): void {
    if (dispatch.workgroups.includes(0)) return;
    this.#pipelines.compile(...shaderOf(dispatch, new Memory(dispatch.memory), op));
  }

  /**
   * Looks up or creates the resources of a dispatch; returns undefined if it has no workgroups. Its pipeline exists when `attempted`
   * has resolved, or at once if `isNow`.
   */
  prepare(dispatch: Dispatch, op: string, isNow = this.#isSoftware): PreparedDispatch | undefined {
    if (dispatch.workgroups.includes(0)) return undefined;
    const memory = new Memory(dispatch.memory);
    const shader = shaderOf(dispatch, memory, op);
    const pipeline = isNow
      ? this.#pipelines.pipelineNow(...shader)
      : this.#pipelines.pipeline(...shader);
    const bindGroup = this.#pipelines.bindGroup(memory, op);
    return { ...this.#write(dispatch, memory), pipeline, bindGroup };
  }

  #write(dispatch: Dispatch, memory = new Memory(dispatch.memory)): WrittenDispatch {
    const { uniforms, workgroups } = dispatch;
    const [x, y = 1, z = 1] = workgroups;
    const bytes = 4 * writeUniforms({ memory, uniforms }, this.#encodedUniforms);
    const slot = Object.keys(uniforms.u32 ?? {}).indexOf(kSlotUniform);
    return {
      source: dispatch,
      uniforms: new Uint8Array(this.#encodedUniforms.buffer.slice(0, bytes)),
      slotAt: slot < 0 ? undefined : 4 * (dispatch.memory.length + slot),
      workgroups: [x, y, z],
      blocks: memory.blocks,
    };
  }

  /** `slot` is the number of the status words that this call reports in. */
  dispatch(prepared: PreparedDispatch, slot = 0): void {
    const { bindGroup, uniforms, slotAt, workgroups, blocks } = prepared;
    const pipeline = compiled(prepared.pipeline);
    const offset = this.#addUniforms(uniforms);
    if (slotAt !== undefined) this.#uniformNumbers.setUint32(offset + slotAt, slot, true);
    const pass = this.#computePass();
    if (this.#pipeline !== pipeline) pass.setPipeline(pipeline);
    this.#pipeline = pipeline;
    pass.setBindGroup(0, bindGroup);
    pass.setBindGroup(1, this.#uniformBindGroup(), [offset]);
    pass.dispatchWorkgroups(...workgroups);
    for (const block of blocks) this.markUsed(block);
    this.dispatches++;
    this.recording?.addDispatch(prepared);
  }

  /** Ends the current recording. Returns a promise if that takes until shaders for several of its dispatches have been created. */
  endRecording(): Promise<void> | undefined {
    const { recording } = this;
    this.recording = undefined;
    if (recording === undefined) return undefined;
    const { limits } = this.#device;
    const fail = (error: PlayerError) => recording.fail(error, [...recording.written]);
    const finish = () => {
      try {
        recording.finish(limits.minUniformBufferOffsetAlignment, (uniforms) =>
          this.#createDeviceUniforms(uniforms, fail),
        );
      } catch (exception) {
        fail(asPlayerError(exception, ""));
      }
    };
    // SwiftShader runs the instructions of all parts for every workgroup, with those of other parts masked.
    if (this.#isSoftware) {
      finish();
      return undefined;
    }
    const merged = recording.mergeDispatches(
      {
        buffers: limits.maxStorageBuffersPerShaderStage,
        uniformBytes: kUniformBytes,
        workgroupBytes: limits.maxComputeWorkgroupStorageSize,
      },
      (dispatch) => this.#write(dispatch),
      (parts) => this.#pipelines.merge(parts),
    );
    if (merged !== undefined) return merged.then(finish);
    finish();
    return undefined;
  }

  /** Makes the dispatches of recordings bind anew what has moved. */
  rebind(recordings: Iterable<Recording>, moved: ReadonlySet<Block>): void {
    for (const block of moved) this.#pipelines.forget(block);
    for (const recording of recordings)
      recording.rebind(moved, (dispatch) => this.#pipelines.rebound(dispatch));
  }

  /** Leaves the errors of the creation of resources to the next read. */
  reportAttempts(): void {
    void this.#errors.attempted()?.then((error) => error && this.#errors.add(error));
  }

  /** Records work that is not a part of the current recording. */
  unrecorded(work: () => void): void {
    const { recording } = this;
    this.recording = undefined;
    try {
      work();
    } finally {
      this.recording = recording;
    }
  }

  /** Replays a recording into the batch; `calls` plays what differs between replays. */
  play(recording: Recording, calls: Replayed): void {
    recording.play({
      ...calls,
      computePass: () => this.#computePass(),
      encoder: () => this.encoder(),
      dispatch: (prepared, slot) => {
        this.#pipeline = undefined;
        this.dispatch(prepared, slot);
      },
    });
    this.#pipeline = undefined;
    for (const block of recording.blocks) this.markUsed(block);
    this.dispatches += recording.dispatches;
  }

  /** Writes bytes to a block; offset and length must be multiples of 4. Returns whether a command does that, not the host. */
  write(block: Block, offset: number, bytes: Uint8Array): boolean {
    if (bytes.length === 0) return false;
    this.bytesWritten += bytes.length;
    // A block that no recorded command uses can be written before they run.
    if (block.batch !== this.#batch) {
      this.#writeNow(block, offset, bytes);
      return false;
    }
    if (bytes.length > kLargestUpload) {
      const own = this.#createMapped(bytes, bytes.length, Usage.CopySource);
      if (own === undefined) return this.#writeAfter(block, offset, bytes);
      this.#toDestroy.push(own);
      this.encoder().copyBufferToBuffer(own, 0, block.buffer, block.offset + offset, bytes.length);
      return true;
    }
    if (this.#uploadBuffer === undefined) return this.#writeAfter(block, offset, bytes);
    if (this.#uploadBytes + bytes.length > kUploadCapacity) this.submit();
    const at = this.#uploadBytes;
    this.#uploads.set(bytes, at);
    this.#uploadBytes += bytes.length;
    this.encoder().copyBufferToBuffer(
      this.#uploadBuffer,
      at,
      block.buffer,
      block.offset + offset,
      bytes.length,
    );
    this.markUsed(block);
    return true;
  }

  #writeNow(block: Block, offset: number, bytes: Uint8Array): void {
    this.#errors.watch(["validation"], "", () =>
      this.#device.queue.writeBuffer(block.buffer, block.offset + offset, unshared(bytes)),
    );
  }

  // There is no memory for bytes that wait for their place among the commands.
  #writeAfter(block: Block, offset: number, bytes: Uint8Array): false {
    this.submit();
    this.#writeNow(block, offset, bytes);
    return false;
  }

  /** Copies between different buffers; offsets and length must be multiples of 4. */
  copy(to: Block, toOffset: number, from: Block, fromOffset: number, bytes: number): void {
    if (bytes === 0) return;
    const source = from.offset + fromOffset;
    const target = to.offset + toOffset;
    this.#command([from, to], (encoder) =>
      encoder.copyBufferToBuffer(from.buffer, source, to.buffer, target, bytes),
    );
  }

  /** Fills a block with zeros, or bytes of it. */
  clear(block: Block, offset = 0, bytes = block.size): void {
    this.#command([block], (encoder) =>
      encoder.clearBuffer(block.buffer, block.offset + offset, bytes),
    );
  }

  #command(blocks: readonly Block[], encode: (encoder: GPUCommandEncoder) => void): void {
    encode(this.encoder());
    for (const block of blocks) this.markUsed(block);
    this.recording?.addCommand(encode, blocks);
  }

  /** Marks a block as used by the recorded commands, so that writes are not moved before them. */
  markUsed(block: Block): void {
    block.batch = this.#batch;
  }

  /** Ends the compute pass and returns the encoder, for commands outside of compute passes. */
  encoder(): GPUCommandEncoder {
    this.#pass?.end();
    this.#pass = undefined;
    this.#pipeline = undefined;
    this.#encoder ??= this.#device.createCommandEncoder();
    return this.#encoder;
  }

  /** Destroys a buffer after the submit of the commands that are recorded so far, which may use it. */
  destroyLater(buffer: GPUBuffer): void {
    if (this.#encoder === undefined) this.#buffers.destroy(buffer);
    else this.#toDestroy.push(buffer);
  }

  /** Submits the recorded commands, if there are any. */
  submit(): void {
    if (this.#encoder !== undefined) this.#submit(this.encoder());
    this.#batch++;
  }

  #submit(encoder: GPUCommandEncoder): void {
    const { queue } = this.#device;
    this.#encoder = undefined;
    if (this.#uniformBytes > 0 && this.#uniformBuffer !== undefined)
      queue.writeBuffer(this.#uniformBuffer, 0, this.#uniforms, 0, this.#uniformBytes);
    if (this.#uploadBytes > 0 && this.#uploadBuffer !== undefined)
      queue.writeBuffer(this.#uploadBuffer, 0, this.#uploads, 0, this.#uploadBytes);
    this.#uniformBytes = 0;
    this.#uploadBytes = 0;
    const { failure } = this.#errors.attempt(kAll, "", () => queue.submit([encoder.finish()]));
    this.submits++;
    for (const buffer of this.#toDestroy) this.#buffers.destroy(buffer);
    this.#toDestroy = [];
    this.#onSubmit(failure, this.#batch);
  }

  #computePass(): GPUComputePassEncoder {
    this.#pass ??= this.encoder().beginComputePass();
    return this.#pass;
  }

  // Adds a dispatch's uniforms to those of the batch and returns their offset.
  #addUniforms(uniforms: Uint8Array): number {
    if (this.#uniformBytes + 2 * kUniformBytes > kUniformCapacity) this.submit();
    const at = this.#uniformBytes;
    this.#uniforms.set(uniforms, at);
    const unit = this.#device.limits.minUniformBufferOffsetAlignment;
    this.#uniformBytes += Math.ceil(uniforms.length / unit) * unit;
    return at;
  }

  #uniformBindGroup(): GPUBindGroup {
    this.reserve();
    return this.#uniformGroup as GPUBindGroup;
  }

  #createUniformGroup(buffer: GPUBuffer): GPUBindGroup {
    return this.#device.createBindGroup({
      layout: this.#pipelines.uniformLayout,
      entries: [{ binding: 0, resource: { buffer, size: kUniformBytes } }],
    });
  }

  // The buffer extends past the last uniforms, because every binding spans kUniformBytes.
  #createDeviceUniforms(uniforms: Uint8Array, onFailure: (error: PlayerError) => void) {
    const size = uniforms.length + kUniformBytes;
    const buffer = this.#createMapped(uniforms, size, Usage.Uniform, onFailure);
    if (buffer === undefined)
      throw new TooLarge(`${size} bytes could not be allocated for uniforms.`);
    return { buffer, group: this.#createUniformGroup(buffer) };
  }

  // Returns undefined if there is no memory to map.
  #createMapped(
    bytes: Uint8Array,
    size: number,
    usage: number,
    onFailure?: (error: PlayerError) => void,
  ): GPUBuffer | undefined {
    try {
      const { buffer, failure } = this.#create(size, usage, true);
      new Uint8Array(buffer.getMappedRange()).set(bytes);
      buffer.unmap();
      void failure.then((error) => error && onFailure?.(error));
      return buffer;
    } catch (exception) {
      if (exception instanceof TooLarge) return undefined;
      throw exception;
    }
  }

  #create(size: number, usage: number, isMapped = false) {
    this.buffersCreated++;
    return this.#buffers.create(size, usage, isMapped);
  }
}

// The key, the layout, the op and the text of a dispatch's shader.
function shaderOf(dispatch: Dispatch, memory: Memory, op: string) {
  const text = () => ownText(dispatch, memory);
  return [`${dispatch.key};${memory.key}`, memory.layout, op, text] as const;
}

// Not every WebGPU implementation accepts shared memory.
function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes.buffer instanceof ArrayBuffer ? (bytes as Uint8Array<ArrayBuffer>) : bytes.slice();
}
