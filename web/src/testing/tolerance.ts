// The differences that assertClose allows: those of torch.testing for each dtype.

import { fail } from "../runtime/errors/errors.js";
import type { DType } from "../tensor/dtype.js";

/** The largest difference of two elements is atol + rtol * |expected|. */
export interface Tolerance {
  readonly rtol: number;
  readonly atol: number;
}

const kOfDtypes: { readonly [Name in DType]?: Tolerance } = {
  float16: { rtol: 1e-3, atol: 1e-5 },
  bfloat16: { rtol: 1.6e-2, atol: 1e-5 },
  float32: { rtol: 1.3e-6, atol: 1e-5 },
  float64: { rtol: 1e-7, atol: 1e-7 },
  complex32: { rtol: 1e-3, atol: 1e-5 },
  complex64: { rtol: 1.3e-6, atol: 1e-5 },
  complex128: { rtol: 1e-7, atol: 1e-7 },
};

const kExact: Tolerance = { rtol: 0, atol: 0 };

/** Returns the tolerance for tensors of these dtypes, the larger one where they differ. */
export function toleranceFor(dtypes: readonly DType[]): Tolerance {
  const all = dtypes.map((dtype) => kOfDtypes[dtype] ?? kExact);
  return {
    rtol: Math.max(...all.map(({ rtol }) => rtol)),
    atol: Math.max(...all.map(({ atol }) => atol)),
  };
}

/** Returns the tolerance that was given, or null; throws InvalidArgument if only a part of it was. */
export function givenTolerance(where: string, rtol?: number, atol?: number): Tolerance | null {
  if (rtol !== undefined && atol !== undefined) return { rtol, atol };
  if (rtol === undefined && atol === undefined) return null;
  const [given, missing] = rtol === undefined ? ["atol", "rtol"] : ["rtol", "atol"];
  const reason = `${given} was given without ${missing}: give both, for example ${missing}: 0, or none.`;
  return fail("InvalidArgument", where, reason);
}
