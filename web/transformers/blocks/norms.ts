// Norms that differ from those of eg.nn.

import * as eg from "edgegrad";

/** Divides by the root mean square and multiplies by 1 + weight, as Gemma does. */
export class GemmaRMSNorm extends eg.nn.Module {
  weight: eg.nn.Parameter;

  constructor(
    private readonly size: number,
    private readonly eps: number,
  ) {
    super();
    this.weight = new eg.nn.Parameter(eg.zeros([size]));
  }

  override forward(x: eg.Tensor): eg.Tensor {
    return eg.rmsNorm(x, [this.size], this.weight.add(1), this.eps);
  }

  override extraRepr(): string {
    return `${this.size}, eps=${this.eps}`;
  }
}
