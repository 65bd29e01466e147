// GPU buffers of a page as tensors, and tensors as GPU buffers, without the CPU.

import { readOptions } from "../arguments/read.js";
import { boolean, listOf, type Options, Rule, size, wholeFrom } from "../arguments/rule.js";
import { empty } from "../generated/ops.js";
import { checkedFor, module, native, takeWords } from "../runtime/bridge/bridge.js";
import type { Exchange, GpuPlace } from "../runtime/bridge/native.js";
import { fail } from "../runtime/errors/errors.js";
import { untilSettled } from "../runtime/threads/keep_alive.js";
import { dtypeRule } from "../tensor/dtype.js";
import { handleOf } from "../tensor/info.js";
import { readLater } from "../tensor/read_later.js";
import { scope } from "../tensor/scope.js";
import { newTensor, type Tensor } from "../tensor/tensor.js";

/** A GPUBuffer, or an object with the same properties. */
export interface GpuBufferLike {
  /** In bytes. */
  readonly size: number;
  /** GPUBufferUsage flags. */
  readonly usage: number;
  /** Whether it is mapped. */
  readonly mapState?: string;
}

/** A GPUBufferBinding of a tensor's elements, as toGPUBuffer() returns it: the resource of an entry of a bind group. */
export interface TensorBinding {
  /** A GPUBuffer; declare it as `GPUBuffer` where WebGPU's types are there. */
  // biome-ignore lint/suspicious/noExplicitAny: programs without WebGPU's types have no name for it.
  readonly buffer: any;
  /** Where the elements begin, in bytes. */
  readonly offset: number;
  /** In bytes, rounded up to a multiple of 4. */
  readonly size: number;
  /** Whether it is the tensor's own memory: false for a copy, which belongs to the caller. */
  readonly isView: boolean;
}

const kFromOptions = {
  /** The shape; its elements are packed in the buffer. */
  shape: listOf(size),
  /** The dtype of the elements; default "float32". */
  dtype: dtypeRule.or("float32"),
  /** Where the first element is in the buffer, in bytes; a multiple of 4, default 0. */
  offset: wholeFrom(0).or(0),
};

/** Options of `fromGPUBuffer`. */
export type FromGPUBufferOptions = Options<typeof kFromOptions> & { shape: readonly number[] };

const kToOptions = {
  /** Whether the result is a copy in any case; default false. */
  copy: boolean.or(false),
  /** Whether the caller is about to change the tensor's elements, which counts as a change in place; default false. */
  write: boolean.or(false),
};

/** Options of `toGPUBuffer`. */
export type ToGPUBufferOptions = Options<typeof kToOptions>;

const kBuffer = new Rule<GpuBufferLike>("a GPUBuffer", (value) => {
  const { size: bytes, usage } = (value ?? {}) as Partial<GpuBufferLike>;
  return typeof value === "object" && typeof bytes === "number" && typeof usage === "number";
});

const kCopySource = 0x4;

/**
 * A tensor on webgpu with what a buffer of the page contains at the time of the call; the buffer stays the page's. The engine must compute
 * on the page's device: `init({ webgpu: { device } })`.
 */
export function fromGPUBuffer(buffer: GpuBufferLike, options: FromGPUBufferOptions): Tensor {
  const where = "fromGPUBuffer";
  kBuffer.check(where, "buffer", buffer);
  const { shape, dtype, offset } = readOptions(where, kFromOptions, [options]);
  const exchange = exchangeHere(where);
  if ((buffer.usage & kCopySource) === 0)
    fail("InvalidArgument", where, "buffer: its usage lacks GPUBufferUsage.COPY_SRC.");
  if (buffer.mapState !== undefined && buffer.mapState !== "unmapped")
    fail("InvalidArgument", where, "buffer: it is mapped. Call unmap() first.");
  const result = empty(shape, { dtype, device: "webgpu" });
  try {
    const place = placeOf(where, result, false);
    const end = offset + 4 * Math.ceil(place.bytes / 4);
    if (offset % 4 !== 0 || end > buffer.size)
      fail(
        "InvalidArgument",
        where,
        `offset: expected a multiple of 4 with ${place.bytes} bytes after it, rounded up to a multiple of 4, got ${offset} in a buffer of ${buffer.size} bytes.`,
      );
    native.gpuPlay();
    if (place.bytes > 0) exchange.importBuffer(place, where, buffer, offset);
    return result;
  } catch (error) {
    result.dispose();
    throw error;
  }
}

/** Implements Tensor.toGPUBuffer(), together with the script of the player. */
export async function toGPUBuffer(tensor: Tensor, options: unknown): Promise<TensorBinding> {
  const where = "toGPUBuffer";
  const lending = readOptions(where, kToOptions, [options]);
  return untilAnswered(where, exchangeHere(where).lend(tensor, lending, { placeOf, fail }));
}

/** Rejects as a read of the tensor does if something failed that it was computed from. @internal */
export async function untilSure(where: string, tensor: Tensor): Promise<void> {
  const nothing = scope(() => tensor.reshape([-1]).narrow(0, 0, 0));
  try {
    await readLater(where, nothing, newTensor, () => undefined);
  } finally {
    nothing.dispose();
  }
}

/** Settles as an answer of the player, and rejects when the engine stops before that. @internal */
export function untilAnswered<T>(where: string, answer: Promise<T>): Promise<T> {
  return untilSettled<T>(where, (resolve, reject) => {
    answer.then(resolve, reject);
  });
}

/** Returns what a page gives to the device and takes from it, which must be driven by this thread. @internal */
export function exchangeHere(where: string): Exchange {
  native.threadCount(); // throws unless the engine runs
  const exchange = module?.gpuPlayer?.exchange;
  if (exchange !== undefined && native.gpuAdapter() !== "") return exchange;
  fail(
    "DeviceUnavailable",
    where,
    "the engine does not compute on a device of this thread. Pass the page's own with `await init({ webgpu: { device } })`.",
  );
}

/** Returns where the elements of a packed tensor are; with `isWritten`, its version changes. @internal */
export function placeOf(where: string, tensor: Tensor, isWritten: boolean): GpuPlace {
  const count = checkedFor(where, native.gpuPlace(handleOf(tensor), isWritten));
  const [block = 0, offset = 0, bytes = 0] = takeWords(count);
  return { block, offset, bytes };
}
