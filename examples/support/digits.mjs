// MNIST's digits in the form that the examples use.

import * as eg from "edgegrad";

export { loadDigits } from "../../demos/mnist/data.mjs";

/** Converts images of bytes to float32 [batch, 1, 28, 28] from `low` to `high`. */
export function asImages(bytes, low = 0, high = 1) {
  return bytes
    .to("float32")
    .mul((high - low) / 255)
    .add(low)
    .reshape([-1, 1, 28, 28]);
}

/** Images of bytes in the form that a model of pictures [batch, channels, side, side] takes: three channels as for ImageNet. */
export function asPictures(bytes, [, channels, side]) {
  const size = typeof side === "number" ? side : 32;
  const images = eg.interpolate(asImages(bytes), { size: [size, size], mode: "bilinear" });
  if (channels !== 3) return images;
  const mean = eg.tensor([0.485, 0.456, 0.406]).reshape([3, 1, 1]);
  const deviation = eg.tensor([0.229, 0.224, 0.225]).reshape([3, 1, 1]);
  return images.expand([-1, 3, -1, -1]).sub(mean).div(deviation);
}

/** `count` random digits of a set: [images of bytes, labels of int64]. */
export function randomDigits(set, count) {
  const [images, labels] = set.getBatch(eg.randint(0, set.length, [count]).arraySync());
  return [images, labels.to("int64")];
}

/** Images [count, 1, 28, 28] from 0 to 1 as text, side by side, with one character per two pixels. */
export function drawn(images) {
  const rows = eg
    .avgPool2d(images, [2, 1])
    .arraySync()
    .map(([image]) => image);
  const shades = " .:-=+*#%@";
  const shade = (value) => shades[Math.min(Math.floor(Math.max(value, 0) * 10), 9)];
  const line = (y) => rows.map((image) => image[y].map(shade).join("")).join("  ");
  return Array.from({ length: 14 }, (_, y) => line(y)).join("\n");
}
