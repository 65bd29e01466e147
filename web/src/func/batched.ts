// The tensors inside vmap(): each represents a batch but reports the shape of one sample.

import type { Interpreter } from "../dispatch/interpreter.js";
import { fail } from "../runtime/errors/errors.js";
import type { Device, DType } from "../tensor/dtype.js";
import { kNoHandle, type WithoutHandle } from "../tensor/info.js";
import { type Layout, Tensor } from "../tensor/tensor.js";

/** How random ops behave inside vmap(): throw, draw different numbers for every sample, or the same for all. */
export type Randomness = "error" | "different" | "same";

/** Runs the calls of ops inside a level. */
export interface LevelInterpreter extends Interpreter {
  readonly level: Level;
}

/** A running call of vmap(). */
export interface Level {
  readonly interpreter: LevelInterpreter;
  /** The number of samples in the batch. */
  readonly size: number;
  readonly randomness: Randomness;
  /** The enclosing vmap(), or null. */
  readonly outer: Level | null;
}

/** A batch that looks like one of its samples. */
export class BatchedTensor extends Tensor implements WithoutHandle {
  /**
   * `shown` holds the batch along its first dimension; in nested calls it is itself a BatchedTensor of an outer level.
   */
  constructor(
    public shown: Tensor,
    readonly level: Level,
  ) {
    super(kNoHandle);
  }

  override get shape(): number[] {
    return this.shown.shape.slice(1);
  }

  override get ndim(): number {
    return this.shown.ndim - 1;
  }

  override get numel(): number {
    return this.shape.reduce((product, size) => product * size, 1);
  }

  override get strides(): number[] {
    return this.shown.strides.slice(1);
  }

  override get offset(): number {
    return this.shown.offset;
  }

  override get dtype(): DType {
    return this.shown.dtype;
  }

  override get device(): Device {
    return this.shown.device;
  }

  override get requiresGrad(): boolean {
    return this.shown.requiresGrad;
  }

  override set requiresGrad(value: boolean) {
    this.shown.requiresGrad = value;
  }

  override get isLeaf(): boolean {
    return this.shown.isLeaf;
  }

  override get version(): number {
    return this.shown.version;
  }

  override get isView(): boolean {
    return this.shown.isView;
  }

  override get isInference(): boolean {
    return this.shown.isInference;
  }

  override get isContiguous(): boolean {
    return this.shown.isContiguous;
  }

  override get layout(): Layout {
    return this.shown.layout;
  }

  override get isSparse(): boolean {
    return this.shown.isSparse;
  }

  override item(): never {
    return failOnItem();
  }

  override itemAsync(): never {
    return failOnItem();
  }

  /** Throws: the engine knows no such tensor. */
  refuseUse(): never {
    fail(
      "InvalidArgument",
      "vmap",
      "a tensor inside vmap() represents a batch and does not support this: do it outside, " +
        "or compute gradients with eg.func.grad() or eg.func.vjp(). Such a tensor is invalid after vmap(): " +
        "return it from the function to use its values.",
    );
  }

  override detach_(): this {
    this.shown.detach_();
    return this;
  }

  override another(): Tensor {
    return new BatchedTensor(this.shown.another(), this.level);
  }

  override get disposed(): boolean {
    return this.shown.disposed;
  }

  override dispose(): void {
    this.shown.dispose();
  }

  override toString(): string {
    return `BatchedTensor(size=${this.level.size}, value=${this.shown})`;
  }
}

function failOnItem(): never {
  fail(
    "InvalidArgument",
    "vmap",
    "item() cannot be called inside vmap(), where a tensor has a value per sample. Use operations on tensors instead, " +
      "such as where().",
  );
}

/** True for a tensor that is batched at `level`. */
export function isBatchedAt(value: unknown, level: Level): value is BatchedTensor {
  return value instanceof BatchedTensor && value.level === level;
}

/** Returns the engine's tensor, with the batch dimensions of all levels in front. */
export function physicalOf(tensor: Tensor): Tensor {
  return tensor instanceof BatchedTensor ? physicalOf(tensor.shown) : tensor;
}

/** Returns the levels at which a tensor is batched, outermost first. */
export function levelsOf(tensor: Tensor): Level[] {
  return tensor instanceof BatchedTensor ? [...levelsOf(tensor.shown), tensor.level] : [];
}

/** Wraps an engine tensor as a batch of `levels`, outermost first. */
export function batchedAt(physical: Tensor, levels: readonly Level[]): Tensor {
  return levels.reduce<Tensor>((tensor, level) => new BatchedTensor(tensor, level), physical);
}
