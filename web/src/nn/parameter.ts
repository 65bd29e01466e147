// The tensors that belong to a module: what it learns, and what else it keeps.

import { readArguments, readOptions } from "../arguments/read.js";
import { boolean, type Options } from "../arguments/rule.js";
import { checked, native } from "../runtime/bridge.js";
import { handleOf } from "../tensor/info.js";
import { tensorRule } from "../tensor/rules.js";
import { Tensor } from "../tensor/tensor.js";
import { awaitPlace } from "./members.js";

const kParameterArguments = { data: tensorRule, requiresGrad: boolean.or(true) };

/** A tensor that counts as a parameter of the module it is a property of. */
export class Parameter extends Tensor {
  // So that TypeScript takes no plain tensor for a parameter.
  declare private readonly isParameter: true;

  /** Makes a leaf that shares the data of `data`. */
  constructor(data: Tensor, requiresGrad?: boolean);
  constructor(data: Tensor, options?: { requiresGrad?: boolean });
  constructor(...given: unknown[]) {
    const { data, requiresGrad } = readArguments("Parameter", kParameterArguments, given);
    super(checked(native.detach(handleOf(data))));
    if (requiresGrad) this.requiresGrad = true;
    awaitPlace(this);
  }

  override toString(): string {
    return `Parameter containing:\n${super.toString()}`;
  }
}

const kBufferOptions = {
  /** Save it with the state dict; default true. */
  persistent: boolean.or(true),
};

/** Options of `Buffer`. */
export type BufferOptions = Options<typeof kBufferOptions>;

/**
 * A tensor that the module it is a property of keeps but does not learn: it moves with the module, and is
 * saved with it unless `persistent` is false.
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
    awaitPlace(this);
  }
}

/** Makes a parameter of a fresh tensor, whose own handle is not needed any more. */
export function parameterFrom(data: Tensor): Parameter {
  const parameter = new Parameter(data);
  data.dispose();
  return parameter;
}

/** Makes a buffer of a fresh tensor, whose own handle is not needed any more. */
export function bufferFrom(data: Tensor): Buffer {
  const buffer = new Buffer(data);
  data.dispose();
  return buffer;
}
