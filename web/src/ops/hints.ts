// Errors for common mistakes that JavaScript reports badly or not at all: numbers in brackets read undefined and write a new
// property, Python names become new properties, and some of PyTorch's methods are functions here. Properties of the prototype
// throw helpful errors for these; correct programs never reach them.

import { fail } from "../runtime/errors/errors.js";
import type { Hint } from "../runtime/host/primitive.js";

// Methods of PyTorch's tensors that are only functions here, since methods would be in every bundle.
const kFunctions =
  "absolute adjoint arccos arccosh arcsin arcsinh arctan arctan2 arctanh argwhere bincount choleskyInverse choleskySolve " +
  "clip corrcoef cov deg2rad diagEmbed diagflat diagonalScatter dist divide dsplit fix fliplr flipud floatPower frexp " +
  "greater greaterEqual histc histogram hsplit igamma igammac inner isin isneginf isposinf isreal istft ldexp less " +
  "lessEqual logdet matrixExp matrixPower moveaxis multiply mvlgamma nanquantile narrowCopy negative notEqual quantile " +
  "rad2deg selectScatter sliceScatter stft subtract sumToSize swapdims tensorSplit trueDivide unique uniqueConsecutive " +
  "vdot vsplit";

const kMethods: Readonly<Record<string, string>> = {
  numpy: "dataSync() or x.arraySync()",
  cuda: 'to("webgpu")',
  type: 'dtype, or x.to("float64") for another one',
};

const kProperties: Readonly<Record<string, string>> = {
  requires_grad: "requiresGrad",
  grad_fn: "gradFn",
  is_leaf: "isLeaf",
  length:
    "shape[0] for the number of rows, or x.numel for that of elements. Libraries that copy or compare any object, such as " +
    "lodash, cannot do so with tensors: use x.clone(), x.equal(y) or module.clone()",
};

// The first indices, with which loops start, and the last ones, which are negative in Python.
const kNumbers = [-3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7];

/** Adds to the prototype of tensors properties that throw an explanation when they are used by mistake. */
export function attachHints(prototype: { size: object; dim: object }): void {
  for (const name of kFunctions.split(" ")) {
    method(prototype, name, `this is a function, not a method: write eg.${name}(x)`);
  }
  for (const [name, ours] of Object.entries(kMethods)) {
    method(prototype, name, `tensors have no such method: write x.${ours}`);
  }
  for (const [name, ours] of Object.entries(kProperties)) {
    property(prototype, name, `tensors have no such property: write x.${ours}`);
  }
  for (const i of kNumbers) {
    property(prototype, i, `brackets do not index: write x.at(${i}), and x.set_([${i}], value)`);
    property(prototype.size, i, `size is a method: write x.size(${i}) or x.shape.at(${i})`);
  }
  notANumber(prototype.size, "size", "x.size() and x.size(dim), or use x.shape and x.numel");
  notANumber(prototype.dim, "dim", "x.dim(), or use x.ndim");
}

function method(target: object, name: string, message: string): void {
  const value = () => fail("InvalidArgument", name, `${message}.`);
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
}

function property(target: object, name: string | number, message: string): void {
  const throws = () => fail("InvalidArgument", "Tensor", `${message}.`);
  Object.defineProperty(target, name, { get: throws, set: throws, configurable: true });
}

// Without this, `x.dim > 2` would compare the source text of a function.
function notANumber(target: object, name: string, right: string): void {
  const value = (hint: Hint) => {
    if (hint === "string") return name;
    return fail("InvalidArgument", name, `this is a method: call ${right}.`);
  };
  Object.defineProperty(target, Symbol.toPrimitive, { value, configurable: true });
}
