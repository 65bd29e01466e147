// The network for the settings, its training step, and the outputs of each neuron over the plane.

import * as eg from "edgegrad";
import type { Points } from "../shared/plane_view.js";
import { featureOnGrid, kFeatures, type Settings, type Tuning } from "./settings.js";

/** Points in the form of a network's input. */
export interface Inputs {
  readonly features: eg.Tensor;
  readonly targets: eg.Tensor;
}

export class Network {
  readonly #settings: Settings;
  readonly #linears: eg.nn.Linear[];
  readonly #activation: eg.nn.Module & { forward(input: eg.Tensor): eg.Tensor };
  readonly #optimizer: eg.optim.Adam;
  readonly #grid: eg.Tensor;
  #tuning: Tuning;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#tuning = settings;
    const sizes = [settings.features.length, ...settings.hidden, 1];
    this.#linears = sizes
      .slice(1)
      .map((size, i) => new eg.nn.Linear(sizes[i] as number, size).to(settings.device));
    this.#activation = new eg.nn[settings.activation]();
    const parameters = this.#linears.flatMap((linear) => linear.parameters());
    this.#optimizer = new eg.optim.Adam(parameters, { lr: settings.learningRate });
    const columns = settings.features.map(featureOnGrid);
    this.#grid = eg.scope(() =>
      eg
        .stack(
          columns.map((column) => eg.tensor(column)),
          1,
        )
        .to(settings.device),
    );
  }

  /** Changes the settings that may change during training. */
  tune(tuning: Tuning): void {
    this.#tuning = tuning;
    for (const group of this.#optimizer.paramGroups) group.lr = tuning.learningRate;
  }

  /** Points with the features that this network uses. */
  inputsOf({ positions, classes }: Points): Inputs {
    const { features, device } = this.#settings;
    const rows = Array.from(classes, (_, i) =>
      features.map((name) =>
        kFeatures[name](positions[2 * i] as number, positions[2 * i + 1] as number),
      ),
    );
    return eg.scope(() => ({
      features: eg.tensor(rows).to(device),
      targets: eg.tensor(classes, { shape: [classes.length, 1] }).to(device),
    }));
  }

  /** One step on all points. */
  step(inputs: Inputs): void {
    eg.scope(() => {
      const loss = this.#loss(this.#layers(inputs.features), inputs).add(this.#penalty());
      this.#optimizer.zeroGrad();
      loss.backward();
      this.#optimizer.step();
    });
  }

  /** The loss without penalty, and the share of points on the right side. */
  async test(inputs: Inputs): Promise<{ loss: number; accuracy: number }> {
    const found = eg.scope(() =>
      eg.noGrad(() => {
        const layers = this.#layers(inputs.features);
        const isRight = (layers.at(-1) as eg.Tensor).gt(0).to("float32").eq(inputs.targets);
        return eg.stack([this.#loss(layers, inputs), isRight.to("float32").mean()]);
      }),
    );
    const [loss = 0, accuracy = 0] = (await found.data()) as Float32Array;
    found.dispose();
    return { loss, accuracy };
  }

  /** The outputs of each neuron on the grid, and last those of the network, from -1 to 1. */
  async planes(): Promise<Float32Array> {
    const planes = eg.scope(() =>
      eg.noGrad(() => {
        const layers = this.#layers(this.#grid);
        const output = (layers.pop() as eg.Tensor).div(2).tanh();
        return eg
          .cat([...layers, output], 1)
          .t()
          .contiguous();
      }),
    );
    const values = (await planes.data()) as Float32Array;
    planes.dispose();
    return values;
  }

  /** The weights of each layer, one row per neuron. */
  async weights(): Promise<Float32Array[]> {
    const values = await Promise.all(this.#linears.map(({ weight }) => weight.data()));
    return values as Float32Array[];
  }

  /** The weights and biases of the layers in turn. */
  async parameters(): Promise<number[][]> {
    const all = this.#linears.flatMap((linear) => linear.parameters());
    return Promise.all(
      all.map(async (tensor) => Array.from((await tensor.data()) as Float32Array)),
    );
  }

  /** Takes parameters() of a network with the same settings; throws if they are others. */
  take(parameters: readonly (readonly number[])[]): void {
    const all = this.#linears.flatMap((linear) => linear.parameters());
    if (!all.every(({ numel }, i) => parameters[i]?.length === numel)) {
      throw new Error("these are the parameters of another network");
    }
    copyInto(all, parameters);
  }

  /** The layers as one module, [count, features] to [count, 1]. */
  async files(): Promise<{ weights: Uint8Array; onnx: Uint8Array }> {
    const { hidden, activation, features } = this.#settings;
    const copies = await this.parameters();
    const { save } = await import("edgegrad/onnx");
    const whole = new eg.nn.Sequential(
      ...this.#linears.flatMap(({ inFeatures, outFeatures }, i) => [
        new eg.nn.Linear(inFeatures, outFeatures),
        ...(i < hidden.length ? [new eg.nn[activation]()] : []),
      ]),
    );
    const input = eg.zeros([1, features.length]);
    try {
      copyInto(whole.parameters(), copies);
      const onnx = await save(whole, {
        inputs: [input],
        inputNames: ["features"],
        outputNames: ["score"],
        dynamicAxes: { features: { 0: "batch" } },
      });
      return { weights: eg.io.saveSafetensors(whole.stateDict()), onnx };
    } finally {
      for (const tensor of [input, ...whole.parameters()]) tensor.dispose();
    }
  }

  // The output of each hidden layer, and last that of the network before its sigmoid.
  #layers(input: eg.Tensor): eg.Tensor[] {
    const layers: eg.Tensor[] = [];
    let values = input;
    this.#linears.forEach((linear, i) => {
      values = linear.call(values);
      if (i < this.#linears.length - 1) values = this.#activation.call(values);
      layers.push(values);
    });
    return layers;
  }

  #loss(layers: readonly eg.Tensor[], { targets }: Inputs): eg.Tensor {
    return eg.binaryCrossEntropyWithLogits(layers.at(-1) as eg.Tensor, targets);
  }

  #penalty(): eg.Tensor | number {
    const { penalty, penaltyRate } = this.#tuning;
    if (penalty === "none") return 0;
    const sizes = this.#linears.map(({ weight }) =>
      penalty === "L1" ? weight.abs().sum() : weight.square().sum().div(2),
    );
    return eg.stack(sizes).sum().mul(penaltyRate);
  }
}

function copyInto(parameters: readonly eg.Tensor[], values: readonly (readonly number[])[]): void {
  eg.scope(() =>
    eg.noGrad(() => {
      for (const [i, parameter] of parameters.entries()) {
        parameter.copy_(eg.tensor(values[i] as number[], { shape: parameter.shape }));
      }
    }),
  );
}
