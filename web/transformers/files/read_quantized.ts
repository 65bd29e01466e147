// Weights that become matrices of few bits while they are read: floats exist for some rows at a time.

import type * as eg from "edgegrad";
import { fail } from "../../errors/errors.js";
import type { Quantized } from "../blocks/quantized.js";

/** The most numbers of a matrix that are floats at once. */
const kNumbersAtOnce = 2 ** 20;

/** Tells a program about tensors that are read in parts as about others. */
export class PartProgress {
  readonly #read = new Map<string, { before: number; readonly total: number }>();

  constructor(private readonly onProgress: ((progress: eg.io.ReadProgress) => void) | undefined) {}

  /** Begins a tensor that is read in parts. */
  begin(name: string, total: number): void {
    this.#read.set(name, { before: 0, total });
  }

  /** Takes what the reader says about a tensor, or a part of it. */
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

/** Reads the weight of a matrix. */
export async function readQuantized(
  reader: eg.io.SafetensorsReader,
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
  // A range of columns would be read in many small pieces.
  const whole = isTransposed ? await reader.tensor(key) : null;
  if (whole === null) progress.begin(key, bytes);
  const most = Math.max(1, Math.floor(kNumbersAtOnce / columns));
  try {
    for (let start = 0; start < rows; start += most) {
      const count = Math.min(most, rows - start);
      const part =
        whole?.narrow(1, start, count) ?? (await reader.slice(key, [start, start + count]));
      matrix.put(start, part, isTransposed);
      part.dispose();
    }
  } finally {
    whole?.dispose();
  }
}
