// Buckets of gradients: parameters whose gradients are sent together.

import * as eg from "edgegrad";
import { elementCount, read, wireDType, write } from "../collectives/wire.js";
import type { ProcessGroup } from "../group/process_group.js";
import type { Work } from "../group/worker_link.js";
import { bytesOf, elementsOf } from "../network/arrays.js";
import type { WireDType } from "../requests.js";

// The gradients of the last layers are ready first: a small first bucket is sent early, while the others are computed.
const kFirstBytes = 2 ** 20;

/** Parameters of one dtype, and the memory for their gradients. */
export class Bucket {
  readonly #starts: number[] = [];
  readonly #used: Uint8Array;
  // The parameters whose gradients noSync() has not sent.
  readonly #held = new Set<number>();
  readonly #length: number;
  #memory: SharedArrayBuffer;
  #work: Work | null = null;

  constructor(
    readonly parameters: readonly eg.Tensor[],
    private readonly dtype: WireDType,
  ) {
    let length = 0;
    for (const parameter of parameters) {
      this.#starts.push(length);
      length += elementCount(parameter);
    }
    // After the gradients there is one flag per parameter: whether it has a gradient.
    this.#length = length;
    this.#used = new Uint8Array(parameters.length);
    this.#memory = this.#makeMemory();
  }

  /** Whether all gradients are ready. */
  get isReady(): boolean {
    return this.#used.every((used) => used === 1);
  }

  /** Whether the gradients have been sent. */
  get isSent(): boolean {
    return this.#work !== null;
  }

  /** Adds the gradient of a parameter; returns false if it has one already. */
  add(index: number, gradient: eg.Tensor): boolean {
    if (this.#used[index] === 1 || this.isSent) return false;
    this.#used[index] = 1;
    write(gradient, this.dtype, this.#memory, this.#starts[index]);
    return true;
  }

  /** Records that a parameter has a gradient that was not sent. */
  hold(index: number): void {
    this.#held.add(index);
  }

  /** Begins to average the gradients over the ranks. Missing gradients of this rank count as zero. */
  send(where: string, group: ProcessGroup): void {
    for (const i of this.#held) {
      const { grad } = this.parameters[i] as eg.Tensor;
      if (grad !== null) this.add(i, grad);
    }
    this.#held.clear();
    const all = elementsOf(this.dtype, this.#memory) as Float64Array;
    for (const [i, parameter] of this.parameters.entries()) {
      const start = this.#starts[i] as number;
      all[this.#length + i] = this.#used[i] as number;
      if (this.#used[i] === 0) all.fill(0, start, start + elementCount(parameter));
    }
    const data = this.#memory;
    const kind = "allReduce";
    const { dtype } = this;
    this.#work = group.start({ where, kind, dtype, reduction: "mean", root: 0, data });
  }

  /** Waits for the averages, and assigns them to the parameters that have a gradient on any rank. */
  receive(): void {
    this.#work?.wait();
    const used = elementsOf(this.dtype, this.#memory, this.#length);
    for (const [i, parameter] of this.parameters.entries()) {
      if (!((used[i] as number) > 0)) continue;
      parameter.grad ??= zerosFor(parameter);
      read(parameter.grad, this.dtype, this.#memory, this.#starts[i]);
    }
    this.#used.fill(0);
    this.#work = null;
  }

  /** Discards all gradients after a failed backward call. */
  reset(): void {
    this.#used.fill(0);
    // A pending operation may still write into the old memory.
    if (this.isSent) this.#memory = this.#makeMemory();
    this.#work = null;
  }

  #makeMemory(): SharedArrayBuffer {
    const elements = this.#length + this.parameters.length;
    return new SharedArrayBuffer(elements * bytesOf(this.dtype));
  }
}

function zerosFor(parameter: eg.Tensor): eg.Tensor {
  return eg.keep(eg.zerosLike(parameter.detach()));
}

/** Assigns parameters to buckets, the last ones first because their gradients are ready first. */
export function bucketsOf(
  where: string,
  parameters: readonly eg.Tensor[],
  mostBytes: number,
): Bucket[] {
  const made: { dtype: WireDType; parameters: eg.Tensor[]; bytes: number }[] = [];
  for (const parameter of [...parameters].reverse()) {
    const dtype = wireDType(where, parameter, "mean");
    const bytes = elementCount(parameter) * bytesOf(dtype);
    const last = made.at(-1);
    const most = made.length === 1 ? Math.min(kFirstBytes, mostBytes) : mostBytes;
    if (last !== undefined && last.dtype === dtype && last.bytes + bytes <= most) {
      last.parameters.push(parameter);
      last.bytes += bytes;
    } else {
      made.push({ dtype, parameters: [parameter], bytes });
    }
  }
  return made.map((bucket) => new Bucket(bucket.parameters, bucket.dtype));
}
