import { type MixedArguments, readArguments } from "../../arguments/read.js";
import {
  boolean,
  count,
  type Options,
  oneOf,
  oneOrMore,
  positive,
  Rule,
  type Values,
} from "../../arguments/rule.js";
import type { Ints } from "../../dispatch/types.js";
import { interpolate } from "../../generated/ops.js";
import type { Tensor } from "../../tensor/tensor.js";
import { type ClassWith, declared } from "../layer.js";
import { formatArguments, formatFloat } from "../module_text.js";

const kFactor = new Rule<number | readonly number[]>(
  `${positive.expected}, or a list of them`,
  (value) =>
    Array.isArray(value)
      ? value.length > 0 && value.every(positive.accepts)
      : positive.accepts(value),
);

const kArguments = {
  /** The sizes of the result. */
  size: oneOrMore(count).orNull(),
  /** The sizes of the result as multiples of the input's. */
  scaleFactor: kFactor.orNull(),
  /** How values between elements are found; default "nearest". */
  mode: oneOf("nearest", "linear", "bilinear", "bicubic", "trilinear", "nearest-exact").or(
    "nearest",
  ),
  /** Align the centers of the corner elements of input and result. */
  alignCorners: boolean.orNull(),
  /** Compute with the ratio of the sizes, not with the given factor. */
  recomputeScaleFactor: boolean.orNull(),
};

/** Options of `Upsample`. */
export type UpsampleOptions = Options<typeof kArguments>;

/** How `Upsample` finds values between elements. */
export type UpsampleMode = typeof kArguments.mode.type;

/** Makes signals, images or volumes [batch, channels, ...] larger or smaller by interpolation. */
export class Upsample extends declared<
  ClassWith<
    [],
    [
      size: Ints | null,
      scaleFactor: number | readonly number[] | null,
      mode: UpsampleMode,
      alignCorners: boolean | null,
      recomputeScaleFactor: boolean | null,
    ],
    UpsampleOptions,
    typeof kArguments
  >,
  typeof kArguments
>(kArguments, checkTarget) {
  override forward(input: Tensor): Tensor {
    const { size, scaleFactor, mode, alignCorners, recomputeScaleFactor } = this;
    return interpolate(input, size, scaleFactor, mode, alignCorners, recomputeScaleFactor);
  }

  override extraRepr(): string {
    const { size, scaleFactor, mode } = this;
    const target = scaleFactor === null ? { size } : { scaleFactor: floats(scaleFactor) };
    return formatArguments([], { ...target, mode: `'${mode}'` });
  }
}

function checkTarget({ size, scaleFactor }: Values<typeof kArguments>): string | undefined {
  if ((size === null) !== (scaleFactor === null)) return undefined;
  return "pass either size or scaleFactor, not both.";
}

const kUpsamplingArguments = {
  /** The sizes of the result. */
  size: kArguments.size,
  /** The sizes of the result as multiples of the input's. */
  scaleFactor: kArguments.scaleFactor,
};

/** Options of `UpsamplingNearest2d` and `UpsamplingBilinear2d`. */
export type UpsamplingOptions = Options<typeof kUpsamplingArguments>;

/** Makes images larger by repeating pixels: `Upsample` of mode "nearest". */
export class UpsamplingNearest2d extends Upsample {
  constructor(size?: Ints | null, scaleFactor?: number | readonly number[] | null);
  constructor(
    ...rest: MixedArguments<
      [size: Ints | null, scaleFactor: number | readonly number[] | null],
      UpsamplingOptions
    >
  );
  constructor(options?: UpsamplingOptions);
  constructor(...given: unknown[]) {
    const target = readArguments(new.target.name, kUpsamplingArguments, given);
    super(target.size, target.scaleFactor, "nearest");
  }
}

/** Makes images larger by interpolation from corner to corner: `Upsample` of mode "bilinear" with `alignCorners`. */
export class UpsamplingBilinear2d extends Upsample {
  constructor(size?: Ints | null, scaleFactor?: number | readonly number[] | null);
  constructor(
    ...rest: MixedArguments<
      [size: Ints | null, scaleFactor: number | readonly number[] | null],
      UpsamplingOptions
    >
  );
  constructor(options?: UpsamplingOptions);
  constructor(...given: unknown[]) {
    const target = readArguments(new.target.name, kUpsamplingArguments, given);
    super(target.size, target.scaleFactor, "bilinear", true);
  }
}

function floats(values: number | readonly number[]): string {
  if (typeof values === "number") return formatFloat(values);
  const [first = 0] = values;
  return values.length === 1
    ? `(${formatFloat(first)},)`
    : `(${values.map(formatFloat).join(", ")})`;
}
