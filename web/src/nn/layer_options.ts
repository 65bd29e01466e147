import type { Device, DType } from "../tensor/dtype.js";

/** Where and in what type a layer keeps its parameters. */
export interface LayerOptions {
  dtype?: DType;
  device?: Device;
}
