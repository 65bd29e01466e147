// Parameters and buffers whose shape is not known yet. They have no handle; with their first shape they become a Parameter or Buffer,
// as the same objects, so that optimizers that have them continue.

import { readArguments } from "../../arguments/read.js";
import { boolean, type Options, oneOrMore, size } from "../../arguments/rule.js";
import { noGrad } from "../../autograd/grad_mode.js";
import { copy_, empty } from "../../generated/ops.js";
import type { ToOptions } from "../../ops/to.js";
import { checked, native } from "../../runtime/bridge/bridge.js";
import { fail } from "../../runtime/errors/errors.js";
import { getDefaultDtype } from "../../tensor/default_dtype.js";
import {
  type Device,
  type DType,
  deviceRule,
  dtypeRule,
  isComplex,
  isFloat,
} from "../../tensor/dtype.js";
import { handleOf, kNoHandle } from "../../tensor/info.js";
import { replaceHandle } from "../../tensor/lifetime.js";
import { Tensor } from "../../tensor/tensor.js";
import { Buffer, Parameter, type Shapeless, shapelessOrNull } from "../parameter.js";

const kKind = {
  /** Where it will be; default "cpu". */
  device: deviceRule.or("cpu"),
  /** Its element type; default the default dtype. */
  dtype: dtypeRule.orNull(),
};

const kParameterArguments = {
  /** Whether it gets a gradient; default true. */
  requiresGrad: boolean.or(true),
  ...kKind,
};

const kBufferArguments = {
  /** Whether it gets a gradient; default false. */
  requiresGrad: boolean.or(false),
  ...kKind,
  /** Include it in the state dict; default true. */
  persistent: boolean.or(true),
};

const kMaterializeArguments = {
  shape: oneOrMore(size),
  /** Where it is; default where it was to be. */
  device: deviceRule.orNull(),
  /** Its element type; default the one that it was to have. */
  dtype: dtypeRule.orNull(),
};

/** Options of `materialize()`. */
export type MaterializeOptions = Options<Pick<typeof kMaterializeArguments, "device" | "dtype">>;

/** Options of `UninitializedParameter`. */
export type UninitializedParameterOptions = Options<typeof kParameterArguments>;

/** Options of `UninitializedBuffer`. */
export type UninitializedBufferOptions = Options<typeof kBufferArguments>;

/** The properties and methods of parameters and buffers without a shape. */
export interface Uninitialized extends Shapeless {
  /** Gives it a shape, and memory that is not set. It becomes a usual parameter or buffer. */
  materialize(shape: number | readonly number[], options?: MaterializeOptions): void;
}

interface Kind {
  readonly requiresGrad: boolean;
  readonly device: Device;
  readonly dtype: DType | null;
}

// Returns a class of `Base` whose constructor makes an object without data, which the constructor of `Base` would want.
function withoutData<T extends Tensor>(Base: { readonly prototype: T }): new () => T {
  function Made(): object {
    return Reflect.construct(Tensor, [kNoHandle], new.target);
  }
  Object.setPrototypeOf(Made, Base);
  Made.prototype = Object.create(Base.prototype);
  return Made as unknown as new () => T;
}

// `Usual` is the class that the tensor has once its shape is known.
function uninitialized<T extends Tensor>(Usual: {
  readonly prototype: T;
}): new (
  kind: Kind,
) => T & Uninitialized {
  class Shapeless extends (withoutData(Usual) as new () => Tensor) implements Uninitialized {
    #requiresGrad: boolean;
    #device: Device;
    #dtype: DType;

    constructor({ requiresGrad, device, dtype }: Kind) {
      super();
      this.#requiresGrad = requiresGrad;
      this.#device = device;
      this.#dtype = dtype ?? getDefaultDtype();
    }

    override get device(): Device {
      return this.#device;
    }

    override get dtype(): DType {
      return this.#dtype;
    }

    override get requiresGrad(): boolean {
      return this.#requiresGrad;
    }

    override set requiresGrad(value: boolean) {
      this.#requiresGrad = boolean.check("requiresGrad", "value", value);
    }

    override get isLeaf(): boolean {
      return true;
    }

    materialize(shape: number | readonly number[], ...rest: [options?: MaterializeOptions]): void {
      const own = readArguments("materialize", kMaterializeArguments, [shape, ...rest]);
      const sizes = typeof own.shape === "number" ? [own.shape] : own.shape;
      const kind = { device: own.device ?? this.#device, dtype: own.dtype ?? this.#dtype };
      const data = noGrad(() => empty(sizes, kind));
      this.takeFrom(data, true);
      data.dispose();
    }

    takeFrom(source: Tensor, shares: boolean): void {
      if (shapelessOrNull(source) !== null) return;
      if (!shares) {
        this.materialize(source.shape);
        noGrad(() => copy_(this, source));
        return;
      }
      replaceHandle(this, checked(native.data(handleOf(source))));
      Object.setPrototypeOf(this, Usual.prototype);
      this.requiresGrad = this.#requiresGrad;
    }

    convertTo({ device, dtype }: ToOptions): void {
      if (device !== undefined) this.#device = device;
      if (dtype !== undefined && (isFloat(this.#dtype) || isComplex(this.#dtype))) {
        this.#dtype = dtype;
      }
    }

    copy(): Tensor {
      const { requiresGrad, device, dtype } = this;
      const persistent = Reflect.get(this, "persistent");
      const options = persistent === undefined ? {} : { persistent };
      return Reflect.construct(this.constructor, [{ requiresGrad, device, dtype, ...options }]);
    }

    // What a state dict has in its place.
    override detach(): this {
      return this;
    }

    override get grad(): Tensor | null {
      return null;
    }

    override set grad(value: Tensor | null) {
      if (value !== null) this.refuseUse();
    }

    override toString(): string {
      return `<${this.constructor.name}>`;
    }

    refuseUse(): never {
      fail(
        "InvalidArgument",
        this.constructor.name,
        "this tensor has no shape and no values yet: call its module with an input first, or give it a shape with materialize().",
      );
    }
  }
  return Shapeless as unknown as new (
    kind: Kind,
  ) => T & Uninitialized;
}

/** A parameter that gets its shape later, from the first input of its module: see `LazyModuleMixin`. */
export class UninitializedParameter extends uninitialized(Parameter) {
  constructor(requiresGrad: boolean, options?: UninitializedParameterOptions);
  constructor(options?: UninitializedParameterOptions);
  constructor(...given: unknown[]) {
    super(readArguments(new.target.name, kParameterArguments, given));
  }
}

/** A buffer that gets its shape later, from the first input of its module: see `LazyModuleMixin`. */
export class UninitializedBuffer extends uninitialized(Buffer) {
  constructor(requiresGrad: boolean, options?: UninitializedBufferOptions);
  constructor(options?: UninitializedBufferOptions);
  constructor(...given: unknown[]) {
    const { persistent, ...kind } = readArguments(new.target.name, kBufferArguments, given);
    super(kind);
    Reflect.set(this, "persistent", persistent);
  }
}
