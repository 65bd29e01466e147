// The dtypes that files have.

import type { DType } from "edgegrad";
import { kTypes } from "../proto/types.js";

/** The number of an element type in a file by its name here. */
export const kElementTypes: Readonly<Partial<Record<DType, number>>> = {
  float32: kTypes.float,
  float64: kTypes.double,
  float16: kTypes.float16,
  bfloat16: kTypes.bfloat16,
  int32: kTypes.int32,
  int64: kTypes.int64,
  uint8: kTypes.uint8,
  bool: kTypes.bool,
};
