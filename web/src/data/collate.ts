// Making a batch of samples, like PyTorch's default_collate: the values at the same path in all samples are
// combined. If the samples differ in structure, the error names the sample and the path.

import { isPlainObject, readNothing } from "../arguments/read.js";
import { stack } from "../generated/ops.js";
import { fromElements, type NumericArray, tensor } from "../ops/create.js";
import { describe, type ErrorCode, fail } from "../runtime/errors/errors.js";
import { isMap, isTypedArray } from "../runtime/host/realm.js";
import { fitsInt64 } from "../tensor/dtype.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import type { Collated } from "./collated.js";

/** The maximum nesting depth, which stops at arrays that contain themselves. */
const kMaxDepth = 64;

/** The numbers of the samples in messages: their indices in the dataset, or else their positions in the array. */
export type SampleNumbers = readonly number[];

/**
 * Makes one batch of an array of samples, as a DataLoader does by default: tensors and typed arrays are stacked; numbers,
 * bigints and booleans become tensors; strings become an array; arrays, Maps and plain objects are combined element by
 * element.
 */
export function defaultCollate<Sample>(samples: readonly Sample[], ...rest: []): Collated<Sample> {
  readNothing("defaultCollate", rest);
  if (!Array.isArray(samples)) {
    const message = `samples: expected an array of samples, got ${describe(samples)}.`;
    fail("InvalidArgument", "defaultCollate", message);
  }
  return collate("defaultCollate", samples, [...samples.keys()]);
}

/** Makes one batch of samples; errors of `where` refer to the samples by `numbers`. */
export function collate<Batch>(
  where: string,
  samples: readonly unknown[],
  numbers: SampleNumbers,
): Batch {
  if (samples.length === 0)
    fail("InvalidArgument", where, "samples: expected at least one sample.");
  return scope(() => new Collation(where, numbers).together(samples, [])) as Batch;
}

type Path = readonly (string | number)[];

class Collation {
  constructor(
    private readonly where: string,
    private readonly numbers: SampleNumbers,
  ) {}

  together(values: readonly unknown[], path: Path): unknown {
    if (path.length > kMaxDepth) {
      const message = `is nested deeper than ${kMaxDepth} levels`;
      this.refuse("InvalidArgument", 0, path.slice(0, 3), message);
    }
    const kinds = values.map((value, i) => this.kindOf(value, i, path));
    this.same(kinds, path, (kind) => `is ${kind}`, "InvalidArgument");
    return this.#kinds[kinds[0] as string]?.(values as never[], path);
  }

  // The functions that combine values of each kind; the keys are the names of the kinds in messages.
  readonly #kinds: Record<string, (values: readonly never[], path: Path) => unknown> = {
    "a tensor": (values: readonly Tensor[], path) => this.stacked(values, path),
    "a typed array": (values: readonly NumericArray[], path) => {
      return this.stacked(
        values.map((value) => tensor(value)),
        path,
      );
    },
    "a number": (values: readonly number[]) => numbersTensor(values),
    "a bigint": (values: readonly bigint[], path) => {
      values.forEach((value, i) => {
        if (!fitsInt64(value)) this.refuse("InvalidArgument", i, path, "does not fit in an int64");
      });
      return fromElements("int64", [values.length], BigInt64Array.from(values));
    },
    "a boolean": (values: readonly boolean[]) => tensor(values),
    "a string": (values) => values,
    "an array": (values: readonly (readonly unknown[])[], path) => {
      const lengths = values.map(({ length }) => length);
      this.same(lengths, path, (length) => `has ${length} elements`);
      return Array.from(values[0] as readonly unknown[], (_, i) => {
        return this.together(
          values.map((value) => value[i]),
          [...path, i],
        );
      });
    },
    "a Map": (values: readonly ReadonlyMap<unknown, unknown>[], path) => {
      return new Map(this.entries(values, path));
    },
    "an object": (values: readonly Record<string, unknown>[], path) => {
      const maps = values.map((value) => new Map(Object.entries(value)));
      return Object.fromEntries(this.entries(maps, path) as [string, unknown][]);
    },
  };

  private entries(
    maps: readonly ReadonlyMap<unknown, unknown>[],
    path: Path,
  ): [unknown, unknown][] {
    const first = maps[0] as ReadonlyMap<unknown, unknown>;
    maps.forEach((map, i) => {
      const missing = [...first.keys()].find((key) => !map.has(key));
      const extra = [...map.keys()].find((key) => !first.has(key));
      const message = (has: string, key: unknown, other: string) =>
        this.refuse("InvalidArgument", i, path, `${has} ${describe(key)}, ${other}`);
      if (missing !== undefined) message("lacks", missing, `which sample ${this.numbers[0]} has`);
      if (extra !== undefined) message("has", extra, `which sample ${this.numbers[0]} lacks`);
    });
    return [...first.keys()].map((key) => {
      const step = typeof key === "number" ? key : String(key);
      return [
        key,
        this.together(
          maps.map((map) => map.get(key)),
          [...path, step],
        ),
      ];
    });
  }

  private stacked(values: readonly Tensor[], path: Path): Tensor {
    const shapes = values.map(({ shape }) => String(shape));
    this.same(shapes, path, (shape) => `has shape [${shape}]`);
    const devices = values.map(({ device }) => device);
    this.same(devices, path, (device) => `is on "${device}"`, "DeviceMismatch");
    return stack(values, 0);
  }

  private same<T>(
    found: readonly T[],
    path: Path,
    message: (value: T) => string,
    code: ErrorCode = "ShapeMismatch",
  ): void {
    const first = found[0] as T;
    const other = found.findIndex((item) => item !== first);
    if (other < 0) return;
    const difference = `${message(found[other] as T)} where sample ${this.numbers[0]} ${message(first)}`;
    this.refuse(code, other, path, difference);
  }

  private kindOf(value: unknown, sample: number, path: Path): string {
    const kind = kindOf(value);
    if (kind !== null) return kind;
    const message =
      `is ${describe(value)}, but samples may only contain tensors, typed arrays, numbers, bigints, booleans, strings, ` +
      "and arrays, Maps and plain objects of these";
    return this.refuse("InvalidArgument", sample, path, message);
  }

  private refuse(code: ErrorCode, sample: number, path: Path, message: string): never {
    const at = path.map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`)).join("");
    const what = `sample ${this.numbers[sample]}${at === "" ? "" : ` at ${at}`}`;
    const advice = "Give all samples the same structure, or make batches with a collateFn.";
    fail(code, this.where, `${what} ${message}. ${advice}`);
  }
}

const kPrimitives: Readonly<Record<string, string>> = {
  number: "a number",
  bigint: "a bigint",
  boolean: "a boolean",
  string: "a string",
};

function kindOf(value: unknown): string | null {
  if (typeof value !== "object") return kPrimitives[typeof value] ?? null;
  if (value instanceof Tensor) return "a tensor";
  if (Array.isArray(value)) return "an array";
  if (ArrayBuffer.isView(value)) return isTypedArray(value) ? "a typed array" : null;
  if (isMap(value)) return "a Map";
  return isPlainObject(value) ? "an object" : null;
}

// Whole numbers become int64, like Python's integers in PyTorch, so that they can be class labels.
function numbersTensor(values: readonly number[]): Tensor {
  const areWhole = values.every(Number.isSafeInteger);
  return tensor(values, areWhole ? { dtype: "int64" } : {});
}
