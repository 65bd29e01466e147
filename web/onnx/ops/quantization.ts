// Quantization. Where a gradient is needed, integers are carried as floats, and rounding passes the gradient through unchanged (the
// straight-through estimator), as in quantization-aware training.

import * as eg from "edgegrad";
import type { TypeName } from "../proto/types.js";
import { chained } from "../values/chained.js";
import { dtypeOf, isInteger, markAs, rangeOf } from "../values/types.js";
import { elementType, tensor, tensorOrNull, type Value } from "../values/value.js";
import { axisOf, range } from "./axes.js";
import { convolution } from "./convolutions.js";
import { typeAttribute } from "./creation.js";
import { ignored, int, type Ops, op, type ValuesOf } from "./op.js";
import { roundedToSmall } from "./small_casts.js";
import { kWindow, windowsOn } from "./windows.js";

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
  if (!isInteger(type)) {
    return chained(
      x,
      (y) => y.div(scale),
      (y) => roundedToSmall(y, type, true),
      (y) => markAs(y.to("float16"), type),
    );
  }
  const [low, high] = rangeOf(type);
  return chained(
    x,
    (y) => y.div(scale),
    wholeOf,
    (y) => (zero === null ? y : y.add(zero.to(x.dtype))),
    (y) => eg.clamp(y, low, high),
    (y) => carry(y, type),
  );
}

/** Dequantizes x. */
export function dequantize(x: eg.Tensor, scale: eg.Tensor, zero: eg.Tensor | null): eg.Tensor {
  const isWide = x.dtype === "int32" && scale.dtype === "float32";
  // The difference of integers is exact before it becomes a float.
  if (zero !== null && isWide && !zero.isFloatingPoint()) {
    return chained(
      x.sub(zero.to("int32")),
      (y) => y.to(scale.dtype),
      (y) => y.mul(scale),
    );
  }
  return chained(
    x,
    (y) => y.to(scale.dtype),
    (y) => (zero === null ? y : y.sub(zero.to(scale.dtype))),
    (y) => y.mul(scale),
  );
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
  const fit = (operand: eg.Tensor) => align(operand, x, given.axis, given.block_size);
  const offset = tensorOrNull(zero);
  return quantize(x, fit(tensor(scale)).to(x.dtype), offset && fit(offset), type);
}

const floats = (x: eg.Tensor) => (x.isFloatingPoint() ? x : x.to("float32"));

function dequantizeLinear(
  [input, scale, zero]: readonly Value[],
  given: ValuesOf<typeof kAxis>,
): eg.Tensor {
  const x = tensor(input);
  const fit = (operand: eg.Tensor) => align(operand, x, given.axis, given.block_size);
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

// Sums of so many products of 8-bit integers are exact in float32, and of any number in float64.
const kExactProducts = Math.floor(2 ** 24 / 255 ** 2);

const dtypeFor = (products: number) => (products <= kExactProducts ? "float32" : "float64");

// Integers less their zero point, as floats.
const exact = (x: eg.Tensor, zero: eg.Tensor | null, dtype: eg.DType) =>
  chained(
    x,
    (y) => y.to(dtype),
    (y) => (zero === null ? y : y.sub(zero.to(dtype))),
  );

const column = (zero: eg.Tensor | null) =>
  zero !== null && zero.ndim === 1 && zero.numel > 1 ? zero.reshape([-1, 1]) : zero;
const perChannel = (zero: eg.Tensor | null) =>
  zero !== null && zero.numel > 1 ? zero.reshape([-1, 1, 1, 1]) : zero;

/** The bytes of floats that a part of a product or convolution may take: they are many times as large as the integers. */
const kPartBytes = 2 ** 19;
/** The least rows or columns of a part of a product, so that it is fast. */
const kLeastRows = 64;

// The ranges [start, count] that cover `size` by parts of `most`.
function partsOf(size: number, most: number): [number, number][] {
  const count = Math.max(1, Math.ceil(size / Math.max(most, 1)));
  return range(count).map((i) => [i * most, Math.min(most, size - i * most)]);
}

type Range = readonly [start: number, count: number];

// The part of a tensor along a dimension, if it does not broadcast along it.
const partOf = (x: eg.Tensor, dim: number, [start, count]: Range) =>
  x.ndim < -dim || x.shape.at(dim) === 1 ? x : eg.narrow(x, dim, start, count);

type Finish = (sums: eg.Tensor, rows: Range, columns: Range) => eg.Tensor;

const joined = (parts: readonly eg.Tensor[], dim: number) =>
  parts.length === 1 ? (parts[0] as eg.Tensor) : eg.cat([...parts], dim);

// The products of matrices of integers less their zero points, a few rows and columns at a time.
function productInParts(
  a: eg.Tensor,
  b: eg.Tensor,
  aZero: eg.Tensor | null,
  bZero: eg.Tensor | null,
  finish: Finish,
): eg.Tensor {
  const dtype = dtypeFor(b.shape.at(-2) ?? a.numel);
  const whole = a.requiresGrad || b.requiresGrad || a.ndim < 2 || b.ndim !== 2;
  const [height, width] = [a.shape.at(-2) ?? 1, b.shape.at(-1) ?? 1];
  const fitting = (x: eg.Tensor, size: number) =>
    whole ? size : Math.max(kLeastRows, Math.floor((kPartBytes * size) / (8 * x.numel)));
  const part = (x: eg.Tensor, dim: number, own: Range) => (whole ? x : partOf(x, dim, own));
  const rows = partsOf(height, fitting(a, height)).map((row) =>
    eg.scope(() => {
      const left = exact(part(a, -2, row), aZero && part(aZero, -2, row), dtype);
      const columns = partsOf(width, fitting(b, width)).map((own) =>
        eg.scope(() => {
          const right = exact(part(b, -1, own), bZero && part(bZero, -1, own), dtype);
          return finish(eg.matmul(left, right), row, own);
        }),
      );
      return joined(columns, -1);
    }),
  );
  return joined(rows, -2);
}

/** Returns the int32 product of 8-bit matrices, less their zero points. */
export function productOf(a: Value, b: Value, aZero: Value, bZero: Value): eg.Tensor {
  const [left, right] = [tensor(a), tensor(b)];
  const zeros = [column(tensorOrNull(aZero)), tensorOrNull(bZero)] as const;
  return productInParts(left, right, ...zeros, (sums) => carry(sums, "int32"));
}

const kConv = { ...kWindow, group: int(1) };

// The convolution of integers less their zero points, a few positions of the first spatial axis at a time.
function convolutionInParts(
  x: eg.Tensor,
  zero: eg.Tensor | null,
  weight: eg.Tensor,
  bias: eg.Tensor | null,
  given: ValuesOf<typeof kConv>,
  finish: (sums: eg.Tensor) => eg.Tensor,
): eg.Tensor {
  const { dtype } = weight;
  const spatial = x.shape.slice(2);
  const { before, after, kernel, strides, dilations } = windowsOn(
    spatial,
    weight.shape.slice(2),
    given,
  );
  const [size = 1] = spatial;
  const [stride = 1] = strides;
  const [pad = 0] = before;
  const reach = ((kernel[0] ?? 1) - 1) * (dilations[0] ?? 1) + 1;
  const height = Math.floor((size + pad + (after[0] ?? 0) - reach) / stride) + 1;
  // The floats of a row of the input and of the result, which passes through several ops, and the integers of all rows.
  const width = x.numel / size;
  const outWidth = (width * (weight.shape[0] as number)) / (x.shape[1] as number);
  const bytes = 8 * (stride * width + 3 * outWidth);
  const most = Math.max(kPartBytes, size * width + height * outWidth);
  const isWhole = x.requiresGrad || weight.requiresGrad || pad >= reach || (after[0] ?? 0) >= reach;
  const parts = partsOf(height, isWhole ? height : Math.max(1, Math.floor(most / bytes)));
  if (parts.length === 1) return finish(convolution(exact(x, zero, dtype), weight, bias, given));
  const results = parts.map(([first, count]) =>
    eg.scope(() => {
      const start = first * stride - pad;
      const end = (first + count - 1) * stride - pad + reach;
      const [low, high] = [Math.max(start, 0), Math.min(end, size)];
      const rows = exact(eg.narrow(x, 2, low, high - low), zero, dtype);
      const pads = [low - start, ...before.slice(1), end - high, ...after.slice(1)];
      return finish(convolution(rows, weight, bias, { ...given, auto_pad: "NOTSET", pads }));
    }),
  );
  return eg.cat(results, 2);
}

// The number of products that a result of a convolution is a sum of.
const productsIn = (weight: eg.Tensor) => weight.numel / (weight.shape[0] as number);

const one = (dtype: eg.DType, device: eg.Device) => eg.ones([], { dtype, device });

const qlinearConv = op({
  since: 10,
  attributes: kConv,
  ownTypes: true,
  run: ([input, xScale, xZero, w, wScale, wZero, yScale, yZero, bias], given) => {
    const [x, kernel] = [tensor(input), tensor(w)];
    // A bias is an int32 besides.
    const dtype = bias === undefined ? dtypeFor(productsIn(kernel)) : "float64";
    const weight = exact(kernel, perChannel(tensorOrNull(wZero)), dtype);
    const added = tensorOrNull(bias)?.to(dtype) ?? null;
    const scale = tensor(wScale).to("float64");
    const channels =
      scale.numel > 1
        ? scale.reshape([-1, ...(given.kernel_shape?.map(() => 1) ?? [1, 1])])
        : scale.reshape([]);
    const factor = channels.mul(tensor(xScale).to("float64")).div(tensor(yScale).to("float64"));
    const [type, offset] = [elementType(yZero), tensorOrNull(yZero)];
    const result = convolutionInParts(x, tensorOrNull(xZero), weight, added, given, (sums) =>
      quantize(
        chained(
          sums,
          (all) => all.to("float64"),
          (all) => all.mul(factor),
        ),
        one("float64", x.device),
        offset,
        type,
      ),
    );
    return markAs(result, type);
  },
});

const qlinearMatMul = op({
  since: 10,
  ownTypes: true,
  run: ([a, aScale, aZero, b, bScale, bZero, yScale, yZero]) => {
    const rowScale = (column(tensor(aScale)) as eg.Tensor).to("float64");
    const columnScale = tensor(bScale).to("float64").div(tensor(yScale).to("float64"));
    const [type, offset] = [elementType(yZero), tensorOrNull(yZero)];
    const zeros = [column(tensorOrNull(aZero)), tensorOrNull(bZero)] as const;
    const [left, right] = [tensor(a), tensor(b)];
    const result = productInParts(left, right, ...zeros, (sums, rows, columns) =>
      quantize(
        chained(
          sums,
          (all) => all.to("float64"),
          (all) => all.mul(partOf(rowScale, -2, rows)),
          (all) => all.mul(partOf(columnScale, -1, columns)),
        ),
        one("float64", left.device),
        offset,
        type,
      ),
    );
    return markAs(result, type);
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
    run: ([input, w, xZero, wZero], given) => {
      const [x, kernel] = [tensor(input), tensor(w)];
      const dtype = dtypeFor(productsIn(kernel));
      const weight = exact(kernel, perChannel(tensorOrNull(wZero)), dtype);
      return convolutionInParts(x, tensorOrNull(xZero), weight, null, given, (sums) =>
        carry(sums, "int32"),
      );
    },
  }),
  QLinearConv: qlinearConv,
  QLinearMatMul: qlinearMatMul,
};
