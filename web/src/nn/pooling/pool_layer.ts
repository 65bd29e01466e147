// Layers of pooling from their ops: a class for each number of dimensions.

import { type Constructor, readArguments } from "../../arguments/read.js";
import type { Rules } from "../../arguments/rule.js";
import type { Ints } from "../../dispatch/types.js";
import { fail } from "../../runtime/errors/errors.js";
import { needsPart } from "../../runtime/start/parts.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Check, Layer } from "../layer.js";
import { perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments, type Printable } from "../module_text.js";

needsPart("conv");

/** A layer of pooling over windows. */
export interface PoolLayer extends Layer {
  /** The size of a window. */
  readonly kernelSize: Ints;
}

/** The class of a layer of pooling over windows; `Positional` and `Named` are the arguments after the kernel size. */
export interface PoolClass<Positional extends readonly unknown[], Named, Pool extends Module>
  extends Constructor<[kernelSize: Ints], Positional, Named, Pool> {}

/**
 * Returns the class of a layer that calls `op` with its input, the kernel size and the options by name. Its text has the
 * kernel size and the `shown` options, or nothing if there are none; a stride that was left out is the kernel size.
 */
export function poolLayer<Positional extends readonly unknown[], Named, Pool extends Module>(
  spatial: number,
  rules: Rules,
  op: (input: Tensor, kernelSize: Ints, options: object) => unknown,
  shown: readonly string[],
  check?: Check<Rules>,
): PoolClass<Positional, Named, Pool> {
  const all: Rules = { kernelSize: perDimension(spatial, 1), ...rules };
  return class extends Module {
    readonly kernelSize: Ints;
    readonly options: Readonly<Record<string, unknown>>;

    constructor(...given: readonly unknown[]) {
      super();
      const { kernelSize, ...options } = readArguments(new.target.name, all, given);
      const problem = check?.(options);
      if (problem !== undefined) fail("InvalidArgument", new.target.name, problem);
      this.kernelSize = kernelSize as Ints;
      this.options = options;
    }

    override forward(input: Tensor): unknown {
      return op(input, this.kernelSize, { ...this.options });
    }

    override extraRepr(): string {
      if (shown.length === 0) return "";
      const { kernelSize, options } = this;
      const values = shown.map((name) => [
        name,
        name === "stride" ? (options.stride ?? kernelSize) : options[name],
      ]);
      const texts: Record<string, Printable> = Object.fromEntries([
        ["kernelSize", kernelSize],
        ...values,
      ]);
      return formatArguments([], texts);
    }
  } as unknown as PoolClass<Positional, Named, Pool>;
}
