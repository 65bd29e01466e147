// The dtypes that files can store.

import type { DType } from "edgegrad";
import { kTypes } from "../proto/types.js";

/** ONNX's number of each dtype. */
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
