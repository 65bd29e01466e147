// What models are filled from: a safetensors file, or another that says the same.

import type * as eg from "edgegrad";
import type { CodeFormat } from "../blocks/code_format.js";
import type { QuantizedMatrix } from "../blocks/quantized.js";

/** A file of weights under Hugging Face's names. */
export interface WeightFile {
  readonly keys: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  info(key: string): Promise<eg.io.StoredTensorInfo>;
  tensor(key: string, options?: eg.io.ReadTensorOptions): Promise<eg.Tensor>;
  slice(key: string, range: readonly [start: number, end: number]): Promise<eg.Tensor>;
  close(): Promise<void>;
  /** How the file stores the codes of a matrix; null for one of floats. Files without codes do not have this. */
  format?(key: string): CodeFormat | null;
  /** Reads the codes of a matrix. */
  readCodes?(key: string, matrix: QuantizedMatrix): Promise<void>;
}

/** A file with codes. */
export type CodedFile = Required<WeightFile>;

/** Returns rows of a tensor that can only be read whole. */
export async function sliceOfWhole(
  file: Pick<WeightFile, "tensor">,
  key: string,
  [start, end]: readonly [start: number, end: number],
): Promise<eg.Tensor> {
  const whole = await file.tensor(key);
  try {
    return whole.narrow(0, start, end - start).clone();
  } finally {
    whole.dispose();
  }
}
