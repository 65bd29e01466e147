// Assertions on tensors and structures of them, after torch.testing.assert_close.

import { isPlainObject, readOptions } from "../arguments/read.js";
import { boolean, either, functionOf, number, type Options, text } from "../arguments/rule.js";
import { type TensorData, tensor } from "../ops/create.js";
import { describe, type ErrorCode, fail } from "../runtime/errors/errors.js";
import { isMap, isTypedArray } from "../runtime/host/realm.js";
import type { Item } from "../tensor/elements.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { elementsIn } from "./elements.js";
import { differences, type Elements } from "./report.js";
import { givenTolerance, type Tolerance, toleranceFor } from "./tolerance.js";

const kName = "assertClose";

const kOptions = {
  /** The allowed difference relative to the expected element; default: that of the dtype. Requires `atol`. */
  rtol: number.optional(),
  /** The allowed absolute difference; default: that of the dtype. Requires `rtol`. */
  atol: number.optional(),
  /** Whether NaN is close to NaN; default false. */
  equalNan: boolean.or(false),
  /** Whether the tensors must be on the same device; default true. */
  checkDevice: boolean.or(true),
  /** Whether the tensors must have the same dtype; default true. */
  checkDtype: boolean.or(true),
  /** The message of the error, or a function that makes it from the usual one. */
  msg: either(text, functionOf<(message: string) => string>()).optional(),
};

/** Options of `assertClose`. */
export type AssertCloseOptions = Options<typeof kOptions>;

/**
 * Throws unless all elements of `actual` are equal to those of `expected` or differ by at most atol + rtol * |expected|; the
 * message lists those that do not. The tolerances are those of torch.testing: for float32 `rtol` 1.3e-6 and `atol` 1e-5, for
 * float64 1e-7 and 1e-7, for float16 1e-3 and 1e-5, for bfloat16 1.6e-2 and 1e-5, and 0 for integers and booleans.
 *
 * The values are tensors, numbers, or arrays, Maps and plain objects of these. Numbers and arrays that are compared with a tensor get
 * its dtype; numbers that are compared with numbers have the tolerance of float64, whole numbers none. Throws ShapeMismatch,
 * DtypeMismatch or DeviceMismatch where tensors differ in that, and InvalidArgument for all else. Blocks until a GPU has finished.
 */
export function assertClose(
  actual: unknown,
  expected: unknown,
  ...rest: [options?: AssertCloseOptions]
): void {
  const { rtol, atol, msg, ...options } = readOptions(kName, kOptions, rest);
  const tolerance = givenTolerance(kName, rtol, atol);
  scope(() => new Comparison({ ...options, tolerance, msg }).compare(actual, expected, ""));
}

interface Settings {
  readonly tolerance: Tolerance | null;
  readonly equalNan: boolean;
  readonly checkDevice: boolean;
  readonly checkDtype: boolean;
  readonly msg: string | ((message: string) => string) | undefined;
}

class Comparison {
  /** The arrays, Maps and objects that enclose the compared values. */
  readonly #outer: unknown[] = [];

  constructor(private readonly settings: Settings) {}

  compare(actual: unknown, expected: unknown, path: string): void {
    if (isArrayOfNumbers(actual) || isArrayOfNumbers(expected)) {
      this.#compareTensors(...this.#tensors(actual, expected, path), path);
    } else if (isNumber(actual) && isNumber(expected)) this.#compareNumbers(actual, expected, path);
    else if (isStructure(actual) && isStructure(expected)) {
      if (this.#outer.includes(actual)) this.#fail("InvalidArgument", path, "contains itself.");
      this.#outer.push(actual);
      this.#compareStructures(actual, expected, path);
      this.#outer.pop();
    } else if (!Object.is(actual, expected)) {
      const message = `got ${describe(actual)}, expected ${describe(expected)}.`;
      this.#fail("InvalidArgument", path, message);
    }
  }

  // Both values as tensors; a number or an array gets the dtype and device of the other one.
  #tensors(actual: unknown, expected: unknown, path: string): [Tensor, Tensor] {
    const { dtype, device } = [actual, expected].find((value) => value instanceof Tensor) ?? {};
    const asTensor = (value: unknown) => {
      if (value instanceof Tensor) return value;
      const own = ArrayBuffer.isView(value) || dtype === undefined ? {} : { dtype };
      if (!ArrayBuffer.isView(value) && !Array.isArray(value) && !isNumber(value)) {
        const message = `got ${describe(actual)}, expected ${describe(expected)}.`;
        this.#fail("InvalidArgument", path, message);
      }
      return tensor(value as TensorData, device === undefined ? own : { ...own, device });
    };
    return [asTensor(actual), asTensor(expected)];
  }

  #compareTensors(actual: Tensor, expected: Tensor, path: string): void {
    const check = (
      code: ErrorCode,
      isChecked: boolean,
      name: string,
      of: (tensor: Tensor) => string,
    ) => {
      const [got, wanted] = [of(actual), of(expected)];
      const message = `got a tensor with the ${name} ${got}, expected ${wanted}.`;
      if (isChecked && got !== wanted) this.#fail(code, path, message);
    };
    const { checkDevice, checkDtype } = this.settings;
    check("ShapeMismatch", true, "shape", ({ shape }) => `[${shape.join(", ")}]`);
    check("DeviceMismatch", checkDevice, "device", ({ device }) => JSON.stringify(device));
    check("DtypeMismatch", checkDtype, "dtype", ({ dtype }) => dtype);
    const { shape, numel, dtype } = actual;
    const elements = { actual: elementsIn(actual), expected: elementsIn(expected), shape, numel };
    this.#compareElements(elements, toleranceFor([dtype, expected.dtype]), path);
  }

  #compareNumbers(actual: Item, expected: Item, path: string): void {
    const areWhole = [actual, expected].every((value) => {
      return typeof value === "bigint" || Number.isSafeInteger(value);
    });
    const elements = { actual: () => actual, expected: () => expected, shape: [], numel: 1 };
    this.#compareElements(elements, toleranceFor([areWhole ? "int64" : "float64"]), path);
  }

  #compareElements(elements: Elements, ofDtype: Tolerance, path: string): void {
    const { equalNan, tolerance } = this.settings;
    const message = differences(elements, tolerance ?? ofDtype, equalNan);
    if (message !== null) this.#fail("InvalidArgument", path, message);
  }

  #compareStructures(actual: Structure, expected: Structure, path: string): void {
    const [got, wanted] = [partsOf(actual), partsOf(expected)];
    if (got.kind !== wanted.kind) {
      this.#fail("InvalidArgument", path, `got ${got.kind}, expected ${wanted.kind}.`);
    }
    const step = (key: unknown) =>
      path +
      (Array.isArray(actual)
        ? `[${key}]`
        : typeof key === "string"
          ? `.${key}`
          : `(${String(key)})`);
    for (const [key, value] of got.parts) {
      if (!wanted.parts.has(key)) this.#fail("InvalidArgument", step(key), "is not expected.");
      this.compare(value, wanted.parts.get(key), step(key));
    }
    for (const key of wanted.parts.keys()) {
      if (!got.parts.has(key)) this.#fail("InvalidArgument", step(key), "is missing.");
    }
  }

  #fail(code: ErrorCode, path: string, message: string): never {
    const { msg } = this.settings;
    const usual = path === "" ? message : `at ${path}: ${message}`;
    return fail(code, kName, typeof msg === "function" ? msg(usual) : (msg ?? usual));
  }
}

type Structure = readonly unknown[] | ReadonlyMap<unknown, unknown> | Record<string, unknown>;

function isNumber(value: unknown): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function isArrayOfNumbers(value: unknown): boolean {
  return value instanceof Tensor || isTypedArray(value);
}

function isStructure(value: unknown): value is Structure {
  return Array.isArray(value) || isMap(value) || isPlainObject(value);
}

function partsOf(value: Structure): { kind: string; parts: ReadonlyMap<unknown, unknown> } {
  if (Array.isArray(value)) return { kind: "an array", parts: new Map(value.entries()) };
  if (isMap(value)) return { kind: "a Map", parts: value };
  return { kind: "an object", parts: new Map(Object.entries(value)) };
}
