// What the page opens with: a network that has watched the drawn scene (npm run site:finished).

import * as eg from "edgegrad";
import { halfFile } from "../../../support/checkpoint.mjs";
import { kGround, kSceneSize, kThings, placeOf } from "../drawn_scene.js";
import { brightnessOf, brightnessWeights, kRate, kSize, learn, makeModel } from "../network.js";

const kSteps = 400;
const kMsPerStep = 37;

/** Returns the files by name. */
export async function train(): Promise<Record<string, Uint8Array>> {
  const model = makeModel("cpu");
  const optimizer = new eg.optim.Adam(model.parameters(), { lr: kRate });
  const weights = brightnessWeights("cpu");
  let error = 0;
  for (let step = 0; step < kSteps; step++) {
    eg.scope(() => {
      const seen = eg.tensor(sceneAt(step * kMsPerStep), { shape: [3, ...kSize] });
      const guess = learn(model, optimizer, brightnessOf(seen, weights), seen);
      error = guess.squeeze(0).sub(seen).abs().mean().item() as number;
    });
  }
  console.log(`  off by ${(255 * error).toFixed(1)} levels of 255`);
  return { "network.safetensors": halfFile(model) };
}

// The scene without a canvas: red, green and blue of each point, from 0 to 1.
function sceneAt(time: number): Float32Array {
  const [height, width] = kSize;
  const scale = kSceneSize[0] / width;
  const pixels = new Float32Array(3 * height * width);
  const places = kThings.map(({ color, radius, speed }, i) => {
    const [x, y] = placeOf(i, speed, time, ...kSceneSize);
    return { x, y, radius, rgb: rgbOf(color) };
  });
  const ground = rgbOf(kGround);
  for (let i = 0; i < height * width; i++) {
    const [x, y] = [((i % width) + 0.5) * scale, (Math.floor(i / width) + 0.5) * scale];
    const on = places.findLast((place) => Math.hypot(x - place.x, y - place.y) < place.radius);
    (on?.rgb ?? ground).forEach((value, c) => {
      pixels[c * height * width + i] = value;
    });
  }
  return pixels;
}

function rgbOf(color: string): number[] {
  return [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16) / 255);
}
