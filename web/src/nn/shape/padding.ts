// Layers that add a border to the last one, two or three dimensions.

import { readArguments } from "../../arguments/read.js";
import { integer, number, Rule, type Rules } from "../../arguments/rule.js";
import type { Ints } from "../../dispatch/types.js";
import { pad } from "../../generated/ops.js";
import { fail } from "../../runtime/errors/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import type { Layer } from "../layer.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

/** Sizes before and after each dimension, from the last dimension on; negative ones remove elements. */
function bordersOf(spatial: number): Rule<Ints> {
  return new Rule<Ints>(`${integer.expected}, or a list of ${2 * spatial}`, (value) => {
    return Array.isArray(value)
      ? value.length === 2 * spatial && value.every(integer.accepts)
      : integer.accepts(value);
  });
}

/** A layer that adds a border. */
export interface PaddingLayer extends Layer {
  /** The sizes before and after each dimension, from the last dimension on. */
  readonly padding: readonly number[];
}

/** The class of a layer whose border is made of elements of the input. */
export interface PaddingClass {
  new (...given: [padding: Ints]): PaddingLayer;
}

/** A layer that adds a border of one value. */
export interface FilledPaddingLayer extends PaddingLayer {
  /** The value of the border. */
  readonly value: number;
}

/** The class of a layer that adds a border of a given value. */
export interface ConstantPaddingClass {
  new (...given: [padding: Ints, value: number]): FilledPaddingLayer;
}

/** The class of a layer that adds a border of zeros. */
export interface ZeroPaddingClass {
  new (...given: [padding: Ints]): FilledPaddingLayer;
}

/** Returns the class of a layer around as many dimensions, whose constructor takes `rules` after the padding. */
function paddingLayer(
  spatial: number,
  mode: "constant" | "reflect" | "replicate" | "circular",
  rules: Rules = {},
): new (
  ...given: readonly unknown[]
) => PaddingLayer {
  const all: Rules = { padding: bordersOf(spatial), ...rules };
  return class extends Module {
    readonly padding: readonly number[];
    declare readonly value?: number;

    constructor(...given: readonly unknown[]) {
      super();
      const { padding, ...rest } = readArguments(new.target.name, all, given);
      this.padding = Array.isArray(padding) ? padding : new Array(2 * spatial).fill(padding);
      if (mode === "constant") Object.assign(this, { value: 0, ...rest });
    }

    override forward(input: Tensor): Tensor {
      if (mode === "constant") return pad(input, this.padding, mode, this.value);
      const { ndim } = tensorRule.check(this.constructor.name, "input", input);
      if (ndim !== spatial + 1 && ndim !== spatial + 2) {
        const message = `expected a ${spatial + 1}D or ${spatial + 2}D input, got ${ndim}D.`;
        fail("ShapeMismatch", this.constructor.name, message);
      }
      return pad(input, this.padding, mode);
    }

    override extraRepr(): string {
      const { padding, value } = this;
      return "value" in rules
        ? formatArguments([], { padding, value })
        : formatArguments([padding]);
    }
  };
}

function reflectionPad(spatial: number): PaddingClass {
  return paddingLayer(spatial, "reflect");
}

function replicationPad(spatial: number): PaddingClass {
  return paddingLayer(spatial, "replicate");
}

function circularPad(spatial: number): PaddingClass {
  return paddingLayer(spatial, "circular");
}

function constantPad(spatial: number): ConstantPaddingClass {
  return paddingLayer(spatial, "constant", { value: number }) as ConstantPaddingClass;
}

function zeroPad(spatial: number): ZeroPaddingClass {
  return paddingLayer(spatial, "constant") as ZeroPaddingClass;
}

/** Adds the elements next to the border, mirrored, to a signal [batch?, channels, length]. */
export class ReflectionPad1d extends reflectionPad(1) {}

/** Adds the elements next to the border, mirrored, to an image [batch?, channels, rows, columns]. */
export class ReflectionPad2d extends reflectionPad(2) {}

/** Adds the elements next to the border, mirrored, to a volume [batch?, channels, depth, rows, columns]. */
export class ReflectionPad3d extends reflectionPad(3) {}

/** Repeats the elements at the ends of a signal [batch?, channels, length]. */
export class ReplicationPad1d extends replicationPad(1) {}

/** Repeats the elements at the border of an image [batch?, channels, rows, columns]. */
export class ReplicationPad2d extends replicationPad(2) {}

/** Repeats the elements at the border of a volume [batch?, channels, depth, rows, columns]. */
export class ReplicationPad3d extends replicationPad(3) {}

/** Adds to each end of a signal [batch?, channels, length] the elements of the other end. */
export class CircularPad1d extends circularPad(1) {}

/** Adds to each border of an image [batch?, channels, rows, columns] the elements of the opposite one. */
export class CircularPad2d extends circularPad(2) {}

/** Adds to each border of a volume [batch?, channels, depth, rows, columns] the elements of the opposite one. */
export class CircularPad3d extends circularPad(3) {}

/** Adds `value` at the ends of the last dimension. */
export class ConstantPad1d extends constantPad(1) {}

/** Adds `value` around the last two dimensions. */
export class ConstantPad2d extends constantPad(2) {}

/** Adds `value` around the last three dimensions. */
export class ConstantPad3d extends constantPad(3) {}

/** Adds zeros at the ends of the last dimension. */
export class ZeroPad1d extends zeroPad(1) {}

/** Adds zeros around the last two dimensions. */
export class ZeroPad2d extends zeroPad(2) {}

/** Adds zeros around the last three dimensions. */
export class ZeroPad3d extends zeroPad(3) {}
