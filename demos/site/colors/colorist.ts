// The network of the page. Everything it reads and writes stays on the graphics card: pictures come from the page's own device, and
// what it shows goes to canvases of the same device.

import * as eg from "edgegrad";

/** Height and width of what the network sees. */
const kSize = [96, 128];

const kRate = 3e-3;

/** What brightness has of red, green and blue (ITU-R BT.601). */
const kBrightness = [0.299, 0.587, 0.114];

/** What the page counts of the traffic between processor and graphics card. */
export interface Traffic {
  readonly sent: number;
  readonly read: number;
}

/** A network that guesses colors from brightness, and learns from each picture. */
export class Colorist {
  readonly #device: GPUDevice;
  readonly #brightness: eg.Tensor;
  #model = makeModel();
  #optimizer = new eg.optim.Adam(this.#model.parameters(), { lr: kRate });
  #before: Traffic | undefined;

  private constructor(device: GPUDevice) {
    this.#device = device;
    this.#brightness = eg.tensor(kBrightness, { device: "webgpu" }).reshape([3, 1, 1]);
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
    return new Colorist(device);
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
    this.#model = makeModel();
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
      const seen = eg.fromImage(source, { size: kSize, device: "webgpu" });
      const given = seen.mul(this.#brightness).sum(0, true);
      const guess = learns
        ? this.#learn(given, seen)
        : eg.noGrad(() => this.#model.call(given.unsqueeze(0)));
      await Promise.all([
        eg.toCanvas(given, canvases.given),
        eg.toCanvas(guess.detach().squeeze(0), canvases.guess),
      ]);
    });
    this.#before ??= traffic();
  }

  #learn(given: eg.Tensor, seen: eg.Tensor): eg.Tensor {
    const guess = this.#model.call(given.unsqueeze(0));
    this.#optimizer.zeroGrad();
    eg.mseLoss(guess, seen.unsqueeze(0)).backward();
    this.#optimizer.step();
    return guess;
  }
}

function makeModel() {
  const { Conv2d, ReLU, Sequential, Sigmoid } = eg.nn;
  return new Sequential(
    new Conv2d(1, 24, 5, { padding: 2 }),
    new ReLU(),
    new Conv2d(24, 24, 3, { padding: 1 }),
    new ReLU(),
    new Conv2d(24, 3, 3, { padding: 1 }),
    new Sigmoid(),
  ).to("webgpu");
}

function traffic(): Traffic {
  const stats = eg.webgpuStats();
  return { sent: stats?.bytesWritten ?? 0, read: stats?.bytesRead ?? 0 };
}
