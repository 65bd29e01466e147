// Transforms of shapes, and of the number of dimensions of one value.

import { listOf, size } from "../../arguments/rule.js";
import { zeros } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { hasShape } from "../../tensor/shape.js";
import type { Tensor } from "../../tensor/tensor.js";
import { sumRightmost } from "../base/numbers.js";
import type { Constraint } from "../constraints/constraint.js";
import { independent, real } from "../constraints/constraints.js";
import { withCaches } from "./compose.js";
import { type Transform, type TransformArguments, transform, transformation } from "./transform.js";

type Shape = readonly number[];

/** Reshapes each value; the elements stay in the same order. */
export class ReshapeTransform extends transformation({
  given: {} as [
    inShape: readonly number[],
    outShape: readonly number[],
    ...rest: TransformArguments,
  ],
  arguments: { inShape: listOf(size), outShape: listOf(size) },
  fields({ inShape, outShape }, where) {
    const count = (shape: Shape) => shape.reduce((product, size) => product * size, 1);
    if (count(inShape) === count(outShape)) return { inShape, outShape };
    const message = `expected inShape and outShape with equally many elements, got [${inShape}] and [${outShape}].`;
    return fail("ShapeMismatch", where, message);
  },
  domain: ({ inShape }) => independent(real, inShape.length),
  codomain: ({ outShape }) => independent(real, outShape.length),
  forward: (x, self) => x.reshape(self.forwardShape(x.shape)),
  inverse: (y, self) => y.reshape(self.inverseShape(y.shape)),
  logStretch({ dtype, device, shape }, _y, { inShape }) {
    return zeros(shape.slice(0, shape.length - inShape.length), { dtype, device });
  },
  forwardShape: (shape, self) => replaced(self, shape, self.inShape, self.outShape),
  inverseShape: (shape, self) => replaced(self, shape, self.outShape, self.inShape),
  equals: (other, { inShape, outShape }) =>
    hasShape(inShape, other.inShape) && hasShape(outShape, other.outShape),
}) {}

function replaced(self: Transform, shape: Shape, from: Shape, to: Shape): Shape {
  const cut = shape.length - from.length;
  if (cut >= 0 && hasShape(shape.slice(cut), from)) return [...shape.slice(0, cut), ...to];
  const message = `expected shape [..., ${from}], got [${shape}].`;
  return fail("ShapeMismatch", self.constructor.name, message);
}

/** Another transform with its last dimensions reinterpreted as dimensions of one value. */
export class IndependentTransform extends transformation({
  given: {} as [
    baseTransform: Transform,
    reinterpretedBatchNdims: number,
    ...rest: TransformArguments,
  ],
  arguments: { baseTransform: transform, reinterpretedBatchNdims: size },
  fields({ baseTransform, reinterpretedBatchNdims, cacheSize }) {
    return { baseTransform: withCaches([baseTransform], cacheSize)[0], reinterpretedBatchNdims };
  },
  tensors: ({ baseTransform }) => baseTransform.tensors,
  domain: (self) => independent(self.baseTransform.domain, self.reinterpretedBatchNdims),
  codomain: (self) => independent(self.baseTransform.codomain, self.reinterpretedBatchNdims),
  bijective: ({ baseTransform }) => baseTransform.bijective,
  sign: ({ baseTransform }) => baseTransform.sign,
  forward: (x, self) => self.baseTransform.call(withDims(self, x, self.domain)),
  inverse: (y, self) => self.baseTransform.inverse(withDims(self, y, self.codomain)),
  logStretch: (x, y, { baseTransform, reinterpretedBatchNdims }) =>
    sumRightmost(baseTransform.logAbsDetJacobian(x, y), reinterpretedBatchNdims),
  forwardShape: (shape, { baseTransform }) => baseTransform.forwardShape(shape),
  inverseShape: (shape, { baseTransform }) => baseTransform.inverseShape(shape),
  equals: (other, self) =>
    self.reinterpretedBatchNdims === other.reinterpretedBatchNdims &&
    self.baseTransform.equals(other.baseTransform),
  text: (self) => `${self.baseTransform}, ${self.reinterpretedBatchNdims}`,
}) {}

// Returns the value; throws ShapeMismatch if it has fewer dimensions than one value of the constraint.
function withDims(self: Transform, value: Tensor, { eventDim }: Constraint): Tensor {
  if (value.ndim >= eventDim) return value;
  const message = `expected at least ${eventDim} dimensions, got ${value.ndim}.`;
  return fail("ShapeMismatch", self.constructor.name, message);
}
