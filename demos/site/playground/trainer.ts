// The worker of the page: the engine, the data and the network.

import { expose } from "comlink";
import type { RuntimeInfo } from "edgegrad";
import type { Points } from "../shared/plane_view.js";
import { Loop, startEngine } from "../shared/trainer.js";
import { makePoints } from "./datasets.js";
import { type Inputs, Network } from "./network.js";
import type { Settings, Tuning } from "./settings.js";

// The time for steps between two frames, in milliseconds; there is at least one step.
const kStepsMs = 30;

/** A network at one moment. */
export interface Frame {
  readonly steps: number;
  readonly loss: number;
  readonly testLoss: number;
  readonly testAccuracy: number;
  /** The outputs of each neuron on the grid, and last those of the network. */
  readonly planes: Float32Array;
  /** For each layer, one row per neuron. */
  readonly weights: readonly Float32Array[];
}

/** The data and structure of a new network. */
export interface Setup {
  readonly runtime: RuntimeInfo;
  readonly train: Points;
  readonly test: Points;
}

/** The state of a network that has been trained. */
export interface Given {
  readonly steps: number;
  readonly parameters: readonly (readonly number[])[];
}

class PlaygroundTrainer {
  readonly #loop = new Loop();
  #network: Network | null = null;
  #points: { train: Points; test: Points } | null = null;
  #train: Inputs | null = null;
  #test: Inputs | null = null;
  #steps = 0;

  /** Creates a network, with these parameters or new ones, and new points if they are requested or there are none. */
  async setUp(settings: Settings, newPoints: boolean, given?: Given): Promise<Setup> {
    const runtime = await startEngine(settings.device);
    if (newPoints || this.#points === null) {
      this.#points = { train: makePoints(settings), test: makePoints(settings) };
    }
    this.#network = new Network(settings);
    this.#train = this.#network.inputsOf(this.#points.train);
    this.#test = this.#network.inputsOf(this.#points.test);
    if (given !== undefined) this.#network.take(given.parameters);
    this.#steps = given?.steps ?? 0;
    return { runtime, ...this.#points };
  }

  tune(tuning: Tuning): void {
    this.#network?.tune(tuning);
  }

  /** Trains until stop(); continues each time when `show` has drawn the frame. */
  async run(show: (frame: Frame) => Promise<void>): Promise<void> {
    await this.#loop.run(async () => {
      const end = performance.now() + kStepsMs;
      do this.#step();
      while (performance.now() < end);
      await show(await this.frame());
      return true;
    });
  }

  stop(): void {
    this.#loop.stop();
  }

  /** The parameters of the network: the weights and biases of its layers in turn. */
  parameters(): Promise<number[][]> {
    return this.#parts().network.parameters();
  }

  /** The network as a safetensors file and as an ONNX file. */
  files(): Promise<{ weights: Uint8Array; onnx: Uint8Array }> {
    return this.#parts().network.files();
  }

  /** Takes one step. */
  step(): Promise<Frame> {
    this.#step();
    return this.frame();
  }

  /** The current state of the network. */
  async frame(): Promise<Frame> {
    const { network, train, test } = this.#parts();
    const steps = this.#steps;
    const [trained, tested, planes, weights] = await Promise.all([
      network.test(train),
      network.test(test),
      network.planes(),
      network.weights(),
    ]);
    const { loss: testLoss, accuracy: testAccuracy } = tested;
    return { steps, loss: trained.loss, testLoss, testAccuracy, planes, weights };
  }

  #step(): void {
    const { network, train } = this.#parts();
    network.step(train);
    this.#steps++;
  }

  #parts(): { network: Network; train: Inputs; test: Inputs } {
    const [network, train, test] = [this.#network, this.#train, this.#test];
    if (network === null || train === null || test === null) throw new Error("call setUp() first");
    return { network, train, test };
  }
}

export type { PlaygroundTrainer };

expose(new PlaygroundTrainer());
