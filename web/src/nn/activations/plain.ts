// Activations without numbers.

import {
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
import { plainLayer } from "../layer.js";
import { plainActivation } from "./in_place.js";

/** max(x, 0). */
export class ReLU extends plainActivation(relu, relu_) {}

/** min(max(x, 0), 6). */
export class ReLU6 extends plainActivation(relu6, relu6_) {}

/** The scaled exponential linear unit, whose two constants keep the mean of activations near 0 and their variance near 1. */
export class SELU extends plainActivation(selu, selu_) {}

/** x times sigmoid(x). */
export class SiLU extends plainActivation(silu, silu_) {}

/** x times tanh(softplus(x)). */
export class Mish extends plainActivation(mish, mish_) {}

/** x times relu6(x + 3) / 6. */
export class Hardswish extends plainActivation(hardswish, hardswish_) {
  override extraRepr(): string {
    return "";
  }
}

/** relu6(x + 3) / 6. */
export class Hardsigmoid extends plainActivation(hardsigmoid, hardsigmoid_) {
  override extraRepr(): string {
    return "";
  }
}

/** The hyperbolic tangent. */
export class Tanh extends plainLayer(tanh) {}

/** 1 / (1 + exp(-x)). */
export class Sigmoid extends plainLayer(sigmoid) {}

/** The logarithm of sigmoid(x). */
export class LogSigmoid extends plainLayer(logsigmoid) {}

/** x / (1 + |x|). */
export class Softsign extends plainLayer(softsign) {}

/** x - tanh(x). */
export class Tanhshrink extends plainLayer(tanhshrink) {}
