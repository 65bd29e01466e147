import { readArguments } from "../../arguments/read.js";
import { integer, type Options } from "../../arguments/rule.js";
import { logSoftmax, softmax, softmin } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { isDue } from "../../runtime/errors/once.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

const kSoftmaxArguments = {
  /** The dimension along which the results sum to 1. */
  dim: integer.orNull(),
};

/** Options of `Softmax`, `LogSoftmax` and `Softmin`. */
export type SoftmaxOptions = Options<typeof kSoftmaxArguments>;

abstract class AlongDimension extends Module {
  readonly dim: number | null;

  constructor(...given: [dim?: number | null | SoftmaxOptions]) {
    super();
    this.dim = readArguments(new.target.name, kSoftmaxArguments, given).dim;
  }

  protected dimOf(input: Tensor): number {
    return this.dim ?? implicitDim(this.constructor.name, input);
  }

  override extraRepr(): string {
    return formatArguments([], { dim: this.dim });
  }
}

/** exp(x) over its sum along a dimension. */
export class Softmax extends AlongDimension {
  override forward(input: Tensor): Tensor {
    return softmax(input, this.dimOf(input));
  }
}

/** The logarithm of softmax. */
export class LogSoftmax extends AlongDimension {
  override forward(input: Tensor): Tensor {
    return logSoftmax(input, this.dimOf(input));
  }
}

/** Softmax of -x. */
export class Softmin extends AlongDimension {
  override forward(input: Tensor): Tensor {
    return softmin(input, this.dimOf(input));
  }
}

/** Softmax over the channels of an image [batch?, channels, rows, columns]. */
export class Softmax2d extends Module {
  override forward(input: Tensor): Tensor {
    const { ndim } = tensorRule.check("Softmax2d", "input", input);
    if (ndim !== 3 && ndim !== 4) {
      fail("ShapeMismatch", "Softmax2d", `expected a 3D or 4D input, got ${ndim}D.`);
    }
    return softmax(input, -3);
  }
}

const once = { done: false };

// The dimension that PyTorch uses, with a warning, when none was given.
function implicitDim(layer: string, input: Tensor): number {
  const { ndim } = tensorRule.check(layer, "input", input);
  if (isDue(once)) {
    console.warn(
      `edgegrad: [${layer}] no dim was given, so it is guessed from the input: write new ${layer}({ dim: 1 }).`,
    );
  }
  return ndim === 0 || ndim === 1 || ndim === 3 ? 0 : 1;
}
