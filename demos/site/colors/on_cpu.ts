// Where there is no WebGPU: one picture, with the guesses of the network that the page already has.

import * as eg from "edgegrad";
import { finishedNetwork } from "./finished/finished.js";
import { brightnessOf, brightnessWeights, kSize, makeModel } from "./network.js";

/** Shows the brightness of a picture and the guessed colors. */
export async function guessOnCpu(
  source: HTMLCanvasElement,
  canvases: { readonly given: HTMLCanvasElement; readonly guess: HTMLCanvasElement },
): Promise<void> {
  // One picture is guessed sooner than another thread has started.
  await eg.init({ threads: 1 });
  const file = await finishedNetwork();
  await eg.scope(async () => {
    const model = makeModel("cpu");
    model.loadStateDict(eg.io.loadSafetensors(file));
    const given = brightnessOf(
      eg.fromImage(source, { size: [...kSize] }),
      brightnessWeights("cpu"),
    );
    const guess = eg.noGrad(() => model.call(given.unsqueeze(0)));
    await Promise.all([
      eg.toCanvas(given, canvases.given),
      eg.toCanvas(guess.squeeze(0), canvases.guess),
    ]);
  });
}
