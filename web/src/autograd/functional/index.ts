// eg.autograd.functional: derivatives of functions, as in torch.autograd.functional.

export type {
  Differentiable,
  FunctionalOptions,
  HessianOptions,
  JacobianOptions,
  PerTensor,
  Tensors,
} from "./arguments.js";
export { hessian, type JacobianOf, jacobian } from "./jacobian.js";
export { hvp, jvp, vhp, vjp } from "./products.js";
