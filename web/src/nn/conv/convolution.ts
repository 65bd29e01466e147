// The parameters and arguments that all convolutions share.

import { size } from "../../arguments/rule.js";
import type { Ints } from "../../dispatch/types.js";
import { empty } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { needsPart } from "../../runtime/start/parts.js";
import { fans, kaimingUniform_, uniform_ } from "../init.js";
import { type LayerKind, parameterOf, perDimension } from "../layer_options.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";
import type { Parameter } from "../parameter.js";

needsPart("conv");

/** The first arguments of a convolution, as a declaration. */
export function sizesOf(spatial: number) {
  return { inChannels: size, outChannels: size, kernelSize: perDimension(spatial, 1) };
}

/** The first arguments of a convolution. */
export type Sizes = [inChannels: number, outChannels: number, kernelSize: Ints];

interface SharedValues extends LayerKind {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly kernelSize: Ints;
  readonly stride: Ints;
  readonly dilation: Ints;
  readonly groups: number;
  readonly bias: boolean;
}

/** Fails unless `groups` divides a number of channels. */
export function checkGroups(where: string, what: string, channels: number, groups: number): void {
  if (channels % groups === 0) return;
  const reason = `${what} must be divisible by groups, got ${channels} and ${groups}.`;
  fail("InvalidArgument", where, reason);
}

/** Returns the shape of the weight of a convolution. */
export function shapeOfWeight(
  isTransposed: boolean,
  {
    inChannels,
    outChannels,
    kernelSize,
    groups,
  }: Pick<Convolution, "inChannels" | "outChannels" | "kernelSize" | "groups">,
): readonly number[] {
  const [first, second] = isTransposed ? [inChannels, outChannels] : [outChannels, inChannels];
  return [first, second / groups, ...kernelSize];
}

/** The parameters of a convolution, and how they are drawn. */
export abstract class Convolution extends Module {
  readonly inChannels: number;
  readonly outChannels: number;
  readonly kernelSize: readonly number[];
  readonly stride: readonly number[];
  readonly dilation: readonly number[];
  readonly groups: number;
  weight: Parameter;
  bias: Parameter | null;

  constructor(spatial: number, isTransposed: boolean, values: SharedValues) {
    super();
    const name = new.target.name;
    const { inChannels, outChannels, groups, device, dtype } = values;
    checkGroups(name, "inChannels", inChannels, groups);
    checkGroups(name, "outChannels", outChannels, groups);
    this.inChannels = inChannels;
    this.outChannels = outChannels;
    this.kernelSize = spread(values.kernelSize, spatial);
    this.stride = spread(values.stride, spatial);
    this.dilation = spread(values.dilation, spatial);
    this.groups = groups;
    const kind = { device, dtype };
    this.weight = parameterOf(name, empty, shapeOfWeight(isTransposed, this), kind);
    this.bias = values.bias ? parameterOf(name, empty, [outChannels], kind) : null;
    this.resetParameters();
  }

  /** Draws new weights and biases. */
  resetParameters(): void {
    if (this.weight.numel > 0) kaimingUniform_(this.weight, { a: Math.sqrt(5) });
    if (this.bias === null) return;
    const { fanIn } = fans(this.weight);
    if (fanIn === 0) return;
    uniform_(this.bias, -1 / Math.sqrt(fanIn), 1 / Math.sqrt(fanIn));
  }
}

/** Returns the text of a convolution's arguments, without defaults that PyTorch omits. */
export function formatConvolution(
  layer: Convolution,
  rest: { padding: Ints | string; outputPadding?: Ints; paddingMode?: string },
): string {
  const { kernelSize, stride, dilation, groups, bias } = layer;
  const { padding, outputPadding = 0, paddingMode = "zeros" } = rest;
  return formatArguments([layer.inChannels, layer.outChannels], {
    kernelSize,
    stride,
    padding: unlessAll(0, padding),
    dilation: unlessAll(1, dilation),
    outputPadding: unlessAll(0, outputPadding),
    groups: unlessAll(1, groups),
    bias: bias === null ? false : undefined,
    paddingMode: paddingMode === "zeros" ? undefined : paddingMode,
  });
}

function unlessAll<T extends Ints | string>(usual: number, values: T): T | undefined {
  const isUsual =
    typeof values === "object" ? values.every((value) => value === usual) : values === usual;
  return isUsual ? undefined : values;
}

/** Returns a number for each dimension. */
export function spread(values: Ints, spatial: number): readonly number[] {
  return typeof values === "number" ? new Array<number>(spatial).fill(values) : values;
}
