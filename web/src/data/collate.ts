// Making a batch of samples, as PyTorch's default_collate does: what lies at the same place in every sample is put
// together. Samples that do not have the same form are refused, with the sample and the place in it.

import { isPlainObject } from "../arguments/read.js";
import { stack } from "../generated/ops.js";
import { fromElements, type NumericArray, tensor } from "../ops/create.js";
import { describe, type ErrorCode, fail } from "../runtime/errors.js";
import { fitsInt64 } from "../tensor/dtype.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";

/** Lists that nest deeper may hold themselves. */
const kMaxDepth = 64;

/** What samples are called in messages: their positions in the dataset, or in the list where there are none. */
export type SampleNumbers = readonly number[];

/**
 * Makes one batch of a list of samples, as a DataLoader does by default: tensors and typed arrays are stacked, numbers,
 * bigints and booleans become tensors, texts a list; lists, Maps and plain objects are gone through.
 */
export function defaultCollate<Batch = unknown>(samples: readonly unknown[]): Batch {
  if (!Array.isArray(samples)) {
    const told = `samples: expected a list of samples, got ${describe(samples)}.`;
    fail("InvalidArgument", "defaultCollate", told);
  }
  return collate("defaultCollate", samples, [...samples.keys()]);
}

/** Makes one batch of samples, which errors of `where` call by their numbers. */
export function collate<Batch>(
  where: string,
  samples: readonly unknown[],
  numbers: SampleNumbers,
): Batch {
  if (samples.length === 0)
    fail("InvalidArgument", where, "there are no samples to make a batch of.");
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
      this.refuse("InvalidArgument", 0, path.slice(0, 3), `nests deeper than ${kMaxDepth} levels`);
    }
    const kinds = values.map((value, i) => this.kindOf(value, i, path));
    this.same(kinds, path, (one) => `is ${one}`, "InvalidArgument");
    return this.#kinds[kinds[0] as string]?.(values as never[], path);
  }

  // What there is a rule for, by the words of messages.
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
        if (!fitsInt64(value)) this.refuse("InvalidArgument", i, path, "is no int64");
      });
      return fromElements("int64", [values.length], BigInt64Array.from(values));
    },
    "a boolean": (values: readonly boolean[]) => tensor(values),
    "a text": (values) => values,
    "a list": (values: readonly (readonly unknown[])[], path) => {
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
      const told = (has: string, key: unknown, other: string) =>
        this.refuse("InvalidArgument", i, path, `${has} ${describe(key)}, ${other}`);
      if (missing !== undefined) told("lacks", missing, `which sample ${this.numbers[0]} has`);
      if (extra !== undefined) told("has", extra, `which sample ${this.numbers[0]} lacks`);
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
    told: (one: T) => string,
    code: ErrorCode = "ShapeMismatch",
  ): void {
    const first = found[0] as T;
    const other = found.findIndex((one) => one !== first);
    if (other < 0) return;
    const difference = `${told(found[other] as T)} where sample ${this.numbers[0]} ${told(first)}`;
    this.refuse(code, other, path, difference);
  }

  private kindOf(value: unknown, sample: number, path: Path): string {
    const kind = kindOf(value);
    if (kind !== null) return kind;
    const told =
      `is ${describe(value)}, but a batch is made of tensors, typed arrays, numbers, bigints, booleans, texts, ` +
      "and of lists, Maps and plain objects of them";
    return this.refuse("InvalidArgument", sample, path, told);
  }

  private refuse(code: ErrorCode, sample: number, path: Path, told: string): never {
    const place = path
      .map((step) => (typeof step === "number" ? `[${step}]` : `.${step}`))
      .join("");
    const what = `sample ${this.numbers[sample]}${place === "" ? "" : ` at ${place}`}`;
    const advice = "Give all samples the same form, or make batches by a collateFn.";
    fail(code, this.where, `${what} ${told}. ${advice}`);
  }
}

const kPrimitives: Readonly<Record<string, string>> = {
  number: "a number",
  bigint: "a bigint",
  boolean: "a boolean",
  string: "a text",
};

function kindOf(value: unknown): string | null {
  if (typeof value !== "object") return kPrimitives[typeof value] ?? null;
  if (value instanceof Tensor) return "a tensor";
  if (Array.isArray(value)) return "a list";
  if (ArrayBuffer.isView(value)) return value instanceof DataView ? null : "a typed array";
  if (value instanceof Map) return "a Map";
  return isPlainObject(value) ? "an object" : null;
}

// Whole numbers are class numbers, as in PyTorch.
function numbersTensor(values: readonly number[]): Tensor {
  const areWhole = values.every(Number.isSafeInteger);
  return tensor(values, areWhole ? { dtype: "int64" } : {});
}
