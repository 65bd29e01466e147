// A recorded sequence of GPU work that can be replayed: dispatches with their resources, copies and clears.

import type { Block } from "./blocks";
import type { PlayerError } from "./errors";
import type { PreparedDispatch } from "./recorder";

type Step =
  | { readonly dispatch: PreparedDispatch; readonly uniformOffset: number }
  | { readonly encode: (encoder: GPUCommandEncoder) => void };

/** The uniforms of all dispatches of a recording, on the device. */
export interface DeviceUniforms {
  readonly buffer: GPUBuffer;
  readonly group: GPUBindGroup;
}

/** The batch into which a recording is replayed. */
export interface Target {
  computePass(): GPUComputePassEncoder;
  /** Ends the compute pass and returns the command encoder. */
  encoder(): GPUCommandEncoder;
}

export class Recording {
  /** The error that occurred while it was made; a recording with an error cannot be played. */
  failure: PlayerError | undefined;
  /** Whether its shaders may set the status words. */
  usesStatus = false;
  dispatches = 0;
  readonly blocks = new Set<Block>();
  readonly #steps: Step[] = [];
  readonly #uniforms: Uint8Array[] = [];
  #uniformBytes = 0;
  #onDevice: DeviceUniforms | undefined;

  /** The length of `uniforms` is padded to the alignment of uniform buffer offsets. */
  addDispatch(dispatch: PreparedDispatch, uniforms: Uint8Array): void {
    this.#steps.push({ dispatch, uniformOffset: this.#uniformBytes });
    this.#uniforms.push(uniforms.slice());
    this.#uniformBytes += uniforms.length;
    this.dispatches++;
    this.#retain(dispatch.blocks);
  }

  /** Adds a command that is encoded outside of compute passes. */
  addCommand(encode: (encoder: GPUCommandEncoder) => void, blocks: readonly Block[]): void {
    this.#steps.push({ encode });
    this.#retain(blocks);
  }

  /** Ends the recording; `make` uploads the uniforms to the device. */
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

  /** Releases the recording, which will not be played again. Returns its uniform buffer, if any, to destroy after the current batch. */
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
