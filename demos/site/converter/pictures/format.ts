// How a model takes pictures, by the shape of its first input.

import type { GraphValue } from "edgegrad/onnx";
import { shapeWith } from "../open_sizes.js";

/** How a model takes pictures. */
export interface PictureFormat {
  readonly height: number;
  readonly width: number;
  readonly channels: 1 | 3;
  /** Where the channels are: before the rows, behind the columns, or there are only pixels. */
  readonly layout: "first" | "last" | "flat";
  /** The size of the batch, if the file fixes it. */
  readonly batch: number | null;
}

/** Returns how a model takes pictures, or a sentence that says why it takes none. */
export function pictureFormat(
  inputs: readonly GraphValue[],
  sizes: Readonly<Record<string, number>>,
): PictureFormat | string {
  const needed = inputs.filter(({ isOptional }) => !isOptional);
  const [input] = needed;
  if (input === undefined || needed.length > 1 || !input.hasShape) {
    return "Pictures need a model with one input whose shape the file declares.";
  }
  if (!input.dtype.includes("float")) {
    return `Its input "${input.name}" is ${input.dtype}, which is no picture.`;
  }
  const shape = shapeWith(input, sizes);
  const [first] = input.shape;
  const batch = typeof first === "number" ? first : null;
  const [, a = 0, b = 0, c = 0] = shape;
  if (shape.length === 4 && isChannels(a)) {
    return { layout: "first", channels: a, height: b, width: c, batch };
  }
  if (shape.length === 4 && isChannels(c)) {
    return { layout: "last", channels: c, height: a, width: b, batch };
  }
  const side = Math.sqrt(a);
  if (shape.length === 2 && Number.isInteger(side) && side > 3) {
    return { layout: "flat", channels: 1, height: side, width: side, batch };
  }
  return `Its input "${input.name}" has the shape [${shape.join(", ")}], which is no picture.`;
}

function isChannels(size: number): size is 1 | 3 {
  return size === 1 || size === 3;
}
