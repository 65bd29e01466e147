// Padding around a tensor.

import * as eg from "edgegrad";
import { unknownMode } from "../errors.js";
import { ints, number, tensor } from "../values/value.js";
import { axesOf, range } from "./axes.js";
import { maybeFloat, maybeInts, type Ops, op, string } from "./op.js";

/** Returns the source position of each position along a padded axis. */
function paddedPositions(size: number, before: number, after: number, mode: string): number[] {
  const period = mode === "reflect" ? Math.max(2 * (size - 1), 1) : size;
  return range(before + size + after).map((i) => {
    const at = i - before;
    if (mode === "edge") return Math.min(Math.max(at, 0), size - 1);
    const inside = ((at % period) + period) % period;
    return mode === "reflect" && inside >= size ? period - inside : inside;
  });
}

function pad(
  x: eg.Tensor,
  axes: readonly number[],
  pads: readonly number[],
  mode: string,
  value: number,
): eg.Tensor {
  const ends = range(x.ndim).map((axis): [number, number] => {
    const at = axes.indexOf(axis);
    return at < 0 ? [0, 0] : [pads[at] as number, pads[at + axes.length] as number];
  });
  if (mode === "constant") return eg.pad(x, [...ends].reverse().flat(), { value });
  if (mode !== "reflect" && mode !== "edge" && mode !== "wrap") unknownMode("mode of Pad", mode);
  return ends.reduce((all, [before, after], axis) => {
    if (before === 0 && after === 0) return all;
    const places = paddedPositions(x.shape[axis] as number, before, after, mode);
    return eg.indexSelect(
      all,
      axis,
      eg.tensor(BigInt64Array.from(places, BigInt), { device: x.device }),
    );
  }, x);
}

export const kPadding: Ops = {
  Pad: op({
    attributes: {
      mode: string("constant"),
      pads: maybeInts,
      paddings: maybeInts,
      value: maybeFloat,
    },
    settings: [1, 2, 3],
    run: ([input, pads, filling, axes], given) => {
      const x = tensor(input);
      const dims = axesOf(ints(axes), x.ndim);
      const amounts = ints(pads) ?? given.pads ?? given.paddings ?? [];
      return pad(x, dims, amounts, given.mode, number(filling) ?? given.value ?? 0);
    },
  }),
};
