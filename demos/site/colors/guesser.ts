// The worker that guesses colors on the CPU: in the page, the first call of the network would block it for a second on a phone.

import { expose, transfer } from "comlink";
import * as eg from "edgegrad";
import { finishedNetwork } from "./finished/finished.js";
import { brightnessOf, brightnessWeights, kSize, makeModel } from "./network.js";

/** The brightness of a picture, and its colors as the network guesses them. */
export interface Guess {
  readonly given: ImageBitmap;
  readonly guess: ImageBitmap;
}

const guesser = {
  async guess(source: ImageBitmap): Promise<Guess> {
    // One picture is guessed sooner than another thread has started.
    await eg.init({ threads: 1 });
    const file = await finishedNetwork();
    const pictures = await eg.scope(async () => {
      const model = makeModel("cpu");
      model.loadStateDict(eg.io.loadSafetensors(file));
      const given = brightnessOf(
        eg.fromImage(source, { size: [...kSize] }),
        brightnessWeights("cpu"),
      );
      const guess = eg.noGrad(() => model.call(given.unsqueeze(0)));
      return { given: await bitmapOf(given), guess: await bitmapOf(guess.squeeze(0)) };
    });
    return transfer(pictures, [pictures.given, pictures.guess]);
  },
};

async function bitmapOf(picture: eg.Tensor): Promise<ImageBitmap> {
  const [height, width] = kSize;
  const canvas = new OffscreenCanvas(width, height);
  await eg.toCanvas(picture, canvas);
  return canvas.transferToImageBitmap();
}

export type Guesser = typeof guesser;

expose(guesser);
