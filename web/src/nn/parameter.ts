// The tensors that belong to a module: parameters, which it learns, and buffers, which it does not.

import { readArguments, readOptions } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import type { ToOptions } from "../ops/to.js";
import { checked, native } from "../runtime/bridge/bridge.js";
import { handleOf } from "../tensor/info.js";
import { tensorRule } from "../tensor/rules.js";
import { Tensor } from "../tensor/tensor.js";
import { awaitOwner } from "./members.js";

const kParameterArguments = { data: tensorRule, requiresGrad: boolean.or(true) };

/** A tensor that is a parameter of the module that has it as a property. */
export class Parameter extends Tensor {
  // Makes TypeScript reject a plain tensor where a parameter is expected.
  declare private readonly isParameter: true;

  /** Makes a leaf that shares the data of `data`. */
  constructor(data: Tensor, requiresGrad?: boolean);
  constructor(data: Tensor, options?: { requiresGrad?: boolean });
  constructor(...given: unknown[]) {
    const { data, requiresGrad } = readArguments("Parameter", kParameterArguments, given);
    super(checked(native.detach(handleOf(data))));
    if (requiresGrad) this.requiresGrad = true;
    awaitOwner(this);
  }

  override toString(): string {
    return `Parameter containing:\n${super.toString()}`;
  }
}

const kBufferOptions = {
  /** Include it in the state dict; default true. */
  persistent: boolean.or(true),
};

/** Options of `Buffer`. */
export type BufferOptions = Options<typeof kBufferOptions>;

/**
 * A tensor that a module has as a property and does not learn: it moves with the module, and is saved with it unless
 * `persistent` is false.
 */
export class Buffer extends Tensor {
  /** True when the buffer is part of the state dict. */
  readonly persistent: boolean;

  /** Makes a tensor that shares the data of `data`. */
  constructor(data: Tensor, ...rest: [options?: BufferOptions]) {
    const { persistent } = readOptions("Buffer", kBufferOptions, rest);
    super(checked(native.detach(handleOf(tensorRule.check("Buffer", "data", data)))));
    this.persistent = persistent;
    if (data.requiresGrad) this.requiresGrad = true;
    awaitOwner(this);
  }
}

/** A parameter or buffer that has no shape yet (lazy/uninitialized.ts), and what modules do with it instead of using its data. */
export interface Shapeless extends Tensor {
  /** Takes the shape and the values of `source`; with `shares`, its data. Does nothing if `source` has no shape either. */
  takeFrom(source: Tensor, shares: boolean): void;
  /** Changes what it will be made with. */
  convertTo(wanted: ToOptions): void;
  /** Returns another one. */
  copy(): Tensor;
}

/** Returns a tensor that has no shape yet, and null for any other. */
export function shapelessOrNull(tensor: Tensor): Shapeless | null {
  return "takeFrom" in tensor ? (tensor as Shapeless) : null;
}

/** Makes a parameter of a new tensor, and disposes the tensor. */
export function parameterFrom(data: Tensor): Parameter {
  const parameter = new Parameter(data);
  data.dispose();
  return parameter;
}

/** Makes a buffer of a new tensor, and disposes the tensor. */
export function bufferFrom(data: Tensor): Buffer {
  const buffer = new Buffer(data);
  data.dispose();
  return buffer;
}
