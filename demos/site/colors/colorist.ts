// The network of the page and its training. Everything it reads and writes stays on the graphics card: pictures come from the page's own device, and
// what it shows goes to canvases of the same device.

import * as eg from "edgegrad";
import { finishedNetwork } from "./finished/finished.js";
import { brightnessOf, brightnessWeights, kRate, kSize, learn, makeModel } from "./network.js";

/** What the page counts of the traffic between processor and graphics card. */
export interface Traffic {
  readonly sent: number;
  readonly read: number;
}

/** A network that guesses colors from brightness, and learns from each picture. */
export class Colorist {
  readonly #device: GPUDevice;
  readonly #brightness: eg.Tensor;
  #model = makeModel("webgpu");
  #optimizer = new eg.optim.Adam(this.#model.parameters(), { lr: kRate });
  #before: Traffic | undefined;

  private constructor(device: GPUDevice) {
    this.#device = device;
    this.#brightness = brightnessWeights("webgpu");
  }

  /** Opens a device that the page and the engine share. Throws an Error that says what to do without one. */
  static async open(): Promise<Colorist> {
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) {
      throw new Error(
        "This page needs WebGPU, which this browser does not offer here: try a current Chrome or Edge, or Safari 26.",
      );
    }
    const { maxBufferSize, maxStorageBufferBindingSize, maxStorageBuffersPerShaderStage } =
      adapter.limits;
    const device = await adapter.requestDevice({
      requiredLimits: {
        maxBufferSize,
        maxStorageBufferBindingSize,
        maxStorageBuffersPerShaderStage,
      },
    });
    await eg.init({ webgpu: { device } });
    const colorist = new Colorist(device);
    await colorist.#loadFinished();
    return colorist;
  }

  // The network has watched the drawn scene, and begins with what it has learned.
  async #loadFinished(): Promise<void> {
    const file = await finishedNetwork();
    eg.scope(() => void this.#model.loadStateDict(eg.io.loadSafetensors(file)));
  }

  /** Resolves with the reason when the device is gone. */
  get lost(): Promise<string> {
    return this.#device.lost.then(({ message }) => message);
  }

  /** The bytes of tensors that went to the graphics card and back since the first picture, with which the weights went there. */
  get traffic(): Traffic {
    const { sent, read } = traffic();
    const before = this.#before ?? { sent, read };
    return { sent: sent - before.sent, read: read - before.read };
  }

  /** Begins again, with weights that have learned nothing. */
  forget(): void {
    this.#optimizer.zeroGrad();
    for (const parameter of this.#model.parameters()) parameter.dispose();
    this.#model = makeModel("webgpu");
    this.#optimizer = new eg.optim.Adam(this.#model.parameters(), { lr: kRate });
    this.#before = undefined;
  }

  /** Looks at a picture: shows its brightness and the guessed colors, and learns from its own colors if asked to. */
  async look(
    source: HTMLVideoElement | HTMLCanvasElement,
    canvases: { readonly given: HTMLCanvasElement; readonly guess: HTMLCanvasElement },
    learns: boolean,
  ): Promise<void> {
    await eg.scope(async () => {
      const seen = eg.fromImage(source, { size: [...kSize], device: "webgpu" });
      const given = brightnessOf(seen, this.#brightness);
      const guess = learns
        ? learn(this.#model, this.#optimizer, given, seen)
        : eg.noGrad(() => this.#model.call(given.unsqueeze(0)));
      await Promise.all([
        eg.toCanvas(given, canvases.given),
        eg.toCanvas(guess.detach().squeeze(0), canvases.guess),
      ]);
    });
    this.#before ??= traffic();
  }
}

function traffic(): Traffic {
  const stats = eg.webgpuStats();
  return { sent: stats?.bytesWritten ?? 0, read: stats?.bytesRead ?? 0 };
}
