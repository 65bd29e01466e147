// Layers that add a border to the last one, two or three dimensions.

import { readArguments } from "../../arguments/read.js";
import { integer, number, Rule } from "../../arguments/rule.js";
import type { Ints } from "../../dispatch/types.js";
import { pad } from "../../generated/ops.js";
import { fail } from "../../runtime/errors.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatArguments } from "../module_text.js";

/** Sizes before and after each dimension, from the last dimension on; negative ones take away. */
function bordersOf(spatial: number): Rule<Ints> {
  return new Rule<Ints>(`${integer.expected}, or a list of ${2 * spatial}`, (value) => {
    return Array.isArray(value)
      ? value.length === 2 * spatial && value.every(integer.accepts)
      : integer.accepts(value);
  });
}

abstract class Padding extends Module {
  readonly padding: readonly number[];

  constructor(spatial: number, padding: Ints) {
    super();
    this.padding =
      typeof padding === "number" ? new Array<number>(2 * spatial).fill(padding) : padding;
  }

  override forward(input: Tensor): Tensor {
    const { ndim } = tensorRule.check(this.constructor.name, "input", input);
    const spatial = this.padding.length / 2;
    const allowed = [spatial + 1, spatial + 2];
    if (this.checksDims() && !allowed.includes(ndim)) {
      const told = `expected ${allowed.join("D or ")}D input (got ${ndim}D input).`;
      fail("ShapeMismatch", this.constructor.name, told);
    }
    return this.extend(input);
  }

  protected checksDims(): boolean {
    return true;
  }

  protected abstract extend(input: Tensor): Tensor;

  /** Its arguments, for its text. */
  override extraRepr(): string {
    return formatArguments([this.padding]);
  }
}

abstract class ModePadding extends Padding {
  constructor(spatial: number, given: readonly unknown[]) {
    super(spatial, readArguments(new.target.name, { padding: bordersOf(spatial) }, given).padding);
  }
}

abstract class ReflectionPad extends ModePadding {
  protected override extend(input: Tensor): Tensor {
    return pad(input, this.padding, "reflect");
  }
}

/** Adds what lies before the border, mirrored, to a signal [batch?, channels, length]. */
export class ReflectionPad1d extends ReflectionPad {
  constructor(...given: [padding: Ints]) {
    super(1, given);
  }
}

/** Adds what lies before the border, mirrored, to an image [batch?, channels, rows, columns]. */
export class ReflectionPad2d extends ReflectionPad {
  constructor(...given: [padding: Ints]) {
    super(2, given);
  }
}

/** Adds what lies before the border, mirrored, to a volume [batch?, channels, depth, rows, columns]. */
export class ReflectionPad3d extends ReflectionPad {
  constructor(...given: [padding: Ints]) {
    super(3, given);
  }
}

abstract class ReplicationPad extends ModePadding {
  protected override extend(input: Tensor): Tensor {
    return pad(input, this.padding, "replicate");
  }
}

/** Repeats the elements at the ends of a signal [batch?, channels, length]. */
export class ReplicationPad1d extends ReplicationPad {
  constructor(...given: [padding: Ints]) {
    super(1, given);
  }
}

/** Repeats the elements at the border of an image [batch?, channels, rows, columns]. */
export class ReplicationPad2d extends ReplicationPad {
  constructor(...given: [padding: Ints]) {
    super(2, given);
  }
}

/** Repeats the elements at the border of a volume [batch?, channels, depth, rows, columns]. */
export class ReplicationPad3d extends ReplicationPad {
  constructor(...given: [padding: Ints]) {
    super(3, given);
  }
}

abstract class CircularPad extends ModePadding {
  protected override extend(input: Tensor): Tensor {
    return pad(input, this.padding, "circular");
  }
}

/** Adds to each end of a signal [batch?, channels, length] what lies at the other. */
export class CircularPad1d extends CircularPad {
  constructor(...given: [padding: Ints]) {
    super(1, given);
  }
}

/** Adds to each border of an image [batch?, channels, rows, columns] what lies at the other. */
export class CircularPad2d extends CircularPad {
  constructor(...given: [padding: Ints]) {
    super(2, given);
  }
}

/** Adds to each border of a volume [batch?, channels, depth, rows, columns] what lies at the other. */
export class CircularPad3d extends CircularPad {
  constructor(...given: [padding: Ints]) {
    super(3, given);
  }
}

abstract class FilledPad extends Padding {
  readonly value: number;

  constructor(spatial: number, padding: Ints, value: number) {
    super(spatial, padding);
    this.value = value;
  }

  protected override checksDims(): boolean {
    return false;
  }

  protected override extend(input: Tensor): Tensor {
    return pad(input, this.padding, "constant", this.value);
  }
}

abstract class ConstantPad extends FilledPad {
  constructor(spatial: number, given: readonly unknown[]) {
    const rules = { padding: bordersOf(spatial), value: number };
    const { padding, value } = readArguments(new.target.name, rules, given);
    super(spatial, padding, value);
  }

  /** Its arguments, for its text. */
  override extraRepr(): string {
    return formatArguments([], { padding: this.padding, value: this.value });
  }
}

/** Adds `value` at the ends of the last dimension. */
export class ConstantPad1d extends ConstantPad {
  constructor(...given: [padding: Ints, value: number]) {
    super(1, given);
  }
}

/** Adds `value` around the last two dimensions. */
export class ConstantPad2d extends ConstantPad {
  constructor(...given: [padding: Ints, value: number]) {
    super(2, given);
  }
}

/** Adds `value` around the last three dimensions. */
export class ConstantPad3d extends ConstantPad {
  constructor(...given: [padding: Ints, value: number]) {
    super(3, given);
  }
}

abstract class ZeroPad extends FilledPad {
  constructor(spatial: number, given: readonly unknown[]) {
    const rules = { padding: bordersOf(spatial) };
    super(spatial, readArguments(new.target.name, rules, given).padding, 0);
  }
}

/** Adds zeros at the ends of the last dimension. */
export class ZeroPad1d extends ZeroPad {
  constructor(...given: [padding: Ints]) {
    super(1, given);
  }
}

/** Adds zeros around the last two dimensions. */
export class ZeroPad2d extends ZeroPad {
  constructor(...given: [padding: Ints]) {
    super(2, given);
  }
}

/** Adds zeros around the last three dimensions. */
export class ZeroPad3d extends ZeroPad {
  constructor(...given: [padding: Ints]) {
    super(3, given);
  }
}
