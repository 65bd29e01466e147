// Writing the steps of a trace as nodes: the names of values, and what several ops need.

import type { DType } from "edgegrad";
import { Dimensions } from "./dimensions.js";
import { kElementTypes } from "./element_types.js";
import { Graph, type Name } from "./graph.js";
import { type Size, type Step, sizeFrom, Value, Varying } from "./values.js";

/** Thrown for a step that ONNX cannot express; `message` says why, or is empty. */
export class NoForm extends Error {}

/** Throws NoForm with a reason. */
export function noForm(reason: string): never {
  throw new NoForm(reason);
}

/** The graph of a file, and the names of the values in it. */
export class Exporter {
  readonly graph: Graph;
  readonly #dimensions: Dimensions;
  readonly #names = new Map<Value, Name>();
  readonly #folded = new Set<Value>();
  /** The values whose sizes depend on elements of other values: one trace cannot tell them. */
  readonly unsized = new Set<Value>();
  /** The names of the buffers in the file. */
  readonly buffers: Name[] = [];
  /** The names of the parameters in the file. */
  readonly parameters: Name[] = [];
  /** The steps that computed the values, for ops that are fused with the preceding one. */
  readonly makers = new Map<Value, Step>();

  constructor(opset: number) {
    this.graph = new Graph(opset);
    this.#dimensions = new Dimensions(this.graph);
  }

  /** Gives a value its name. */
  define(value: Value, name: Name): void {
    this.#names.set(value, name);
    this.#dimensions.add(value, name);
  }

  /** Notes that a value does not depend on the inputs. */
  fold(value: Value): void {
    this.#folded.add(value);
  }

  /** True for a value that does not depend on the inputs or on a parameter. */
  isFolded(value: Value): boolean {
    if (value.made !== null) return false;
    return this.#folded.has(value) || value.origin === "constant" || value.origin === "buffer";
  }

  /** True for a value whose elements are in the file. */
  isStored(value: Value): boolean {
    return value.data !== null && (this.isFolded(value) || value.origin === "parameter");
  }

  /** True for a value that has a name. */
  isWritten(value: Value): boolean {
    return this.#names.has(value);
  }

  /** Returns the name of a value; adds its elements to the file if no step computes it. */
  nameOf(value: Value): Name {
    const known = this.#names.get(value);
    if (known !== undefined) return known;
    if (value.made !== null) return this.#make(value, value.made);
    if (value.data === null) throw new Error("no step makes a value");
    if (kElementTypes[value.dtype] === undefined) noForm(`ONNX has no tensors of ${value.dtype}`);
    const isMember = value.origin === "parameter" || value.origin === "buffer";
    const name = isMember
      ? this.graph.initializer(value.name || "parameter", value.data)
      : this.graph.constantTensor(value.data);
    if (value.origin === "buffer") this.buffers.push(name);
    if (value.origin === "parameter") this.parameters.push(name);
    this.define(value, name);
    return name;
  }

  // A constant that depends on the sizes of the inputs.
  #make(value: Value, made: NonNullable<Value["made"]>): Name {
    const { dtype } = value;
    const shape = this.shape(value.sizes());
    let name: Name;
    if ("fill" in made) {
      name = this.graph.node("Expand", [this.graph.constant(made.fill, dtype), shape]);
    } else {
      const numbers = this.shape(made.numbers);
      const typed = dtype === "int64" ? numbers : this.graph.cast(numbers, dtype);
      name = this.graph.node("Reshape", [typed, shape]);
    }
    this.define(value, name);
    return name;
  }

  /** Returns a 0-dim value as a vector of one element. */
  asVector(value: Value): Value {
    const vector = new Value("step", value.dtype, [1]);
    const axes = this.graph.ints([0]);
    this.define(vector, this.graph.node("Unsqueeze", [this.nameOf(value), axes]));
    return vector;
  }

  /** Returns a size as a list of one integer. */
  size(size: Size): Name {
    return (
      this.#dimensions.find(size) ??
      noForm(`it is not known how the size ${size} depends on the inputs`)
    );
  }

  /** Returns sizes as a list of integers. */
  shape(sizes: readonly Size[]): Name {
    const numbers = sizes.filter((size): size is number => typeof size === "number");
    if (numbers.length === sizes.length) return this.graph.ints(numbers);
    const parts = sizes.map((size) => this.size(size));
    return parts.length === 1 ? (parts[0] as Name) : this.graph.node("Concat", parts, { axis: 0 });
  }

  /** Returns a tensor in another shape; `from` are the sizes that it has. */
  reshape(name: Name, from: readonly Size[], to: readonly Size[]): Name {
    return this.graph.node("Reshape", [name, this.#newShape(from, to)]);
  }

  #newShape(from: readonly Size[], to: readonly Size[]): Name {
    const open = to.filter((size) => size instanceof Varying).length;
    if (open === 0 || to.includes(0) || from.includes(0)) return this.shape(to);
    if (open === 1) return this.graph.ints(to.map(orOpen));
    // In Reshape, 0 keeps the size of that dimension.
    const kept = to.map((size, i) =>
      size instanceof Varying && String(size) === String(from[i]) ? 0 : size,
    );
    const left = kept.filter((size) => size instanceof Varying).length;
    return left <= 1 ? this.graph.ints(kept.map(orOpen)) : this.shape(to);
  }

  /** Returns a number as a tensor without dimensions. */
  scalar(given: number | bigint | boolean | Varying, dtype: DType): Name {
    if (!(given instanceof Varying)) return this.graph.constant(Number(given), dtype);
    const { graph } = this;
    const whole = given.samples.every(Number.isInteger) ? this.#dimensions.find(given) : null;
    if (whole !== null) return graph.cast(this.#asScalar(whole), dtype);
    for (const { of, type } of kInverses) {
      const size = sizeFrom((number) => rounded(of(number)), given);
      const found = this.#isNear(size, given, of) ? this.#dimensions.find(size) : null;
      if (found === null) continue;
      return type.reduce(
        (name, op) => graph.node(op, [name]),
        graph.cast(this.#asScalar(found), dtype),
      );
    }
    return noForm(`it is not known how the number ${given} depends on the inputs`);
  }

  #asScalar(list: Name): Name {
    return this.graph.node("Squeeze", [list, this.graph.ints([0])]);
  }

  #isNear(size: Size, given: Varying, of: (number: number) => number): boolean {
    return given.samples.every((sample, i) => {
      const whole = size instanceof Varying ? (size.samples[i] ?? 0) : size;
      return Math.abs(of(sample) - whole) <= 1e-9 * Math.abs(whole);
    });
  }
}

// Functions that programs apply to sizes: their inverse, and the nodes that compute the function.
const kInverses: readonly { of: (x: number) => number; type: readonly string[] }[] = [
  { of: (x) => 1 / x, type: ["Reciprocal"] },
  { of: (x) => x * x, type: ["Sqrt"] },
  { of: (x) => 1 / (x * x), type: ["Sqrt", "Reciprocal"] },
  { of: (x) => Math.exp(x), type: ["Log"] },
];

function rounded(x: number): number {
  return Math.round(x);
}

function orOpen(size: Size): number {
  return size instanceof Varying ? -1 : size;
}
