// The options of all layers with parameters, and how their parameters are made.

import { type Options, Rule, type Values, wholeFrom } from "../arguments/rule.js";
import { EdgeGradError, renamed } from "../runtime/errors/errors.js";
import { deviceRule, dtypeRule } from "../tensor/dtype.js";
import type { Tensor } from "../tensor/tensor.js";
import { type Buffer, bufferFrom, type Parameter, parameterFrom } from "./parameter.js";

/**
 * The last arguments of every layer with parameters. The type of a layer's options names them again, `Options<typeof kOptions &
 * typeof kLayerArguments>`: TypeScript writes no documentation of what is spread from another file into a declaration file.
 */
export const kLayerArguments = {
  /** Where the parameters are; default "cpu". */
  device: deviceRule.or("cpu"),
  /** The element type of the parameters; default "float32". */
  dtype: dtypeRule.orNull(),
};

/** The device and the element type of the parameters of a layer. */
export type LayerOptions = Options<typeof kLayerArguments>;

/** LayerOptions with nothing left out. */
export type LayerKind = Values<typeof kLayerArguments>;

type TensorOfLayer = [
  layer: string,
  make: (size: readonly number[], kind: LayerKind) => Tensor,
  size: readonly number[],
  kind: LayerKind,
];

/** Makes a parameter of a layer. */
export function parameterOf(...args: TensorOfLayer): Parameter {
  return parameterFrom(tensorOf(...args));
}

/** Makes a buffer of a layer. */
export function bufferOf(...args: TensorOfLayer): Buffer {
  return bufferFrom(tensorOf(...args));
}

// An error names the layer instead of the op.
function tensorOf(...[layer, make, size, { device, dtype }]: TensorOfLayer): Tensor {
  try {
    return make(size, { device, dtype });
  } catch (error) {
    throw EdgeGradError.isOne(error) ? renamed(error, layer) : error;
  }
}

/** A number for each of `spatial` dimensions, or one for all, each at least `low`. */
export function perDimension(spatial: number, low: number): Rule<number | readonly number[]> {
  const whole = wholeFrom(low);
  const many = spatial === 1 ? "a list of one" : `a list of ${spatial}`;
  return new Rule(`${whole.expected}, or ${many}`, (value) => {
    return Array.isArray(value)
      ? value.length === spatial && value.every(whole.accepts)
      : whole.accepts(value);
  });
}
