// Rounding to the floats of 8 and 4 bits.

import * as eg from "edgegrad";
import type { TypeName } from "../proto/types.js";

/** Of each type the bits of its fraction, the exponent of its smallest normal number, and its largest number. */
const kFormats: Readonly<
  Partial<Record<TypeName, readonly [fraction: number, smallest: number, most: number]>>
> = {
  float8e4m3fn: [3, -6, 448],
  float8e4m3fnuz: [3, -7, 240],
  float8e5m2: [2, -14, 57344],
  float8e5m2fnuz: [2, -15, 57344],
  float4e2m1: [1, 0, 6],
};

/** Returns the nearest numbers of a type; with `saturate` those beyond its range become its ends, otherwise NaN or infinity. */
export function roundedToSmall(x: eg.Tensor, type: TypeName, saturate: boolean): eg.Tensor {
  const format = kFormats[type];
  if (format === undefined) return x;
  const [fraction, smallest, most] = format;
  const precise = x.to("float32");
  const [, exponent] = eg.frexp(precise.detach());
  const step = eg.exp2(eg.clamp(exponent.to("float32").sub(1), smallest, null).sub(fraction));
  const near = eg.round(precise.div(step)).mul(step);
  if (saturate) return eg.clamp(near, -most, most);
  const beyond =
    type === "float8e5m2" ? eg.sign(precise).mul(Number.POSITIVE_INFINITY) : Number.NaN;
  return eg.where(near.abs().gt(most), beyond, near);
}
