// The pruning methods.

import { readArguments } from "../../../arguments/read.js";
import { either, integer, number, oneOf, Rule } from "../../../arguments/rule.js";
import { norm } from "../../../composites/linalg/norms.js";
import { axisOf, sizeOf } from "../../../composites/shapes.js";
import { toDtype } from "../../../generated/internal.js";
import {
  abs,
  gt,
  indexFill,
  kthvalue,
  mul,
  rand,
  randLike,
  reshape,
  topk,
  zerosLike,
} from "../../../generated/ops.js";
import { fail } from "../../../runtime/errors/errors.js";
import { tensorRule } from "../../../tensor/rules.js";
import type { Tensor } from "../../../tensor/tensor.js";
import { BasePruningMethod, type PruningType } from "./method.js";

const amountRule = /* @__PURE__ */ new Rule<number>(
  "a whole number of elements or slices to prune, or a share of them from 0 to below 1",
  (value) => typeof value === "number" && value >= 0 && (value < 1 || Number.isSafeInteger(value)),
);

/** How much is pruned. */
export const kAmount = { amount: amountRule };

/** How much is pruned, and along which dimension. */
export const kStructured = { ...kAmount, dim: integer.or(-1) };

/** How much is pruned, by which norm, and along which dimension. */
export const kNormed = { ...kAmount, n: either(number, oneOf("fro", "nuc")), dim: integer.or(-1) };

/** Prunes nothing: for masks that are added later. */
export class Identity extends BasePruningMethod {
  override computeMask(_t: Tensor, defaultMask: Tensor): Tensor {
    return defaultMask;
  }
}

/** Prunes a number or a share of the elements. */
abstract class UnstructuredMethod extends BasePruningMethod {
  readonly amount: number;

  constructor(amount: number);
  constructor(options: { amount: number });
  constructor(...given: unknown[]) {
    super();
    this.amount = readArguments(new.target.name, kAmount, given).amount;
  }

  override computeMask(t: Tensor, defaultMask: Tensor): Tensor {
    const count = countOf(this.constructor.name, this.amount, t.numel);
    if (count === 0) return defaultMask;
    const [, places] = this.chosen(t, count);
    const flat = reshape(defaultMask, [-1]);
    return reshape(indexFill(flat, 0, places, 0), defaultMask.shape);
  }

  /** Returns the values and the positions in the flattened tensor of the elements to prune. */
  protected abstract chosen(t: Tensor, count: number): [Tensor, Tensor];
}

/** Prunes random elements. */
export class RandomUnstructured extends UnstructuredMethod {
  protected override chosen(t: Tensor, count: number): [Tensor, Tensor] {
    return topk(reshape(randLike(t), [-1]), count);
  }
}

/** Prunes the elements with the smallest absolute values. */
export class L1Unstructured extends UnstructuredMethod {
  protected override chosen(t: Tensor, count: number): [Tensor, Tensor] {
    return topk(reshape(abs(t), [-1]), count, { largest: false });
  }
}

/** Prunes slices along a dimension. */
abstract class StructuredMethod extends BasePruningMethod {
  static override readonly PRUNING_TYPE: PruningType = "structured";

  constructor(
    readonly amount: number,
    /** The dimension. */
    readonly dim: number,
  ) {
    super();
  }

  override computeMask(t: Tensor, defaultMask: Tensor): Tensor {
    const name = this.constructor.name;
    if (t.ndim < 2) {
      const message = `expected a tensor of two dimensions or more, got the shape [${t.shape}].`;
      fail("ShapeMismatch", name, message);
    }
    const axis = axisOf(name, this.dim, t.ndim);
    const size = sizeOf(t, axis);
    const count = countOf(name, this.amount, size);
    if (count === 0) return defaultMask;
    const kept = toDtype(this.kept(t, axis, size, count), defaultMask.dtype);
    return mul(
      defaultMask,
      reshape(
        kept,
        t.shape.map((_, d) => (d === axis ? size : 1)),
      ),
    );
  }

  /** Returns 1 for slices to keep and 0 for the `count` to prune. */
  protected abstract kept(t: Tensor, axis: number, size: number, count: number): Tensor;
}

/** Prunes random slices. */
export class RandomStructured extends StructuredMethod {
  constructor(amount: number, dim?: number);
  constructor(options: { amount: number; dim?: number });
  constructor(...given: unknown[]) {
    const { amount, dim } = readArguments(new.target.name, kStructured, given);
    super(amount, dim);
  }

  protected override kept(_t: Tensor, _axis: number, size: number, count: number): Tensor {
    const draws = rand([size]);
    const [threshold] = kthvalue(draws, count);
    return gt(draws, threshold);
  }
}

/** Prunes the slices with the smallest norms. */
export class LnStructured extends StructuredMethod {
  /** The order of the norm. */
  readonly n: number | "fro" | "nuc";

  constructor(amount: number, n: number | "fro" | "nuc", dim?: number);
  constructor(options: { amount: number; n: number | "fro" | "nuc"; dim?: number });
  constructor(...given: unknown[]) {
    const { amount, n, dim } = readArguments(new.target.name, kNormed, given);
    super(amount, dim);
    this.n = n;
  }

  protected override kept(t: Tensor, axis: number, size: number, count: number): Tensor {
    const others = t.shape.flatMap((_, d) => (d === axis ? [] : [d]));
    const norms = norm(t, this.n, others);
    const [, places] = topk(norms, size - count);
    return indexFill(zerosLike(norms), 0, places, 1);
  }
}

const kMask = { mask: tensorRule };

/** Prunes the elements for which a mask has zeros. */
export class CustomFromMask extends BasePruningMethod {
  static override readonly PRUNING_TYPE: PruningType = "global";
  /** 0 for elements to prune. */
  readonly mask: Tensor;

  constructor(mask: Tensor);
  constructor(options: { mask: Tensor });
  constructor(...given: unknown[]) {
    super();
    this.mask = readArguments(new.target.name, kMask, given).mask;
  }

  override computeMask(_t: Tensor, defaultMask: Tensor): Tensor {
    const { mask } = this;
    if (String(mask.shape) !== String(defaultMask.shape)) {
      const message = `mask: expected the shape [${defaultMask.shape}] of the parameter, got [${mask.shape}].`;
      fail("ShapeMismatch", this.constructor.name, message);
    }
    return mul(defaultMask, toDtype(mask, defaultMask.dtype));
  }
}

// A whole number is a count, any other is a share. Halves are rounded to the even number, as in Python.
function countOf(where: string, amount: number, size: number): number {
  if (!Number.isInteger(amount)) {
    const exact = amount * size;
    const below = Math.floor(exact);
    return exact - below === 0.5 ? below + (below % 2) : Math.round(exact);
  }
  if (amount <= size) return amount;
  const message = `amount: expected at most ${size}, got ${amount}; a share is a number below 1.`;
  return fail("InvalidArgument", where, message);
}
