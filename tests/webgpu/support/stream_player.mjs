// A player with its stream: write arrays, run kernels, read arrays.

import { bundled } from "./bundled.mjs";
import { kAsHardware, replacing } from "./replacing.mjs";
import { StreamWriter } from "./stream_writer.mjs";

export const webgpu = await bundled(`export * from "./index";
  export { kernels } from "./kernels/table";
  export { RandomKind } from "../generated/stream";
  export { attentionKernels } from "./kernels/nn/attention";
  export * from "./kernels/matrix/tile_classes";`);

const kArrays = {
  float32: Float32Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  complex64: Float32Array,
  float16: Uint16Array,
};
const kMemoryBytes = 2 ** 22;

export class StreamPlayer {
  /** Collects the commands that play() runs. */
  stream = new StreamWriter();
  /** What the player has warned of. */
  warnings = [];
  #memory = new Uint8Array(kMemoryBytes);
  #waiting = new Map();
  #nextBlock = 1;
  #nextTicket = 1;
  #address = 0;

  /** `on` is a GPUDevice. */
  constructor(on, kernels) {
    const host = {
      memory: () => this.#memory,
      readDone: (ticket, error) => {
        const done = this.#waiting.get(ticket);
        this.#waiting.delete(ticket);
        done?.(error);
      },
      warn: (op, message) => this.warnings.push(`${op}: ${message}`),
      lost: () => undefined,
    };
    this.player = new webgpu.Player(on, host, kernels);
  }

  get stats() {
    return this.player.stats;
  }

  /** Plays all commands; resolves when everything that they need exists. */
  async play() {
    await this.player.play(this.stream.take());
  }

  /** Allocates a block and returns its number. */
  allocate(bytes) {
    const block = this.#nextBlock++;
    this.stream.allocate(block, bytes);
    return block;
  }

  /** Returns new memory with these elements, with `padding` other elements before and after them. */
  view(dtype, values, padding = 0) {
    const array = arrayOf(dtype, values);
    const other = dtype === "int64" ? 77n : 77;
    const whole = new array.constructor(array.length + 2 * padding).fill(other);
    whole.set(array, padding);
    const block = this.allocate(whole.byteLength);
    this.stream.write(block, 0, whole);
    return { block, offset: padding * array.BYTES_PER_ELEMENT, dtype, count: array.length };
  }

  /** Returns memory for `count` elements that is filled with other numbers. */
  empty(dtype, count, padding = 0) {
    const parts = dtype === "complex64" ? 2 * count : count;
    return this.view(dtype, new Array(parts).fill(dtype === "bool" ? 1 : 77), padding);
  }

  /** Plays all commands; resolves to the elements as numbers. */
  read(view) {
    const found = this.later(view);
    this.play();
    return found;
  }

  /** Like read(), for the values at this position of the stream, once it has been played. */
  async later(view) {
    const Type = kArrays[view.dtype];
    const bytes = view.count * Type.BYTES_PER_ELEMENT;
    const address = this.#address;
    this.#address = (address + Math.ceil(bytes / 8) * 8) % (kMemoryBytes / 2);
    const ticket = this.#nextTicket++;
    const done = new Promise((resolve) => this.#waiting.set(ticket, resolve));
    this.stream.read(view.block, view.offset, bytes, address, ticket);
    // Promises of WebGPU do not keep a process alive.
    const alive = setInterval(() => undefined, 1000);
    const error = await done;
    clearInterval(alive);
    if (error) throw Object.assign(new Error(error.message), error);
    return Array.from(new Type(this.#memory.slice(address, address + bytes).buffer), Number);
  }

  /** Appends a call of a kernel. */
  kernel(name, fields, op = name) {
    this.stream.kernel(name, op, fields);
  }
}

/** Returns numbers as a typed array of a dtype. */
export function arrayOf(dtype, values) {
  if (dtype === "int64") return BigInt64Array.from(values, (value) => BigInt(value));
  if (dtype === "float16") return Uint16Array.from(values, halfOf);
  return kArrays[dtype].from(values);
}

// The bits of 0, or of a normal number that has no more digits than float16, from those of float32: without the last 13, and with
// exponents that count from another number.
function halfOf(value) {
  const [bits] = new Uint32Array(Float32Array.of(value).buffer);
  const magnitude = bits & 0x7fffffff;
  return ((bits >>> 31) << 15) | (magnitude === 0 ? 0 : (magnitude >>> 13) - (112 << 10));
}

/** Returns a device that poses as one with this adapter; kernels choose shaders by that. */
export function posingAs(device, info = {}, as = kAsHardware) {
  const adapterInfo = () => ({ ...as.adapterInfo(), vendor: "", architecture: "", ...info });
  return replacing(device, { ...as, adapterInfo });
}
