// What was recorded once, kept to be recorded again as it is: dispatches with all that they need, copies, zeros.

import type { Block } from "./blocks";
import type { PlayerError } from "./errors";
import type { Prepared } from "./recorder";

type Step =
  | { readonly dispatch: Prepared; readonly numbersAt: number }
  | { readonly encode: (encoder: GPUCommandEncoder) => void };

/** The numbers of all dispatches on the device. */
export interface NumbersOnDevice {
  readonly buffer: GPUBuffer;
  readonly group: GPUBindGroup;
}

/** Where a recording is recorded again. */
export interface Target {
  computePass(): GPUComputePassEncoder;
  /** Ends the pass. */
  encoder(): GPUCommandEncoder;
}

export class Recording {
  /** What went wrong while it was made, for which it cannot be played. */
  failure: PlayerError | undefined;
  /** Its shaders may set the status words. */
  usesStatus = false;
  dispatches = 0;
  readonly blocks = new Set<Block>();
  readonly #steps: Step[] = [];
  readonly #numbers: Uint8Array[] = [];
  #numberBytes = 0;
  #onDevice: NumbersOnDevice | undefined;

  /** `numbers` end where those of another dispatch may begin. */
  addDispatch(dispatch: Prepared, numbers: Uint8Array): void {
    this.#steps.push({ dispatch, numbersAt: this.#numberBytes });
    this.#numbers.push(numbers.slice());
    this.#numberBytes += numbers.length;
    this.dispatches++;
    this.#keep(dispatch.blocks);
  }

  /** What is done outside of compute passes. */
  addCommand(encode: (encoder: GPUCommandEncoder) => void, blocks: readonly Block[]): void {
    this.#steps.push({ encode });
    this.#keep(blocks);
  }

  /** Ends it; `make` brings the numbers to the device. */
  finish(make: (numbers: Uint8Array) => NumbersOnDevice): void {
    if (this.#numberBytes === 0) return;
    const all = new Uint8Array(this.#numberBytes);
    let at = 0;
    for (const numbers of this.#numbers) {
      all.set(numbers, at);
      at += numbers.length;
    }
    this.#numbers.length = 0;
    this.#onDevice = make(all);
  }

  play(target: Target): void {
    const group = this.#onDevice?.group ?? null;
    let last: GPUComputePipeline | undefined;
    for (const step of this.#steps) {
      if ("encode" in step) {
        step.encode(target.encoder());
        last = undefined;
        continue;
      }
      const { pipeline, bindGroup, workgroups } = step.dispatch;
      const pass = target.computePass();
      if (pipeline !== last) pass.setPipeline(pipeline);
      last = pipeline;
      pass.setBindGroup(0, bindGroup);
      pass.setBindGroup(1, group, [step.numbersAt]);
      pass.dispatchWorkgroups(...workgroups);
    }
  }

  /** It will not be played again; returns the buffer of its own, if it has one, which is needed no more after the batch. */
  letGo(): GPUBuffer | undefined {
    for (const block of this.blocks) block.keepers--;
    return this.#onDevice?.buffer;
  }

  #keep(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (this.blocks.has(block)) continue;
      this.blocks.add(block);
      block.keepers++;
    }
  }
}
