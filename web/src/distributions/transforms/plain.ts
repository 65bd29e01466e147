// Transforms of single numbers that have no parameters.

import type { Tensor } from "../../tensor/tensor.js";
import { limitsOf } from "../base/numbers.js";
import {
  type Constraint,
  interval,
  positive,
  real,
  unitInterval,
} from "../constraints/constraints.js";
import { Transform } from "./transform.js";

/** A rising transform of single numbers that has no parameters. */
abstract class PlainTransform extends Transform {
  override get domain(): Constraint {
    return real;
  }

  override get sign(): number {
    return 1;
  }

  override equals(other: Transform): boolean {
    return other.constructor === this.constructor;
  }
}

/** y = exp(x). */
export class ExpTransform extends PlainTransform {
  override get codomain(): Constraint {
    return positive;
  }

  protected override forward(x: Tensor): Tensor {
    return x.exp();
  }

  protected override invert(y: Tensor): Tensor {
    return y.log();
  }

  protected override logStretch(x: Tensor, _y: Tensor): Tensor {
    return x;
  }
}

/** y = 1 / (1 + exp(-x)), kept off 0 and 1. */
export class SigmoidTransform extends PlainTransform {
  override get codomain(): Constraint {
    return unitInterval;
  }

  protected override forward(x: Tensor): Tensor {
    return clippedSigmoid(x);
  }

  protected override invert(y: Tensor): Tensor {
    const inside = clipped(y);
    return inside.log().sub(inside.neg().log1p());
  }

  protected override logStretch(x: Tensor, _y: Tensor): Tensor {
    return x.neg().softplus().neg().sub(x.softplus());
  }
}

/** y = log(1 + exp(x)). */
export class SoftplusTransform extends PlainTransform {
  override get codomain(): Constraint {
    return positive;
  }

  protected override forward(x: Tensor): Tensor {
    return x.softplus();
  }

  protected override invert(y: Tensor): Tensor {
    return y.neg().expm1().neg().log().add(y);
  }

  protected override logStretch(x: Tensor, _y: Tensor): Tensor {
    return x.neg().softplus().neg();
  }
}

/** y = tanh(x). */
export class TanhTransform extends PlainTransform {
  override get codomain(): Constraint {
    return interval(-1, 1);
  }

  protected override forward(x: Tensor): Tensor {
    return x.tanh();
  }

  protected override invert(y: Tensor): Tensor {
    return y.atanh();
  }

  protected override logStretch(x: Tensor, _y: Tensor): Tensor {
    // 1 - tanh² without the difference of two numbers that are nearly the same.
    return x.neg().add(Math.log(2)).sub(x.mul(-2).softplus()).mul(2);
  }
}

/** y = |x|; its inverse gives the positive x. */
export class AbsTransform extends Transform {
  override get domain(): Constraint {
    return real;
  }

  override get codomain(): Constraint {
    return positive;
  }

  override get bijective(): boolean {
    return false;
  }

  protected override forward(x: Tensor): Tensor {
    return x.abs();
  }

  protected override invert(y: Tensor): Tensor {
    return y;
  }

  override equals(other: Transform): boolean {
    return other instanceof AbsTransform;
  }
}

function clipped(probability: Tensor): Tensor {
  const { tiny, eps } = limitsOf(probability.dtype);
  return probability.clamp(tiny, 1 - eps);
}

/** Returns the sigmoid, kept off 0 and 1 by the precision of the dtype. */
export function clippedSigmoid(x: Tensor): Tensor {
  return clipped(x.sigmoid());
}
