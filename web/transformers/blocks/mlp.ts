// An MLP of two layers, with the names of CLIP and DINOv2.

import * as eg from "edgegrad";
import type { Activation } from "./activations.js";
import { Linear, type Projection } from "./linear.js";

/** Two linear layers with an activation between them. */
export class MLP extends eg.nn.Module {
  fc1: Projection;
  fc2: Projection;

  constructor(
    hidden: number,
    inner: number,
    private readonly activation: Activation,
  ) {
    super();
    this.fc1 = new Linear(hidden, inner);
    this.fc2 = new Linear(inner, hidden);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    return this.fc2.call(this.activation(this.fc1.call(x)));
  }
}
