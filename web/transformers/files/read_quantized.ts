// Quantizes weights while they are read: only a few rows at a time are floats.

import type * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { Quantized } from "../blocks/quantized.js";
import type { WeightFile } from "./weight_file.js";

/** The limit on elements of a matrix that are floats at the same time. */
const kNumbersAtOnce = 2 ** 20;

/** Reports the progress of tensors that are read in parts like that of whole tensors. */
export class PartProgress {
  readonly #read = new Map<string, { before: number; readonly total: number }>();

  constructor(private readonly onProgress: ((progress: eg.io.ReadProgress) => void) | undefined) {}

  /** Begins a tensor that is read in parts. */
  begin(name: string, total: number): void {
    this.#read.set(name, { before: 0, total });
  }

  /** Receives the reader's progress on a tensor or a part of it. */
  report(progress: eg.io.ReadProgress): void {
    const read = this.#read.get(progress.name);
    if (read === undefined) {
      this.onProgress?.(progress);
      return;
    }
    const { name, loaded, total } = progress;
    this.onProgress?.({ name, loaded: read.before + loaded, total: read.total });
    if (loaded === total) read.before += total;
  }
}

/** Reads and quantizes the weight of a matrix. */
export async function readQuantized(
  reader: WeightFile,
  key: string,
  { matrix, isTransposed }: Quantized,
  progress: PartProgress,
): Promise<void> {
  const { shape, bytes } = await reader.info(key);
  const { rows, columns } = matrix;
  const expected = isTransposed ? [columns, rows] : [rows, columns];
  if (String(shape) !== String(expected)) {
    const sizes = `expected [${expected.join(", ")}], got [${shape.join(", ")}]`;
    fail("ShapeMismatch", "fromPretrained", `${key}: ${sizes}.`);
  }
  // Reading a range of columns would take many small reads.
  const whole = isTransposed ? await reader.tensor(key) : null;
  if (whole === null) progress.begin(key, bytes);
  const most = Math.max(1, Math.floor(kNumbersAtOnce / columns));
  try {
    for (let start = 0; start < rows; start += most) {
      const count = Math.min(most, rows - start);
      const part =
        whole?.narrow(1, start, count) ?? (await reader.slice(key, [start, start + count]));
      const turned = isTransposed ? part.t() : part;
      matrix.put(start, turned);
      if (turned !== part) turned.dispose();
      part.dispose();
    }
  } finally {
    whole?.dispose();
  }
}
