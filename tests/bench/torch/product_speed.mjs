// The speed of this package's matrix product, beside which that of PyTorch is judged.

import * as eg from "edgegrad";
import { bestTime } from "../clock.mjs";

const kSide = 512; // as in blas.py
const kTime = 300; // ms

/** Resolves to the GFLOPS of a product in float32 on the threads of the engine. */
export async function productSpeed() {
  const [a, b] = [1, 2].map(() => eg.randn([kSide, kSide]));
  const ms = await bestTime(() => eg.mm(a, b).dispose(), kTime);
  for (const operand of [a, b]) operand.dispose();
  return (2 * kSide ** 3) / ms / 1e6;
}
