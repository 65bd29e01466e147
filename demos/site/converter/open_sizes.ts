// The sizes of inputs that a file leaves open: fields for them, and shapes with them.

import type { GraphValue } from "edgegrad/onnx";

/** A size that a visitor chooses. */
export interface OpenSize {
  readonly key: string;
  readonly label: string;
  readonly value: number;
}

const kPicture = 224;
const kLength = 16;

/** Returns the open sizes of inputs; sizes with the same name are one. */
export function openSizes(inputs: readonly GraphValue[]): OpenSize[] {
  const sizes = new Map<string, OpenSize>();
  for (const { name, shape } of inputs) {
    shape.forEach((size, i) => {
      if (typeof size === "number") return;
      const key = keyOf(name, size, i);
      const label = size ?? `${name}, dimension ${i}`;
      if (!sizes.has(key)) sizes.set(key, { key, label, value: usual(shape.length, i) });
    });
  }
  return [...sizes.values()];
}

/** Returns the shape of an input with these sizes. */
export function shapeWith(
  { name, shape }: GraphValue,
  sizes: Readonly<Record<string, number>>,
): number[] {
  return shape.map((size, i) =>
    typeof size === "number" ? size : (sizes[keyOf(name, size, i)] ?? usual(shape.length, i)),
  );
}

function keyOf(name: string, size: string | null, i: number): string {
  return size ?? `${name} ${i}`;
}

// The first dimension is usually a batch; those of four are mostly pictures, others texts.
function usual(ndim: number, i: number): number {
  if (i === 0) return 1;
  return ndim === 4 ? kPicture : kLength;
}
