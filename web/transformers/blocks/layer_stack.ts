// The layers of an encoder, which files call "layer".

import * as eg from "edgegrad";
import type { Pass } from "./pass.js";
import { runBlocks } from "./run_blocks.js";

type Layer = eg.nn.Module & { forward(x: eg.Tensor, pass: Pass): eg.Tensor };

/** Layers, one after the other. */
export class LayerStack extends eg.nn.Module {
  layer: eg.nn.ModuleList<Layer>;

  constructor(count: number, make: () => Layer) {
    super();
    this.layer = new eg.nn.ModuleList(Array.from({ length: count }, make));
  }

  override forward(x: eg.Tensor, pass: Pass, isCheckpointed: boolean): eg.Tensor {
    pass.mask();
    return runBlocks(this.layer, isCheckpointed, x, pass);
  }
}
