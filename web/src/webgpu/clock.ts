// The GPU's own time at places of the stream.

import type { Block } from "./blocks";
import { Usage } from "./usage";

const kBytes = 8; // of a time, in nanoseconds

/** Notes times in slots. */
export class Clock {
  readonly #queries: GPUQuerySet;
  readonly #times: GPUBuffer;

  /** `slots` is how many there are. */
  constructor(device: GPUDevice, slots: number) {
    this.#queries = device.createQuerySet({ type: "timestamp", count: slots });
    const usage = Usage.QueryResolve | Usage.CopySource;
    this.#times = device.createBuffer({ size: kBytes * slots, usage });
  }

  /** A pass of its own: only passes note times. */
  stamp(encoder: GPUCommandEncoder, slot: number): void {
    const timestampWrites = { querySet: this.#queries, beginningOfPassWriteIndex: slot };
    encoder.beginComputePass({ timestampWrites }).end();
  }

  /** The first slots, into a block. */
  copy(encoder: GPUCommandEncoder, to: Block, count: number): void {
    encoder.resolveQuerySet(this.#queries, 0, count, this.#times, 0);
    encoder.copyBufferToBuffer(this.#times, 0, to.buffer, to.offset, kBytes * count);
  }
}
