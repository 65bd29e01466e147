// GPU timestamps at points of the stream.

import type { Block } from "./blocks";
import { Usage } from "./usage";

const kBytes = 8; // of a time, in nanoseconds

/** Writes timestamps to numbered slots. */
export class Clock {
  readonly #queries: GPUQuerySet;
  readonly #times: GPUBuffer;

  /** `slots` is the number of slots. */
  constructor(device: GPUDevice, slots: number) {
    this.#queries = device.createQuerySet({ type: "timestamp", count: slots });
    const usage = Usage.QueryResolve | Usage.CopySource;
    this.#times = device.createBuffer({ size: kBytes * slots, usage });
  }

  destroy(): void {
    this.#queries.destroy();
    this.#times.destroy();
  }

  /** Writes a timestamp in an empty pass, because only passes can write timestamps. */
  stamp(encoder: GPUCommandEncoder, slot: number): void {
    const timestampWrites = { querySet: this.#queries, beginningOfPassWriteIndex: slot };
    encoder.beginComputePass({ timestampWrites }).end();
  }

  /** Copies the first `count` timestamps to a block. */
  copy(encoder: GPUCommandEncoder, to: Block, count: number): void {
    encoder.resolveQuerySet(this.#queries, 0, count, this.#times, 0);
    encoder.copyBufferToBuffer(this.#times, 0, to.buffer, to.offset, kBytes * count);
  }
}
