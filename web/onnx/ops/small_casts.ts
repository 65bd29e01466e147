// Rounding to 8-bit and 4-bit floats.

import * as eg from "edgegrad";
import { unknownMode } from "../errors.js";
import type { TypeName } from "../proto/types.js";
import { chained } from "../values/chained.js";

/** For each type: the bits of its fraction, the exponent of its smallest normal number, and its largest number. */
const kFormats: Readonly<
  Partial<Record<TypeName, readonly [fraction: number, smallest: number, most: number]>>
> = {
  float8e4m3fn: [3, -6, 448],
  float8e4m3fnuz: [3, -7, 240],
  float8e5m2: [2, -14, 57344],
  float8e5m2fnuz: [2, -15, 57344],
  float4e2m1: [1, 0, 6],
};

/** The elements that are rounded at a time, because rounding takes many times their memory. */
const kPart = 2 ** 14;

/** Rounds to the nearest numbers of a type; numbers beyond its range are clamped with `saturate`, otherwise NaN or infinity. */
export function roundedToSmall(x: eg.Tensor, type: TypeName, saturate: boolean): eg.Tensor {
  const format = kFormats[type];
  if (format === undefined) return x;
  if (x.numel > kPart && !x.requiresGrad) {
    const flat = x.reshape([-1]);
    const parts = Array.from({ length: Math.ceil(x.numel / kPart) }, (_, i) => {
      const part = eg.narrow(flat, 0, i * kPart, Math.min(kPart, x.numel - i * kPart));
      return eg.scope(() => roundedToSmall(part, type, saturate).to("float16"));
    });
    return eg.cat(parts, 0).reshape(x.shape);
  }
  const [fraction, smallest, most] = format;
  const precise = x.to("float32");
  const near = eg.scope(() => {
    const step = chained(
      eg.scope(() => eg.frexp(precise.detach())[1]),
      (y) => y.to("float32"),
      (y) => y.sub(1),
      (y) => eg.clamp(y, smallest, null),
      (y) => y.sub(fraction),
      eg.exp2,
    );
    return chained(
      precise,
      (y) => y.div(step),
      eg.round,
      (y) => y.mul(step),
    );
  });
  if (saturate) return eg.clamp(near, -most, most);
  const beyond =
    type === "float8e5m2" ? eg.sign(precise).mul(Number.POSITIVE_INFINITY) : Number.NaN;
  return eg.where(near.abs().gt(most), beyond, near);
}

/** By round_mode: the fraction of the next power of two from which a number is rounded up to it. */
const kLargerFrom = new Map([
  ["up", 0.5 + 2 ** -24],
  ["down", 1],
  ["nearest", 0.75],
]);

/** Rounds to powers of two from 2^-127 to 2^127; larger numbers become the largest with `saturate`, otherwise NaN. */
export function roundedToPower(x: eg.Tensor, mode: string, saturate: boolean): eg.Tensor {
  const from = kLargerFrom.get(mode) ?? unknownMode("round_mode", mode);
  const size = x.detach().to("float32").abs();
  const [fraction, exponent] = eg.frexp(size);
  const power = exponent.sub(1).add(fraction.ge(from).to("int32"));
  const most = 2 ** 127;
  // The product is zero, or NaN where the number is.
  const near = eg.clamp(eg.exp2(power.to("float32").add(size.mul(0))), 2 ** -127, most);
  const whole = eg.where(size.gt(most), saturate ? most : Number.NaN, near);
  return eg.where(size.eq(0), 2 ** -127, whole);
}
