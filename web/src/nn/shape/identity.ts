import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";

/** Gives back what it is given; it takes any arguments and looks at none, as in PyTorch. */
export class Identity extends Module {
  constructor(..._ignored: unknown[]) {
    super();
  }

  override forward(input: Tensor): Tensor {
    return input;
  }
}
