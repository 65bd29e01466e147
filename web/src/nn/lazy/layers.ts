// The lazy layers: LazyLinear is a Linear that takes the number of its input's features from its first input, and so on.

import type { Ints } from "../../dispatch/types.js";
import { empty } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Conv1d, Conv2d, Conv3d, type ConvOptions, type ConvPositions } from "../conv/conv.js";
import {
  ConvTranspose1d,
  ConvTranspose2d,
  ConvTranspose3d,
  type ConvTransposeOptions,
  type ConvTransposePositions,
} from "../conv/conv_transpose.js";
import { type Convolution, checkGroups, shapeOfWeight } from "../conv/convolution.js";
import type { LayerOptions } from "../layer_options.js";
import { Linear, type LinearOptions } from "../linear/linear.js";
import { entriesOf } from "../members.js";
import type { Module } from "../module.js";
import { BatchNorm1d, BatchNorm2d, BatchNorm3d } from "../norm/batch_norm.js";
import type { BatchNormArguments, ChannelNorm } from "../norm/channel_norm.js";
import { InstanceNorm1d, InstanceNorm2d, InstanceNorm3d } from "../norm/instance_norm.js";
import { Buffer, Parameter, shapelessOrNull } from "../parameter.js";
import { type LazyModule, LazyModuleMixin } from "./lazy_module.js";
import { UninitializedBuffer, UninitializedParameter } from "./uninitialized.js";

/** A layer whose parameters get their shapes from its first input. */
export interface LazyLayer extends LazyModule {
  initializeParameters(input: Tensor): void;
}

/** The class of a lazy layer. */
export interface LazyClass<Given extends readonly unknown[], Made extends Module> {
  new (...given: Given): Made & LazyLayer;
}

/** The class of a lazy layer that takes its options by position or by name. */
export interface LazyClassOfForms<
  Positional extends readonly unknown[],
  Named extends readonly unknown[],
  Made extends Module,
> {
  new (...given: Positional): Made & LazyLayer;
  // Last, because TypeScript compares a call that fits no form with this one: it names the option that was meant.
  new (...given: Named): Made & LazyLayer;
}

type Shapes = Readonly<Record<string, readonly number[]>>;

/** How the layers of a family depend on their input. */
interface Family<Usual extends Module> {
  /** The field that a usual layer is given as its first argument, and a lazy one reads off its input. */
  readonly field: keyof Usual & string;
  /** Returns the number that an input gives the field. */
  numberFrom(input: Tensor, layer: Usual): number;
  /** Returns the shapes of parameters and buffers. */
  shapesFor(number: number, layer: Usual): Shapes;
}

type Resettable = Module & { resetParameters(): void };

// Returns the lazy class of a class, whose first argument it does not take.
function lazy<Given extends readonly unknown[], Usual extends Resettable>(
  Base: abstract new (...given: never[]) => Usual,
  { field, numberFrom, shapesFor }: Family<Usual>,
): LazyClass<Given, Usual> {
  const Usual = Base as unknown as new (...given: unknown[]) => Resettable;
  class Lazy extends LazyModuleMixin(Usual) {
    static override clsToBecome = Usual;

    constructor(...given: unknown[]) {
      super(0, ...given);
      for (const [name, value] of entriesOf(this)) {
        if (value instanceof Parameter) {
          Reflect.set(this, name, new UninitializedParameter(kindOf(value)));
        } else if (value instanceof Buffer && value.ndim > 0) {
          Reflect.set(this, name, new UninitializedBuffer(kindOf(value)));
        } else continue;
        value.dispose();
      }
    }

    /** Draws new values; before the first call there is nothing to draw. */
    override resetParameters(): void {
      if (Reflect.get(this, field) !== 0 && !this.hasUninitializedParams()) super.resetParameters();
    }

    override initializeParameters(input: Tensor): void {
      tensorRule.check(this.constructor.name, "input", input);
      const layer = this as unknown as Usual;
      const number = numberFrom(input, layer);
      const areMade = this.hasUninitializedParams();
      materialize(layer, shapesFor(number, layer));
      Reflect.set(this, field, number);
      if (areMade) super.resetParameters();
    }
  }
  return Lazy as unknown as LazyClass<Given, Usual>;
}

function kindOf({ device, dtype }: Tensor) {
  return { device, dtype };
}

// Gives tensors of a layer their shapes: all are made before any is changed. They may have been loaded, but then all of them.
function materialize(layer: Module, shapes: Shapes): void {
  const { name } = layer.constructor;
  const own = entriesOf(layer).filter((entry): entry is [string, Tensor] => {
    return entry[0] in shapes && entry[1] !== null;
  });
  const open = own.flatMap(([member, tensor]) => {
    const target = shapelessOrNull(tensor);
    return target === null ? [] : [{ target, shape: shapes[member] as readonly number[] }];
  });
  if (open.length > 0 && open.length < own.length) {
    const reason = "some parameters have been loaded and others not: load all of them, or none.";
    fail("InvalidArgument", name, reason);
  }
  if (open.length === 0) {
    for (const [member, { shape }] of own) {
      if (String(shape) === String(shapes[member])) continue;
      const reason = `the input needs ${member} to have shape [${shapes[member]}], but one of shape [${shape}] has been loaded.`;
      fail("ShapeMismatch", name, reason);
    }
  }
  const made = open.map(({ target, shape }) => ({ target, data: empty(shape, kindOf(target)) }));
  for (const { target, data } of made) {
    target.takeFrom(data, true);
    data.dispose();
  }
}

function refuseInput(layer: Module, { ndim }: Tensor, expected: string): never {
  const reason = `expected an input with ${expected}, got one with ${ndim}.`;
  return fail("ShapeMismatch", layer.constructor.name, reason);
}

// The channels of an input [batch?, channels, ...] with `spatial` dimensions after them.
function channelsOf(input: Tensor, spatial: number, layer: Module): number {
  const { shape } = input;
  const isBatch = shape.length === spatial + 2;
  if (!isBatch && shape.length !== spatial + 1) {
    refuseInput(layer, input, `${spatial + 1} or ${spatial + 2} dimensions`);
  }
  return shape[isBatch ? 1 : 0] as number;
}

function lazyLinear(): LazyClassOfForms<
  [outFeatures: number, bias?: boolean, options?: LayerOptions],
  [outFeatures: number, options?: LinearOptions],
  Linear
> {
  return lazy<readonly unknown[], Linear>(Linear, {
    field: "inFeatures",
    numberFrom: (input, layer) =>
      input.shape.at(-1) ?? refuseInput(layer, input, "at least one dimension"),
    shapesFor: (number, { outFeatures }) => ({
      weight: [outFeatures, number],
      bias: [outFeatures],
    }),
  }) as never;
}

function lazyConv<Positions extends readonly unknown[], Named, Usual extends Convolution>(
  Base: abstract new (...given: never[]) => Usual,
  spatial: number,
  isTransposed: boolean,
): LazyClassOfForms<
  [outChannels: number, kernelSize: Ints, ...Positions],
  [outChannels: number, kernelSize: Ints, options?: Named],
  Usual
> {
  return lazy<readonly unknown[], Usual>(Base, {
    field: "inChannels",
    numberFrom: (input, layer) => {
      const channels = channelsOf(input, spatial, layer);
      checkGroups(layer.constructor.name, "the number of input channels", channels, layer.groups);
      return channels;
    },
    shapesFor: (inChannels, layer) => {
      const { outChannels, kernelSize, groups } = layer;
      const sizes = { inChannels, outChannels, kernelSize, groups };
      return { weight: shapeOfWeight(isTransposed, sizes), bias: [outChannels] };
    },
  }) as never;
}

function lazyNorm<Usual extends ChannelNorm>(
  Base: abstract new (...given: never[]) => Usual,
  numberFrom: (input: Tensor, layer: Usual) => number,
): LazyClass<BatchNormArguments, Usual> {
  return lazy(Base, {
    field: "numFeatures",
    numberFrom,
    shapesFor: (number) => ({
      weight: [number],
      bias: [number],
      running_mean: [number],
      running_var: [number],
    }),
  });
}

// `dims` are the numbers of dimensions that an input may have.
function lazyBatchNorm<Usual extends ChannelNorm>(
  Base: abstract new (...given: never[]) => Usual,
  ...dims: number[]
): LazyClass<BatchNormArguments, Usual> {
  return lazyNorm(Base, (input, layer) => {
    if (!dims.includes(input.ndim)) refuseInput(layer, input, `${dims.join(" or ")} dimensions`);
    return input.shape[1] as number;
  });
}

function lazyInstanceNorm<Usual extends ChannelNorm>(
  Base: abstract new (...given: never[]) => Usual,
  spatial: number,
): LazyClass<BatchNormArguments, Usual> {
  return lazyNorm(Base, (input, layer) => channelsOf(input, spatial, layer));
}

/** A `Linear` whose `inFeatures` is the size of the last dimension of its first input. */
export class LazyLinear extends lazyLinear() {}

/** A `Conv1d` whose `inChannels` is the number of channels of its first input. */
export class LazyConv1d extends lazyConv<ConvPositions, ConvOptions, Conv1d>(Conv1d, 1, false) {}

/** A `Conv2d` whose `inChannels` is the number of channels of its first input. */
export class LazyConv2d extends lazyConv<ConvPositions, ConvOptions, Conv2d>(Conv2d, 2, false) {}

/** A `Conv3d` whose `inChannels` is the number of channels of its first input. */
export class LazyConv3d extends lazyConv<ConvPositions, ConvOptions, Conv3d>(Conv3d, 3, false) {}

/** A `ConvTranspose1d` whose `inChannels` is the number of channels of its first input. */
export class LazyConvTranspose1d extends lazyConv<
  ConvTransposePositions,
  ConvTransposeOptions,
  ConvTranspose1d
>(ConvTranspose1d, 1, true) {}

/** A `ConvTranspose2d` whose `inChannels` is the number of channels of its first input. */
export class LazyConvTranspose2d extends lazyConv<
  ConvTransposePositions,
  ConvTransposeOptions,
  ConvTranspose2d
>(ConvTranspose2d, 2, true) {}

/** A `ConvTranspose3d` whose `inChannels` is the number of channels of its first input. */
export class LazyConvTranspose3d extends lazyConv<
  ConvTransposePositions,
  ConvTransposeOptions,
  ConvTranspose3d
>(ConvTranspose3d, 3, true) {}

/** A `BatchNorm1d` whose `numFeatures` is the number of channels of its first input. */
export class LazyBatchNorm1d extends lazyBatchNorm(BatchNorm1d, 2, 3) {}

/** A `BatchNorm2d` whose `numFeatures` is the number of channels of its first input. */
export class LazyBatchNorm2d extends lazyBatchNorm(BatchNorm2d, 4) {}

/** A `BatchNorm3d` whose `numFeatures` is the number of channels of its first input. */
export class LazyBatchNorm3d extends lazyBatchNorm(BatchNorm3d, 5) {}

/** An `InstanceNorm1d` whose `numFeatures` is the number of channels of its first input. */
export class LazyInstanceNorm1d extends lazyInstanceNorm(InstanceNorm1d, 1) {}

/** An `InstanceNorm2d` whose `numFeatures` is the number of channels of its first input. */
export class LazyInstanceNorm2d extends lazyInstanceNorm(InstanceNorm2d, 2) {}

/** An `InstanceNorm3d` whose `numFeatures` is the number of channels of its first input. */
export class LazyInstanceNorm3d extends lazyInstanceNorm(InstanceNorm3d, 3) {}
