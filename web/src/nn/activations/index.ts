export type { InPlaceArguments, InPlaceOptions } from "./in_place.js";
export {
  GELU,
  type GELUOptions,
  GLU,
  type GLUOptions,
  Hardsigmoid,
  Hardswish,
  LogSigmoid,
  Mish,
  ReLU,
  ReLU6,
  SELU,
  Sigmoid,
  SiLU,
  Softsign,
  Tanh,
  Tanhshrink,
} from "./plain.js";
export { PReLU, type PReLUOptions } from "./prelu.js";
export { RReLU, type RReLUOptions } from "./rrelu.js";
export { LogSoftmax, Softmax, Softmax2d, type SoftmaxOptions, Softmin } from "./softmax.js";
export {
  CELU,
  ELU,
  type ELUArguments,
  type ELUOptions,
  Hardshrink,
  Hardtanh,
  type HardtanhOptions,
  LeakyReLU,
  type LeakyReLUOptions,
  type ShrinkOptions,
  Softplus,
  type SoftplusOptions,
  Softshrink,
  Threshold,
} from "./with_numbers.js";
