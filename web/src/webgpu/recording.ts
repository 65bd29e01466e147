// What was recorded once, kept to be recorded again as it is: dispatches with all that they need, copies, zeros.

import type { Block } from "./blocks";
import type { PlayerError } from "./errors";
import type { PreparedDispatch } from "./recorder";

type Step =
  | { readonly dispatch: PreparedDispatch; readonly uniformOffset: number }
  | { readonly encode: (encoder: GPUCommandEncoder) => void };

/** The numbers of all dispatches on the device. */
export interface DeviceUniforms {
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
  readonly #uniforms: Uint8Array[] = [];
  #uniformBytes = 0;
  #onDevice: DeviceUniforms | undefined;

  /** `numbers` end where those of another dispatch may begin. */
  addDispatch(dispatch: PreparedDispatch, uniforms: Uint8Array): void {
    this.#steps.push({ dispatch, uniformOffset: this.#uniformBytes });
    this.#uniforms.push(uniforms.slice());
    this.#uniformBytes += uniforms.length;
    this.dispatches++;
    this.#retain(dispatch.blocks);
  }

  /** What is done outside of compute passes. */
  addCommand(encode: (encoder: GPUCommandEncoder) => void, blocks: readonly Block[]): void {
    this.#steps.push({ encode });
    this.#retain(blocks);
  }

  /** Ends it; `make` brings the numbers to the device. */
  finish(make: (uniforms: Uint8Array) => DeviceUniforms): void {
    if (this.#uniformBytes === 0) return;
    const all = new Uint8Array(this.#uniformBytes);
    let at = 0;
    for (const uniforms of this.#uniforms) {
      all.set(uniforms, at);
      at += uniforms.length;
    }
    this.#uniforms.length = 0;
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
      pass.setBindGroup(1, group, [step.uniformOffset]);
      pass.dispatchWorkgroups(...workgroups);
    }
  }

  /** It will not be played again; returns the buffer of its own, if it has one, which is needed no more after the batch. */
  release(): GPUBuffer | undefined {
    for (const block of this.blocks) block.recordingCount--;
    return this.#onDevice?.buffer;
  }

  #retain(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (this.blocks.has(block)) continue;
      this.blocks.add(block);
      block.recordingCount++;
    }
  }
}
