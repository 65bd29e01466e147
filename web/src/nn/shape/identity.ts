import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";

/** Returns its input; takes any arguments and ignores them, as in PyTorch. */
export class Identity extends Module {
  constructor(..._ignored: unknown[]) {
    super();
  }

  override forward(input: Tensor): Tensor {
    return input;
  }
}
