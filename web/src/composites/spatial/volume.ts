// Volumes as images: separable operations are applied to the slices, then along the depth.

import { add, floorDivide, gather, mul, reshape } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";

/** Applies one function to the slices [H, W] of volumes [N, C, D, H, W], and another to their columns, as images [D, columns]. */
export function onSlicesAndDepth(
  batch: Tensor,
  onSlices: (images: Tensor) => Tensor,
  onDepth: (images: Tensor) => Tensor,
): Tensor {
  const [size = 0, channels = 0, depth = 0, height = 0, width = 0] = batch.shape;
  const slices = onSlices(reshape(batch, [size, channels * depth, height, width]));
  const [, , rows = 0, columns = 0] = slices.shape;
  const results = onDepth(reshape(slices, [size, channels, depth, rows * columns]));
  return reshape(results, [size, channels, results.shape[2] ?? 0, rows, columns]);
}

/** A pooling function that also returns the indices of the selected elements. */
type IndexedPool = (images: Tensor) => [Tensor, Tensor];

/** Like onSlicesAndDepth() for max pooling: returns the selected elements and their indices in the flattened volume. */
export function chosenOnSlicesAndDepth(
  batch: Tensor,
  onSlices: IndexedPool,
  onDepth: IndexedPool,
): [Tensor, Tensor] {
  const area = (batch.shape[3] ?? 0) * (batch.shape[4] ?? 0);
  let inSlice: Tensor | undefined;
  let flatIndices: Tensor | undefined;
  const chosen = onSlicesAndDepth(
    batch,
    (images) => {
      const [values, indices] = onSlices(images);
      inSlice = indices;
      return values;
    },
    (images) => {
      const [values, indices] = onDepth(images);
      flatIndices = indicesInVolume(inSlice as Tensor, indices, images.shape, area);
      return values;
    },
  );
  return [chosen, reshape(flatIndices as Tensor, chosen.shape)];
}

// Combines the index of the selected slice and the index in the slice.
function indicesInVolume(
  inSlice: Tensor,
  inColumns: Tensor,
  [size = 0, channels = 0, depth = 0, columns = 0]: readonly number[],
  area: number,
): Tensor {
  const chosen = reshape(inColumns, [size, channels, (inColumns.shape[2] ?? 0) * columns]);
  const candidates = reshape(inSlice, [size, channels, depth * columns]);
  return add(gather(candidates, 2, chosen), mul(floorDivide(chosen, columns), area));
}
