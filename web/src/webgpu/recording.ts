// A recorded sequence of GPU work that can be replayed: calls of kernels, with their dispatches, copies and clears.

import type { Block } from "./blocks";
import type { PlayerError } from "./errors";
import { fuse } from "./merge/fuse";
import { type MergeLimits, planGroups } from "./merge/plan";
import { compiled } from "./pipelines";
import type { Dispatch, PreparedDispatch, WrittenDispatch } from "./recorder";

/** A call of a kernel, as far as its results inherit failures. */
export interface CallRecord {
  readonly op: string;
  readonly reads: readonly Block[];
  readonly writes: readonly Block[];
  /** Whether it reports in status words. */
  readonly usesStatus: boolean;
  /** What it checks, if not indices (faults.ts). */
  readonly rule?: string | undefined;
  /** Whether it replaces all content of the blocks that it writes. */
  readonly overwrites: boolean;
}

type Step =
  | { readonly call: CallRecord }
  | { dispatch: PreparedDispatch; uniformOffset: number }
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
  /** Whether the blocks that the failed call would have written are unknown. */
  hasUnknownResults = false;
  /** The blocks that its calls write, without those that only steps of optimizers write. */
  readonly written = new Set<Block>();
  /** The number of dispatches whose uniforms are on the device. */
  dispatches = 0;
  readonly blocks = new Set<Block>();
  // Blocks whose memory something else depends on: copies, which are not possible within a buffer, and optimizers' steps.
  readonly #fixed = new Set<Block>();
  #steps: Step[] = [];
  #onDevice: DeviceUniforms | undefined;

  /** Begins a call of a kernel; the steps that are added next belong to it. */
  addCall(call: CallRecord): void {
    this.#steps.push({ call });
    for (const block of call.writes) this.written.add(block);
    this.#retain(call.reads);
    this.#retain(call.writes);
  }

  addDispatch(dispatch: PreparedDispatch): void {
    this.#steps.push({ dispatch, uniformOffset: 0 });
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
    this.#fix(blocks);
  }

  /** Adds work that every replay does anew. */
  addAgain(again: () => void, blocks: readonly Block[]): void {
    this.#steps.push({ again });
    this.#fix(blocks);
  }

  /** Whether a block may get another place: if nothing but dispatches of this recording depends on it. */
  canMove(block: Block): boolean {
    return block.recordingCount === 1 && this.blocks.has(block) && !this.#fixed.has(block);
  }

  /** Makes dispatches bind anew what has moved. */
  rebind(moved: ReadonlySet<Block>, bound: (dispatch: PreparedDispatch) => PreparedDispatch): void {
    for (const step of this.#steps)
      if ("dispatch" in step && step.dispatch.blocks.some((block) => moved.has(block)))
        step.dispatch = bound(step.dispatch);
  }

  /**
   * Replaces dispatches by fewer, where `merge` makes one of several: elementwise ones after others, and those that do not depend on
   * each other. `write` writes the uniforms of a dispatch. Returns undefined if there are none.
   */
  mergeDispatches(
    limits: MergeLimits,
    write: (dispatch: Dispatch) => WrittenDispatch,
    merge: (parts: readonly WrittenDispatch[]) => Promise<PreparedDispatch | undefined>,
  ): Promise<void> | undefined {
    const merged = new Map<readonly PreparedDispatch[], PreparedDispatch>();
    const waits: Promise<void>[] = [];
    // Between two steps that keep their places, calls come first: they only pass failures on.
    const runs = runsOf(this.#steps).map((run) => {
      if (!Array.isArray(run)) return run;
      // A call that was known before is the same object every time.
      const dispatches = run.flatMap((step) => ("dispatch" in step ? [{ ...step.dispatch }] : []));
      const fused = fuse(dispatches, limits, write);
      const partsOf = new Map(fused.map(({ whole, parts }) => [whole, parts]));
      const groups = planGroups([...partsOf.keys()], limits, write).map(({ given, parts }) => {
        const replaced = given.flatMap((part) => partsOf.get(part) ?? []);
        if (replaced.length > 1)
          waits.push(merge(parts).then((whole) => void (whole && merged.set(replaced, whole))));
        return replaced;
      });
      return { calls: run.filter((step) => "call" in step), groups };
    });
    if (waits.length === 0) return undefined;
    return Promise.all(waits).then(() => {
      const step = (dispatch: PreparedDispatch) => ({ dispatch, uniformOffset: 0 });
      this.#steps = runs.flatMap((run): Step[] => {
        if (!("groups" in run)) return [run];
        const dispatches = run.groups.flatMap((parts) => merged.get(parts) ?? parts);
        return [...run.calls, ...dispatches.map(step)];
      });
    });
  }

  /** Ends the recording; `make` uploads the uniforms to the device, at offsets that are multiples of `unit`. */
  finish(unit: number, make: (uniforms: Uint8Array) => DeviceUniforms): void {
    const steps = this.#steps.flatMap((step) => ("dispatch" in step ? [step] : []));
    let bytes = 0;
    for (const step of steps) {
      step.uniformOffset = bytes;
      bytes += Math.ceil(step.dispatch.uniforms.length / unit) * unit;
      if (step.dispatch.slotAt === undefined) this.dispatches++;
    }
    if (bytes === 0) return;
    const all = new Uint8Array(bytes);
    for (const { dispatch, uniformOffset } of steps) all.set(dispatch.uniforms, uniformOffset);
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
      const { bindGroup, workgroups, slotAt } = step.dispatch;
      if (slotAt !== undefined) {
        target.dispatch(step.dispatch, slot);
        last = undefined;
        continue;
      }
      const pass = target.computePass();
      const pipeline = compiled(step.dispatch.pipeline);
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

  #fix(blocks: readonly Block[]): void {
    this.#retain(blocks);
    for (const block of blocks) this.#fixed.add(block);
  }

  #retain(blocks: readonly Block[]): void {
    for (const block of blocks) {
      if (this.blocks.has(block)) continue;
      this.blocks.add(block);
      block.recordingCount++;
    }
  }
}

// Steps in runs of those that dispatches may be moved across; others are alone.
function runsOf(steps: readonly Step[]): (Step | Step[])[] {
  const runs: (Step | Step[])[] = [];
  for (const step of steps) {
    const isMovable =
      "call" in step
        ? !step.call.usesStatus
        : "dispatch" in step && step.dispatch.slotAt === undefined;
    const last = runs.at(-1);
    if (!isMovable) runs.push(step);
    else if (Array.isArray(last)) last.push(step);
    else runs.push([step]);
  }
  return runs;
}
