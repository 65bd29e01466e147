// LoRA for 2D convolutions.

import * as eg from "edgegrad";
import {
  AdapterLayer,
  type AdapterSettings,
  drawFactors,
  partOf,
  productOf,
  storedFactors,
} from "./adapter_layer.js";

/** A convolution with two in parallel: one to few channels, and a 1 x 1 convolution from these to all channels. */
export class LoraConv2d extends AdapterLayer {
  base_layer: eg.nn.Conv2d;
  lora_A = new eg.nn.ModuleDict<eg.nn.Conv2d>();
  lora_B = new eg.nn.ModuleDict<eg.nn.Conv2d>();

  constructor(base: eg.nn.Conv2d) {
    super();
    this.base_layer = base;
  }

  /** The weight of the base layer. */
  get weight(): eg.Tensor {
    return this.base_layer.weight;
  }

  override add(name: string, settings: AdapterSettings): void {
    const { inChannels, outChannels, kernelSize, stride, padding, dilation, weight } =
      this.base_layer;
    const { device } = weight;
    const shape = { stride, padding, dilation, bias: false, device };
    const a = new eg.nn.Conv2d(inChannels, settings.r, kernelSize, shape);
    const b = new eg.nn.Conv2d(settings.r, outChannels, 1, { bias: false, device });
    drawFactors(a.weight, b.weight, settings);
    this.settings[name] = settings;
    this.lora_A.set(name, a);
    this.lora_B.set(name, b);
  }

  override storedTensors(name: string): Record<string, eg.nn.Parameter> {
    return storedFactors(this.lora_A, this.lora_B, name);
  }

  override change(name: string, weight: eg.Tensor): eg.Tensor {
    return productOf(this.storedTensors(name), this.settingsOf(name), weight);
  }

  override forward(x: eg.Tensor): eg.Tensor {
    let result = this.base_layer.call(x);
    for (const name of this.applied) {
      const { scaling, config } = this.settingsOf(name);
      const [a, b] = [partOf(this.lora_A, name), partOf(this.lora_B, name)];
      const input = eg.dropout(x.to(a.weight.dtype), config.loraDropout, this.training);
      result = result.add(b.call(a.call(input).mul(scaling)).to(result.dtype));
    }
    return result;
  }
}
