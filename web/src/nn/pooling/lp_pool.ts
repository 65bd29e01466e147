import type { Arguments, Constructor } from "../../arguments/read.js";
import { boolean, number, type Options } from "../../arguments/rule.js";
import { lpPool1d, lpPool2d, lpPool3d } from "../../composites/index.js";
import type { Ints } from "../../dispatch/types.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type Layer, layer } from "../layer.js";
import { perDimension } from "../layer_options.js";

function lpPoolOptions(spatial: number) {
  return {
    /** The distance between windows; default the size of a window. */
    stride: perDimension(spatial, 1).orNull(),
    /** Keep windows that extend past the end; default false. */
    ceilMode: boolean.or(false),
  };
}

/** Options of the layers of Lp pooling. */
export type LPPoolOptions = Options<ReturnType<typeof lpPoolOptions>>;

/** The arguments of the layers of Lp pooling. */
export type LPPoolArguments = [
  normType: number,
  kernelSize: Ints,
  ...rest: Arguments<[stride: Ints | null, ceilMode: boolean], LPPoolOptions>,
];

/** A layer of Lp pooling. */
export interface LPPoolLayer extends Layer {
  readonly normType: number;
  readonly kernelSize: Ints;
  readonly stride: Ints | null;
  readonly ceilMode: boolean;
}

/** The class of a layer of Lp pooling. */
export interface LPPoolClass
  extends Constructor<
    [normType: number, kernelSize: Ints],
    [stride: Ints | null, ceilMode: boolean],
    LPPoolOptions,
    LPPoolLayer
  > {}

function lpPool(
  spatial: number,
  op: (
    input: Tensor,
    normType: number,
    kernelSize: Ints,
    stride: Ints | null,
    ceilMode: boolean,
  ) => Tensor,
): LPPoolClass {
  const kernelSize = perDimension(spatial, 1);
  const rules = { normType: number, kernelSize, ...lpPoolOptions(spatial) };
  return layer(
    rules,
    ["normType", "kernelSize", "stride", "ceilMode"] as [
      normType: "normType",
      kernelSize: "kernelSize",
      stride: "stride",
      ceilMode: "ceilMode",
    ],
    op,
  ) as LPPoolClass;
}

/** The norm of windows over the last dimension. */
export class LPPool1d extends lpPool(1, lpPool1d) {}

/** The norm of windows over the last two dimensions. */
export class LPPool2d extends lpPool(2, lpPool2d) {}

/** The norm of windows over the last three dimensions. */
export class LPPool3d extends lpPool(3, lpPool3d) {}
