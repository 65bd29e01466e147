// Where there is no WebGPU: one picture, with the guesses of the network that the page already has.

import { transfer, wrap } from "comlink";
import type { Guesser } from "./guesser.js";

/** Shows the brightness of a picture and the guessed colors. */
export async function guessOnCpu(
  source: HTMLCanvasElement,
  canvases: { readonly given: HTMLCanvasElement; readonly guess: HTMLCanvasElement },
): Promise<void> {
  const worker = new Worker(new URL("./guesser.ts", import.meta.url), { type: "module" });
  const picture = await createImageBitmap(source);
  const { given, guess } = await wrap<Guesser>(worker).guess(transfer(picture, [picture]));
  worker.terminate();
  draw(given, canvases.given);
  draw(guess, canvases.guess);
}

function draw(picture: ImageBitmap, canvas: HTMLCanvasElement): void {
  canvas.width = picture.width;
  canvas.height = picture.height;
  canvas.getContext("2d")?.drawImage(picture, 0, 0);
  picture.close();
}
