// Quantization. Where a gradient is needed, integers are carried as floats, and rounding passes the gradient through unchanged (the
// straight-through estimator), as in quantization-aware training.

import * as eg from "edgegrad";
import type { TypeName } from "../proto/types.js";
import { dtypeOf, isInteger, markAs, rangeOf } from "../values/types.js";
import { elementType, tensor, tensorOrNull, type Value } from "../values/value.js";
import { axisOf } from "./axes.js";
import { convolution } from "./convolutions.js";
import { typeAttribute } from "./creation.js";
import { ignored, int, type Ops, op, type ValuesOf } from "./op.js";
import { roundedToSmall } from "./small_casts.js";
import { kWindow } from "./windows.js";

/** Rounds x; the gradient passes through unchanged. */
function wholeOf(x: eg.Tensor): eg.Tensor {
  if (!x.requiresGrad) return eg.round(x);
  return x.add(eg.round(x.detach()).sub(x.detach()));
}

/** Returns integers in the dtype of a type, or still as floats where a gradient is needed. */
function carry(x: eg.Tensor, type: TypeName): eg.Tensor {
  return markAs(x.requiresGrad ? x : x.to(dtypeOf(type) as eg.DType), type);
}

// Reshapes a scale or zero point so that it broadcasts: per tensor, per position of an axis, or per block of an axis.
function align(value: eg.Tensor, x: eg.Tensor, axis: number, block: number): eg.Tensor {
  if (block > 0) {
    const dim = axisOf(axis, x.ndim);
    return eg.narrow(eg.repeatInterleave(value, block, dim), dim, 0, x.shape[dim] as number);
  }
  if (value.numel === 1) return value.reshape([]);
  const dim = axisOf(axis, x.ndim);
  return value.reshape(x.shape.map((_, i) => (i === dim ? value.numel : 1)));
}

/** Quantizes x to a type, by a scale and a zero point. */
export function quantize(
  x: eg.Tensor,
  scale: eg.Tensor,
  zero: eg.Tensor | null,
  type: TypeName,
): eg.Tensor {
  const scaled = x.div(scale);
  if (!isInteger(type)) return markAs(roundedToSmall(scaled, type, true).to("float16"), type);
  const [low, high] = rangeOf(type);
  const whole = wholeOf(scaled);
  return carry(eg.clamp(zero === null ? whole : whole.add(zero.to(x.dtype)), low, high), type);
}

/** Dequantizes x. */
export function dequantize(x: eg.Tensor, scale: eg.Tensor, zero: eg.Tensor | null): eg.Tensor {
  const isWide = x.dtype === "int32" && scale.dtype === "float32";
  // The difference of integers is exact before it becomes a float.
  if (zero !== null && isWide && !zero.isFloatingPoint())
    return x.sub(zero.to("int32")).to(scale.dtype).mul(scale);
  const values = x.to(scale.dtype);
  return (zero === null ? values : values.sub(zero.to(scale.dtype))).mul(scale);
}

const kAxis = {
  axis: int(1),
  block_size: int(0),
  output_dtype: int(0),
  saturate: ignored,
  precision: ignored,
};

function quantizeLinear(
  [input, scale, zero]: readonly Value[],
  given: ValuesOf<typeof kAxis>,
): eg.Tensor {
  const x = floats(tensor(input));
  const type =
    zero === undefined
      ? typeAttribute(given.output_dtype || undefined, "uint8")
      : elementType(zero);
  const fit = (one: eg.Tensor) => align(one, x, given.axis, given.block_size);
  const offset = tensorOrNull(zero);
  return quantize(x, fit(tensor(scale)).to(x.dtype), offset && fit(offset), type);
}

const floats = (x: eg.Tensor) => (x.isFloatingPoint() ? x : x.to("float32"));

function dequantizeLinear(
  [input, scale, zero]: readonly Value[],
  given: ValuesOf<typeof kAxis>,
): eg.Tensor {
  const x = tensor(input);
  const fit = (one: eg.Tensor) => align(one, x, given.axis, given.block_size);
  const offset = tensorOrNull(zero);
  return dequantize(x, fit(tensor(scale)), offset && fit(offset));
}

/** Quantizes x to uint8; returns it with the scale and zero point that follow from the range of x. */
export function dynamicQuantize(x: eg.Tensor): [eg.Tensor, eg.Tensor, eg.Tensor] {
  const fixed = x.detach();
  const high = eg.clamp(eg.amax(fixed), 0, null);
  const low = eg.clamp(eg.amin(fixed), null, 0);
  const width = high.sub(low);
  const scale = eg.where(width.eq(0), 1, width.div(255));
  const zero = eg.clamp(eg.round(low.neg().div(scale)), 0, 255);
  return [quantize(x, scale, zero, "uint8"), scale, zero.to("uint8")];
}

// In float64, products of 8-bit integers are exact.
const exact = (value: Value, zero: eg.Tensor | null) => {
  const x = tensor(value).to("float64");
  return zero === null ? x : x.sub(zero.to("float64"));
};

const column = (zero: eg.Tensor | null) =>
  zero !== null && zero.ndim === 1 && zero.numel > 1 ? zero.reshape([-1, 1]) : zero;
const perChannel = (zero: eg.Tensor | null) =>
  zero !== null && zero.numel > 1 ? zero.reshape([-1, 1, 1, 1]) : zero;

/** Returns the int32 product of 8-bit matrices, less their zero points. */
export function productOf(a: Value, b: Value, aZero: Value, bZero: Value): eg.Tensor {
  const left = exact(a, column(tensorOrNull(aZero)));
  return carry(eg.matmul(left, exact(b, tensorOrNull(bZero))), "int32");
}

const kConv = { ...kWindow, group: int(1) };

const qlinearConv = op({
  since: 10,
  attributes: kConv,
  ownTypes: true,
  run: ([x, xScale, xZero, w, wScale, wZero, yScale, yZero, bias], given) => {
    const weight = exact(w, perChannel(tensorOrNull(wZero)));
    const added = tensorOrNull(bias)?.to("float64") ?? null;
    const sums = convolution(exact(x, tensorOrNull(xZero)), weight, added, given);
    const scale = tensor(wScale).to("float64");
    const channels =
      scale.numel > 1
        ? scale.reshape([-1, ...(given.kernel_shape?.map(() => 1) ?? [1, 1])])
        : scale.reshape([]);
    const factor = channels.mul(tensor(xScale).to("float64")).div(tensor(yScale).to("float64"));
    return quantize(
      sums.mul(factor),
      eg.ones([], { dtype: "float64" }),
      tensorOrNull(yZero),
      elementType(yZero),
    );
  },
});

const qlinearMatMul = op({
  since: 10,
  ownTypes: true,
  run: ([a, aScale, aZero, b, bScale, bZero, yScale, yZero]) => {
    const product = eg.matmul(exact(a, column(tensorOrNull(aZero))), exact(b, tensorOrNull(bZero)));
    const rows = column(tensor(aScale)) as eg.Tensor;
    const factor = rows
      .to("float64")
      .mul(tensor(bScale).to("float64"))
      .div(tensor(yScale).to("float64"));
    return quantize(
      product.mul(factor),
      eg.ones([], { dtype: "float64" }),
      tensorOrNull(yZero),
      elementType(yZero),
    );
  },
});

export const kQuantization: Ops = {
  QuantizeLinear: op({ since: 10, attributes: kAxis, ownTypes: true, run: quantizeLinear }),
  DequantizeLinear: op({ since: 10, attributes: kAxis, ownTypes: true, run: dequantizeLinear }),
  DynamicQuantizeLinear: op({
    since: 11,
    ownTypes: true,
    run: ([x]) => dynamicQuantize(tensor(x)),
  }),
  MatMulInteger: op({
    since: 10,
    ownTypes: true,
    run: ([a, b, aZero, bZero]) => productOf(a, b, aZero, bZero),
  }),
  ConvInteger: op({
    since: 10,
    attributes: kConv,
    ownTypes: true,
    run: ([x, w, xZero, wZero], given) => {
      const weight = exact(w, perChannel(tensorOrNull(wZero)));
      return carry(convolution(exact(x, tensorOrNull(xZero)), weight, null, given), "int32");
    },
  }),
  QLinearConv: qlinearConv,
  QLinearMatMul: qlinearMatMul,
};
