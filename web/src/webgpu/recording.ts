// A recorded sequence of GPU work that can be replayed: calls of kernels, with their dispatches, copies and clears.

import type { Block } from "./blocks";
import type { PlayerError } from "./errors";
import type { PreparedDispatch } from "./recorder";

/** A call of a kernel, as far as its results inherit failures. */
export interface CallRecord {
  readonly op: string;
  readonly reads: readonly Block[];
  readonly writes: readonly Block[];
  /** Whether it reports in status words. */
  readonly usesStatus: boolean;
  /** Whether it replaces all content of the blocks that it writes. */
  readonly overwrites: boolean;
}

type Step =
  | { readonly call: CallRecord }
  | { readonly dispatch: PreparedDispatch; readonly uniformOffset: number }
  | { readonly encode: (encoder: GPUCommandEncoder) => void }
  | { readonly again: () => void };

/** The uniforms of all dispatches of a recording, on the device. */
export interface DeviceUniforms {
  readonly buffer: GPUBuffer;
  readonly group: GPUBindGroup;
}

/** What a replay does anew. */
export interface Replayed {
  /** Begins a call; returns the number of its status words. */
  begin(call: CallRecord): number;
  /** Ends the last call. */
  end(): void;
}

/** The batch into which a recording is replayed. */
export interface Target extends Replayed {
  computePass(): GPUComputePassEncoder;
  /** Ends the compute pass and returns the command encoder. */
  encoder(): GPUCommandEncoder;
  dispatch(dispatch: PreparedDispatch, slot: number): void;
}

export class Recording {
  /** The error that occurred while it was made; a recording with an error is not played. */
  failure: PlayerError | undefined;
  /** Whether it is not known what the call that failed would have written. */
  hasUnknownResults = false;
  /** The blocks that its calls write: not those that only optimiser steps write. */
  readonly written = new Set<Block>();
  /** The number of dispatches whose uniforms are on the device. */
  dispatches = 0;
  readonly blocks = new Set<Block>();
  readonly #steps: Step[] = [];
  readonly #uniforms: Uint8Array[] = [];
  #uniformBytes = 0;
  #onDevice: DeviceUniforms | undefined;

  /** Begins a call of a kernel, to which what is added next belongs. */
  addCall(call: CallRecord): void {
    this.#steps.push({ call });
    for (const block of call.writes) this.written.add(block);
    this.#retain(call.reads);
    this.#retain(call.writes);
  }

  /** The length of `uniforms` is padded to the alignment of uniform buffer offsets. */
  addDispatch(dispatch: PreparedDispatch, uniforms: Uint8Array): void {
    this.#steps.push({ dispatch, uniformOffset: this.#uniformBytes });
    this.#uniforms.push(uniforms.slice());
    this.#uniformBytes += uniforms.length;
    if (dispatch.slotAt === undefined) this.dispatches++;
    this.#retain(dispatch.blocks);
  }

  /** Notes a failure, and the blocks that the call which failed would have written; none if they are not known. */
  fail(error: PlayerError, blocks: readonly Block[]): void {
    this.failure ??= error;
    this.hasUnknownResults ||= blocks.length === 0;
    for (const block of blocks) this.written.add(block);
    this.#retain(blocks);
  }

  /** Adds a command that is encoded outside of compute passes. */
  addCommand(encode: (encoder: GPUCommandEncoder) => void, blocks: readonly Block[]): void {
    this.#steps.push({ encode });
    this.#retain(blocks);
  }

  /** Adds work that every replay does anew. */
  addAgain(again: () => void, blocks: readonly Block[]): void {
    this.#steps.push({ again });
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
    let slot = 0;
    for (const step of this.#steps) {
      if ("call" in step) {
        target.end();
        slot = target.begin(step.call);
        continue;
      }
      if ("again" in step) {
        target.end();
        step.again();
        last = undefined;
        continue;
      }
      if ("encode" in step) {
        step.encode(target.encoder());
        last = undefined;
        continue;
      }
      const { pipeline, bindGroup, workgroups, slotAt } = step.dispatch;
      if (slotAt !== undefined) {
        target.dispatch(step.dispatch, slot);
        last = undefined;
        continue;
      }
      const pass = target.computePass();
      if (pipeline !== last) pass.setPipeline(pipeline);
      last = pipeline;
      pass.setBindGroup(0, bindGroup);
      pass.setBindGroup(1, group, [step.uniformOffset]);
      pass.dispatchWorkgroups(...workgroups);
    }
    target.end();
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
