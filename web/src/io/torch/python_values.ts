// What a pickle consists of beside the values that JavaScript has, and the result of loading it.

import { reject } from "../broken_file.js";

/** A dict of Python, in the order of its entries. A later entry replaces an earlier one with an equal key. */
export class PythonDict {
  readonly entries: [key: unknown, value: unknown][] = [];
}

/** The name of a class or function, such as torch.Size. */
export class PythonName {
  constructor(readonly name: string) {}
}

/** Memory of a file that tensors lie in. */
export class StorageName {
  constructor(
    readonly key: string,
    /** The element type as files name it; null if only the tensors know it. */
    readonly type: string | null,
    /** How many elements, or bytes if there is no type. */
    readonly count: number,
    /** The position in the storage of that key at which these elements begin. */
    readonly offset: number,
  ) {}
}

/** What PyTorch does to the elements of a tensor each time it reads them, instead of having done it once. */
export interface PendingChange {
  readonly isConjugated: boolean;
  readonly isNegated: boolean;
}

/** A tensor that a pickle describes. */
export class TensorPlan {
  constructor(
    readonly storage: StorageName,
    readonly type: string,
    readonly offset: number,
    readonly shape: readonly number[],
    readonly strides: readonly number[],
    readonly requiresGrad: boolean,
    readonly pending: PendingChange,
  ) {}

  /** The same tensor with another requiresGrad. */
  requiring(requiresGrad: boolean): TensorPlan {
    const { storage, type, offset, shape, strides, pending } = this;
    return new TensorPlan(storage, type, offset, shape, strides, requiresGrad, pending);
  }
}

/** A sparse tensor that a pickle describes. */
export class SparsePlan {
  constructor(
    readonly layout: "sparse_coo" | "sparse_csr",
    /** The indices, of CSR the row starts and the columns, and then the values. */
    readonly parts: readonly TensorPlan[],
    readonly size: readonly number[],
    readonly isCoalesced: boolean,
    readonly requiresGrad = false,
  ) {}

  /** The same tensor with another requiresGrad. */
  requiring(requiresGrad: boolean): SparsePlan {
    return new SparsePlan(this.layout, this.parts, this.size, this.isCoalesced, requiresGrad);
  }
}

// The most levels of nesting, which protects the stack.
const kMaxDepth = 500;

/** Objects whose keys were whole numbers in Python, which JavaScript's objects cannot have. saveTorch() writes them as numbers again. */
export const kNumberKeys = /* @__PURE__ */ new WeakSet<object>();

/** Converts what a pickle holds to values of JavaScript; must be called inside reading(). */
export class Converter {
  readonly #done = new Map<object, unknown>();

  constructor(private readonly tensor: (plan: TensorPlan | SparsePlan) => unknown) {}

  convert(value: unknown, depth = 0): unknown {
    if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
    if (this.#done.has(value)) return this.#done.get(value);
    if (depth > kMaxDepth) reject(`its values are nested deeper than ${kMaxDepth} levels.`);
    if (Array.isArray(value)) return this.#array(value, depth + 1);
    if (value instanceof PythonDict) return this.#dict(value, depth + 1);
    if (value instanceof Set) return this.#set(value, depth + 1);
    if (value instanceof TensorPlan || value instanceof SparsePlan)
      return this.#keep(value, this.tensor(value));
    if (value instanceof PythonName)
      reject(`it contains ${value.name} itself as a value, which is not data.`);
    if (value instanceof StorageName) {
      reject(
        `it contains a storage outside of a tensor, which has no counterpart here: save tensors.`,
      );
    }
    // A complex number.
    return value;
  }

  #keep<T>(value: object, result: T): T {
    this.#done.set(value, result);
    return result;
  }

  // In place, because lists may contain themselves.
  #array(array: unknown[], depth: number): unknown[] {
    this.#keep(array, array);
    for (let i = 0; i < array.length; i++) array[i] = this.convert(array[i], depth);
    return array;
  }

  #set(set: Set<unknown>, depth: number): Set<unknown> {
    const result = this.#keep(set, new Set<unknown>());
    for (const item of set) result.add(this.convert(item, depth));
    return result;
  }

  #dict(dict: PythonDict, depth: number): object {
    const areTexts = dict.entries.every(([key]) => typeof key === "string");
    if (!areTexts && !dict.entries.every(([key]) => isWholeNumber(key)))
      return this.#map(dict, depth);
    const result: Record<string, unknown> = this.#keep(dict, {});
    for (const [key, value] of dict.entries) {
      // Assignment would change the prototype if the key is "__proto__".
      Object.defineProperty(result, String(key), {
        value: this.convert(value, depth),
        writable: true,
        enumerable: true,
        configurable: true,
      });
    }
    if (!areTexts) kNumberKeys.add(result);
    return result;
  }

  #map(dict: PythonDict, depth: number): Map<unknown, unknown> {
    const result = this.#keep(dict, new Map<unknown, unknown>());
    for (const [key, value] of dict.entries) {
      result.set(this.convert(key, depth), this.convert(value, depth));
    }
    return result;
  }
}

function isWholeNumber(value: unknown): boolean {
  return typeof value === "bigint" || Number.isSafeInteger(value);
}
