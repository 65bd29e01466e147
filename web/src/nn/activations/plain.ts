// Activations without numbers of their own.

import { readArguments } from "../../arguments/read.js";
import { integer, type Options, oneOf } from "../../arguments/rule.js";
import {
  gelu,
  glu,
  hardsigmoid,
  hardsigmoid_,
  hardswish,
  hardswish_,
  logsigmoid,
  mish,
  mish_,
  relu,
  relu_,
  relu6,
  relu6_,
  selu,
  selu_,
  sigmoid,
  silu,
  silu_,
  softsign,
  tanh,
  tanhshrink,
} from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import { PlainActivation } from "./in_place.js";

/** max(x, 0). */
export class ReLU extends PlainActivation {
  protected override compute(input: Tensor): Tensor {
    return relu(input);
  }

  protected override compute_(input: Tensor): Tensor {
    return relu_(input);
  }
}

/** min(max(x, 0), 6). */
export class ReLU6 extends PlainActivation {
  protected override compute(input: Tensor): Tensor {
    return relu6(input);
  }

  protected override compute_(input: Tensor): Tensor {
    return relu6_(input);
  }
}

/** The exponential linear unit whose numbers keep mean 0 and variance 1. */
export class SELU extends PlainActivation {
  protected override compute(input: Tensor): Tensor {
    return selu(input);
  }

  protected override compute_(input: Tensor): Tensor {
    return selu_(input);
  }
}

/** x times sigmoid(x). */
export class SiLU extends PlainActivation {
  protected override compute(input: Tensor): Tensor {
    return silu(input);
  }

  protected override compute_(input: Tensor): Tensor {
    return silu_(input);
  }
}

/** x times tanh(softplus(x)). */
export class Mish extends PlainActivation {
  protected override compute(input: Tensor): Tensor {
    return mish(input);
  }

  protected override compute_(input: Tensor): Tensor {
    return mish_(input);
  }
}

/** x times relu6(x + 3) / 6. */
export class Hardswish extends PlainActivation {
  protected override compute(input: Tensor): Tensor {
    return hardswish(input);
  }

  protected override compute_(input: Tensor): Tensor {
    return hardswish_(input);
  }

  /** Its arguments, for its text. */
  override extraRepr(): string {
    return "";
  }
}

/** relu6(x + 3) / 6. */
export class Hardsigmoid extends PlainActivation {
  protected override compute(input: Tensor): Tensor {
    return hardsigmoid(input);
  }

  protected override compute_(input: Tensor): Tensor {
    return hardsigmoid_(input);
  }

  /** Its arguments, for its text. */
  override extraRepr(): string {
    return "";
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

/** The logarithm of sigmoid(x). */
export class LogSigmoid extends Module {
  override forward(input: Tensor): Tensor {
    return logsigmoid(input);
  }
}

/** x / (1 + |x|). */
export class Softsign extends Module {
  override forward(input: Tensor): Tensor {
    return softsign(input);
  }
}

/** x - tanh(x). */
export class Tanhshrink extends Module {
  override forward(input: Tensor): Tensor {
    return tanhshrink(input);
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

  /** Its arguments, for its text. */
  override extraRepr(): string {
    return formatArguments([], { approximate: `'${this.approximate}'` });
  }
}

const kGLUArguments = {
  /** The dimension that is halved; default -1. */
  dim: integer.or(-1),
};

/** Options of `GLU`. */
export type GLUOptions = Options<typeof kGLUArguments>;

/** The first half of a dimension times sigmoid of the second half. */
export class GLU extends Module {
  readonly dim: number;

  constructor(...given: [dim?: number | GLUOptions]) {
    super();
    this.dim = readArguments(new.target.name, kGLUArguments, given).dim;
  }

  override forward(input: Tensor): Tensor {
    return glu(input, this.dim);
  }

  /** Its arguments, for its text. */
  override extraRepr(): string {
    return formatArguments([], { dim: this.dim });
  }
}
