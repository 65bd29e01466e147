// Layers without parameters: activation functions, Dropout, Flatten.

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
} from "../generated/ops.js";
import { fail } from "../runtime/errors.js";
import type { Tensor } from "../tensor/tensor.js";
import { Module } from "./module.js";
import { formatArguments } from "./module_text.js";

/** max(x, 0). */
export class ReLU extends Module {
  override forward(input: Tensor): Tensor {
    return relu(input);
  }
}

/** Options of `GELU`. */
export interface GELUOptions {
  /** "tanh" computes the usual approximation; default "none". */
  approximate?: "none" | "tanh";
}

/** x times the probability that a normal variable is below x. */
export class GELU extends Module {
  readonly approximate: "none" | "tanh";

  constructor(approximate: "none" | "tanh" | GELUOptions = "none") {
    super();
    this.approximate =
      typeof approximate === "object" ? (approximate.approximate ?? "none") : approximate;
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

/** Options of `Softmax`. */
export interface SoftmaxOptions {
  /** The dimension along which the results sum to 1. */
  dim?: number | null;
}

/** exp(x) over its sum along a dimension. */
export class Softmax extends Module {
  readonly dim: number | null;

  constructor(dim: number | null | SoftmaxOptions = null) {
    super();
    this.dim = typeof dim === "object" ? (dim?.dim ?? null) : dim;
  }

  override forward(input: Tensor): Tensor {
    return softmax(input, this.dim ?? implicitDim(input));
  }

  override extraRepr(): string {
    return formatArguments([], { dim: this.dim });
  }
}

// The dimension PyTorch takes when none was given.
function implicitDim({ ndim }: Tensor): number {
  return ndim === 0 || ndim === 1 || ndim === 3 ? 0 : 1;
}

/** Options of `Dropout`. */
export interface DropoutOptions {
  /** The probability of an element to become zero; default 0.5. */
  p?: number;
}

/** In training, sets random elements to zero and scales the others up. */
export class Dropout extends Module {
  readonly p: number;

  constructor(p: number | DropoutOptions = {}) {
    super();
    this.p = typeof p === "object" ? (p.p ?? 0.5) : p;
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

/** Options of `Flatten`. */
export interface FlattenOptions {
  startDim?: number;
  endDim?: number;
}

/** Joins the dimensions from `startDim` (default 1) to `endDim` (default the last) into one. */
export class Flatten extends Module {
  readonly startDim: number;
  readonly endDim: number;

  constructor(startDim?: number, endDim?: number);
  constructor(options?: FlattenOptions);
  constructor(startDim: number | FlattenOptions = 1, endDim = -1) {
    super();
    const given = typeof startDim === "object" ? startDim : { startDim, endDim };
    this.startDim = given.startDim ?? 1;
    this.endDim = given.endDim ?? -1;
  }

  override forward(input: Tensor): Tensor {
    return flatten(input, this.startDim, this.endDim);
  }

  override extraRepr(): string {
    return formatArguments([], { startDim: this.startDim, endDim: this.endDim });
  }
}

/** Splits the dimension `dim` into several of the sizes `unflattenedSize`, one of which may be -1. */
export class Unflatten extends Module {
  constructor(
    readonly dim: number,
    readonly unflattenedSize: readonly number[],
  ) {
    super();
  }

  override forward(input: Tensor): Tensor {
    return unflatten(input, this.dim, this.unflattenedSize);
  }

  override extraRepr(): string {
    return formatArguments([], { dim: this.dim, unflattenedSize: this.unflattenedSize });
  }
}
