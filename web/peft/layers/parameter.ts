// LoRA for parameters that a module uses directly, such as those of an ONNX graph.

import * as eg from "edgegrad";
import {
  AdapterLayer,
  type AdapterSettings,
  drawFactors,
  productOf,
  storedFactors,
  Weight,
} from "./adapter_layer.js";

/** A parametrization that adds low-rank adapters: W + scaling B A, with all dimensions after the first flattened. */
export class LoraParameter extends AdapterLayer {
  lora_A = new eg.nn.ModuleDict<Weight>();
  lora_B = new eg.nn.ModuleDict<Weight>();
  readonly shape: readonly number[];
  readonly device: eg.Device;

  constructor(weight: eg.Tensor) {
    super();
    this.shape = weight.shape;
    this.device = weight.device;
  }

  override add(name: string, settings: AdapterSettings): void {
    const [rows, ...rest] = this.shape as [number, ...number[]];
    const columns = rest.reduce((product, size) => product * size, 1);
    const { device } = this;
    const a = new Weight(eg.empty([settings.r, columns], { device }));
    const b = new Weight(eg.empty([rows, settings.r], { device }));
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

  override forward(weight: eg.Tensor): eg.Tensor {
    let result = weight;
    for (const name of this.applied) result = result.add(this.change(name, weight));
    return result;
  }
}
