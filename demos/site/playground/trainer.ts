import { expose } from "comlink";
import * as eg from "edgegrad";
import { Loop, startEngine, throttled } from "../shared/trainer.js";

const kPoints = 200;

class SpiralTrainer {
  #loop = new Loop();
  #step: () => Promise<number> = () => Promise.reject(new Error("call start() first"));
  #steps = 0;

  async start(device: eg.Device): Promise<eg.RuntimeInfo> {
    const runtime = await startEngine(device);
    const { Sequential, Linear, Tanh } = eg.nn;
    const model = new Sequential(new Linear(2, 32), new Tanh(), new Linear(32, 2)).to(device);
    const optimizer = new eg.optim.Adam(model.parameters(), { lr: 0.02 });
    const [points, labels] = spirals().map((tensor) => tensor.to(device)) as [eg.Tensor, eg.Tensor];
    this.#step = () =>
      eg.scope(async () => {
        const loss = eg.crossEntropy(model.call(points), labels);
        optimizer.zeroGrad();
        loss.backward();
        optimizer.step();
        return Number(await loss.itemAsync());
      });
    return runtime;
  }

  train(report: (progress: { step: number; loss: number }) => void): Promise<void> {
    const tell = throttled(30, report);
    return this.#loop.run(async () => {
      const loss = await this.#step();
      this.#steps++;
      tell({ step: this.#steps, loss });
      return true;
    });
  }

  stop(): void {
    this.#loop.stop();
  }
}

function spirals(): eg.Tensor[] {
  const angle = eg.linspace(0.3, 9, kPoints);
  const arm = (sign: number) =>
    eg
      .stack([angle.cos(), angle.sin()], 1)
      .mul(angle.unsqueeze(1))
      .mul(sign / 9);
  const labels = eg.cat([eg.zeros([kPoints]), eg.ones([kPoints])]).to("int64");
  return [eg.cat([arm(1), arm(-1)]), labels];
}

export type { SpiralTrainer };

expose(new SpiralTrainer());
