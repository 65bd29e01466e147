// A player and its stream, for tests of kernels: arrays go in, kernels run, arrays come out.

import { test } from "node:test";
import { bundled } from "./bundled.mjs";
import { openDevice } from "./device.mjs";
import { StreamWriter } from "./stream_writer.mjs";

export const webgpu = await bundled(`export * from "./index";
  export { kernels } from "./kernels/table";
  export { attentionKernels } from "./kernels/nn/attention";`);

const { device, reason } = await openDevice();

// The same device as one that computes by itself: kernels choose other shaders for those.
const hardware =
  device &&
  new Proxy(device, {
    get: (target, name) => {
      if (name === "adapterInfo") return { isFallbackAdapter: false };
      const value = target[name];
      return typeof value === "function" ? value.bind(target) : value;
    },
  });

/** Devices that kernels choose different shaders for. */
export const devices = { software: device, hardware };

/** For node:test: tests are skipped where there is no device. */
export const options = { skip: reason ?? false };

const kArrays = {
  float32: Float32Array,
  int32: Int32Array,
  int64: BigInt64Array,
  uint8: Uint8Array,
  bool: Uint8Array,
  complex64: Float32Array,
};
const kMemoryBytes = 2 ** 22;

export class Playing {
  /** Writes commands that `play` plays. */
  stream = new StreamWriter();
  #memory = new Uint8Array(kMemoryBytes);
  #waiting = new Map();
  #nextBlock = 1;
  #nextTicket = 1;
  #address = 0;

  constructor({ on = device, kernels } = {}) {
    const host = {
      memory: () => this.#memory,
      readDone: (ticket, error) => {
        const done = this.#waiting.get(ticket);
        this.#waiting.delete(ticket);
        done?.(error);
      },
      lost: () => undefined,
    };
    this.player = new webgpu.Player(on, host, kernels);
  }

  get stats() {
    return this.player.stats;
  }

  play() {
    this.player.play(this.stream.take());
  }

  /** A block's number. */
  allocate(bytes) {
    const block = this.#nextBlock++;
    this.stream.allocate(block, bytes);
    return block;
  }

  /** New memory with these elements, of which there are `padding` others in front (and behind). */
  view(dtype, values, padding = 0) {
    const array = arrayOf(dtype, values);
    const other = dtype === "int64" ? 77n : 77;
    const whole = new array.constructor(array.length + 2 * padding).fill(other);
    whole.set(array, padding);
    const block = this.allocate(whole.byteLength);
    this.stream.write(block, 0, whole);
    return { block, offset: padding * array.BYTES_PER_ELEMENT, dtype, count: array.length };
  }

  /** Memory for so many elements, full of other numbers. */
  empty(dtype, count, padding = 0) {
    const parts = dtype === "complex64" ? 2 * count : count;
    return this.view(dtype, new Array(parts).fill(dtype === "bool" ? 1 : 77), padding);
  }

  /** Plays all; a promise of the elements, as numbers. */
  read(view) {
    const found = this.later(view);
    this.play();
    return found;
  }

  /** The same of what is there at this place of the stream, once it is played. */
  async later(view) {
    const Type = kArrays[view.dtype];
    const bytes = view.count * Type.BYTES_PER_ELEMENT;
    const address = this.#address;
    this.#address = (address + Math.ceil(bytes / 8) * 8) % (kMemoryBytes / 2);
    const ticket = this.#nextTicket++;
    const done = new Promise((resolve) => this.#waiting.set(ticket, resolve));
    this.stream.read(view.block, view.offset, bytes, address, ticket);
    const error = await done;
    if (error) throw Object.assign(new Error(error.message), error);
    return Array.from(new Type(this.#memory.slice(address, address + bytes).buffer), Number);
  }

  /** Runs a kernel on what has been written. */
  kernel(name, fields, op = name) {
    this.stream.kernel(name, op, fields);
  }
}

const shared = new Map();

/** A player for all tests of a file: what one has compiled the next need not. */
export function playing(on = device) {
  if (!shared.has(on)) shared.set(on, new Playing({ on }));
  return shared.get(on);
}

/** A test that runs with the shaders for software and with those for hardware. */
export function testBoth(name, body) {
  test(`${name}: software`, options, () => body(playing(device)));
  test(`${name}: hardware`, options, () => body(playing(hardware)));
}

/** Numbers as an array of a dtype. */
export function arrayOf(dtype, values) {
  return dtype === "int64"
    ? BigInt64Array.from(values, (value) => BigInt(value))
    : kArrays[dtype].from(values);
}

/** Row-major strides. */
export function packedStrides(shape) {
  const strides = [];
  let step = 1;
  for (const size of [...shape].reverse()) {
    strides.unshift(step);
    step *= size;
  }
  return strides;
}
