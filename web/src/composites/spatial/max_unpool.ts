// The partial inverse of max pooling: puts every value back at its index, with zeros elsewhere.

import type { Ints } from "../../dispatch/types.js";
import { reshape, scatter, zeros } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { composite } from "../composite.js";
import { perAxis } from "../geometry.js";

const kLine =
  "input:tensor indices:tensor kernelSize:ints stride:ints?=null padding:ints=0 outputSize:ints?=null";

/** The partial inverse of maxPool1d(), from its results and indices. `outputSize` selects among the sizes that pool to this input. */
export const maxUnpool1d = /* @__PURE__ */ maxUnpool("maxUnpool1d", 1);

/** The partial inverse of maxPool2d(), from its results and indices. `outputSize` selects among the sizes that pool to this input. */
export const maxUnpool2d: typeof maxUnpool1d = /* @__PURE__ */ maxUnpool("maxUnpool2d", 2);

/** The partial inverse of maxPool3d(), from its results and indices. `outputSize` selects among the sizes that pool to this input. */
export const maxUnpool3d: typeof maxUnpool1d = /* @__PURE__ */ maxUnpool("maxUnpool3d", 3);

function maxUnpool(where: string, axes: number) {
  return composite(where, kLine, (input, indices, kernelSize, stride, padding, outputSize) => {
    if (input.ndim !== axes + 1 && input.ndim !== axes + 2) {
      const reason = `input: expected ${axes + 1} dimensions, or ${axes + 2} with a batch`;
      fail("ShapeMismatch", where, `${reason}, got ${input.ndim}.`);
    }
    if (input.shape.join() !== indices.shape.join()) {
      const got = `[${input.shape.join(", ")}], got [${indices.shape.join(", ")}]`;
      fail("ShapeMismatch", where, `indices: expected the shape of input, ${got}.`);
    }
    const kernel = perAxis(where, "kernelSize", kernelSize, axes);
    const steps = perAxis(where, "stride", stride ?? kernelSize, axes);
    const edges = perAxis(where, "padding", padding, axes);
    const pooled = input.shape.slice(-axes);
    const before = input.shape.slice(0, -axes);
    const sizes = kernel.map(
      (size, d) => ((pooled[d] ?? 0) - 1) * (steps[d] ?? 1) - 2 * (edges[d] ?? 0) + size,
    );
    const requested = outputSize === null ? sizes : chosenSizes(where, outputSize, sizes, steps);
    const { dtype, device } = input;
    const area = requested.reduce((a, b) => a * b, 1);
    const flat = [...before, pooled.reduce((a, b) => a * b, 1)];
    const volume = zeros([...before, area], { dtype, device });
    const placed = scatter(volume, -1, reshape(indices, flat), reshape(input, flat));
    return reshape(placed, [...before, ...requested]);
  });
}

// Sizes that differ by less than a stride pool to the same size.
function chosenSizes(
  where: string,
  outputSize: Ints,
  sizes: readonly number[],
  steps: readonly number[],
): number[] {
  const given = typeof outputSize === "number" ? [outputSize] : outputSize;
  const requested = given.slice(-sizes.length);
  const isClose = requested.every((size, d) => Math.abs(size - (sizes[d] ?? 0)) < (steps[d] ?? 1));
  if (requested.length === sizes.length && isClose) return requested;
  const reason = `outputSize: expected sizes less than a stride away from [${sizes.join(", ")}], got [${given.join(", ")}].`;
  return fail("InvalidArgument", where, reason);
}
