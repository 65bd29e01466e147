// Layers without parameters: activation functions, Dropout, Flatten.

import { readArguments } from "../../arguments/read.js";
import { integer, listOf, number, type Options, oneOf } from "../../arguments/rule.js";
import {
  dropout,
  flatten,
  gelu,
  relu,
  sigmoid,
  silu,
  softmax,
  tanh,
  unflatten,
} from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

/** max(x, 0). */
export class ReLU extends Module {
  override forward(input: Tensor): Tensor {
    return relu(input);
  }
}

const kGELUArguments = {
  /** "tanh" computes the usual approximation; default "none". */
  approximate: oneOf("none", "tanh").or("none"),
};

/** Options of `GELU`. */
export type GELUOptions = Options<typeof kGELUArguments>;

/** x times the probability that a normal variable is below x. */
export class GELU extends Module {
  readonly approximate: "none" | "tanh";

  constructor(...given: [approximate?: "none" | "tanh" | GELUOptions]) {
    super();
    this.approximate = readArguments(new.target.name, kGELUArguments, given).approximate;
  }

  override forward(input: Tensor): Tensor {
    return gelu(input, this.approximate);
  }

  override extraRepr(): string {
    return formatArguments([], { approximate: `'${this.approximate}'` });
  }
}

/** The hyperbolic tangent. */
export class Tanh extends Module {
  override forward(input: Tensor): Tensor {
    return tanh(input);
  }
}

/** 1 / (1 + exp(-x)). */
export class Sigmoid extends Module {
  override forward(input: Tensor): Tensor {
    return sigmoid(input);
  }
}

/** x times sigmoid(x). */
export class SiLU extends Module {
  override forward(input: Tensor): Tensor {
    return silu(input);
  }
}

const kSoftmaxArguments = {
  /** The dimension along which the results sum to 1. */
  dim: integer.orNull(),
};

/** Options of `Softmax`. */
export type SoftmaxOptions = Options<typeof kSoftmaxArguments>;

/** exp(x) over its sum along a dimension. */
export class Softmax extends Module {
  readonly dim: number | null;

  constructor(...given: [dim?: number | null | SoftmaxOptions]) {
    super();
    this.dim = readArguments(new.target.name, kSoftmaxArguments, given).dim;
  }

  override forward(input: Tensor): Tensor {
    return softmax(input, this.dim ?? implicitDim(input));
  }

  override extraRepr(): string {
    return formatArguments([], { dim: this.dim });
  }
}

let hasWarned = false;

// The dimension PyTorch takes, with a warning, when none was given.
function implicitDim(input: Tensor): number {
  const { ndim } = tensorRule.check("Softmax", "input", input);
  if (!hasWarned) {
    hasWarned = true;
    console.warn(
      "edgegrad: Implicit dimension choice for softmax has been deprecated. Say it: new Softmax({ dim: 1 }).",
    );
  }
  return ndim === 0 || ndim === 1 || ndim === 3 ? 0 : 1;
}

const kDropoutArguments = {
  /** The probability of an element to become zero; default 0.5. */
  p: number.or(0.5),
};

/** Options of `Dropout`. */
export type DropoutOptions = Options<typeof kDropoutArguments>;

/** In training, sets random elements to zero and scales the others up. */
export class Dropout extends Module {
  readonly p: number;

  constructor(...given: [p?: number | DropoutOptions]) {
    super();
    this.p = readArguments(new.target.name, kDropoutArguments, given).p;
    if (!(this.p >= 0 && this.p <= 1)) {
      fail(
        "InvalidArgument",
        "Dropout",
        `dropout probability has to be between 0 and 1, but got ${this.p}.`,
      );
    }
  }

  override forward(input: Tensor): Tensor {
    return dropout(input, this.p, this.training);
  }

  override extraRepr(): string {
    return formatArguments([], { p: this.p, inplace: false });
  }
}

const kFlattenArguments = {
  /** The first dimension to join; default 1. */
  startDim: integer.or(1),
  /** The last one; default -1. */
  endDim: integer.or(-1),
};

/** Options of `Flatten`. */
export type FlattenOptions = Options<typeof kFlattenArguments>;

/** Joins the dimensions from `startDim` (default 1) to `endDim` (default the last) into one. */
export class Flatten extends Module {
  readonly startDim: number;
  readonly endDim: number;

  constructor(startDim?: number, endDim?: number);
  constructor(options?: FlattenOptions);
  constructor(...given: unknown[]) {
    super();
    const { startDim, endDim } = readArguments(new.target.name, kFlattenArguments, given);
    this.startDim = startDim;
    this.endDim = endDim;
  }

  override forward(input: Tensor): Tensor {
    return flatten(input, this.startDim, this.endDim);
  }

  override extraRepr(): string {
    return formatArguments([], { startDim: this.startDim, endDim: this.endDim });
  }
}

const kUnflattenArguments = { dim: integer, unflattenedSize: listOf(integer) };

/** Splits the dimension `dim` into several of the sizes `unflattenedSize`, one of which may be -1. */
export class Unflatten extends Module {
  readonly dim: number;
  readonly unflattenedSize: readonly number[];

  constructor(...given: [dim: number, unflattenedSize: readonly number[]]) {
    super();
    const { dim, unflattenedSize } = readArguments(new.target.name, kUnflattenArguments, given);
    this.dim = dim;
    this.unflattenedSize = unflattenedSize;
  }

  override forward(input: Tensor): Tensor {
    return unflatten(input, this.dim, this.unflattenedSize);
  }

  override extraRepr(): string {
    return formatArguments([], { dim: this.dim, unflattenedSize: this.unflattenedSize });
  }
}
