// Builds the graph of a file: its nodes, its tensors and their unique names.

import { type DType, type Tensor, tensor } from "edgegrad";
import type { Draft } from "../proto/schema.js";
import { kAttributeTypes } from "../proto/types.js";
import { kElementTypes } from "./element_types.js";
import { halfBits, upperBits } from "./half.js";

/** A value of an attribute: numbers are integers unless they are in `float` or `floats`. */
export type Attribute =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  | { readonly floats: readonly number[] }
  | { readonly strings: readonly string[] }
  | { readonly tensor: Draft<"Tensor"> };

/** The attributes of a node; those that are undefined are omitted. */
export type Attributes = Readonly<Record<string, Attribute | undefined>>;

/** The name of a tensor in the file. */
export type Name = string;

/** A graph that is being built. */
export class Graph {
  readonly nodes: Draft<"Node">[] = [];
  readonly initializers: Draft<"Tensor">[] = [];
  readonly #constantNodes: Draft<"Node">[] = [];
  readonly #taken = new Set<string>();
  readonly #constants = new Map<string, Name>();
  /** The module whose call is being written; it prefixes the names of the nodes. */
  path = "";

  constructor(readonly opset: number) {}

  /** Returns a name that no other tensor has. */
  unique(name: string): Name {
    let unique = name;
    for (let i = 1; this.#taken.has(unique); i++) unique = `${name}_${i}`;
    this.#taken.add(unique);
    return unique;
  }

  /** Adds a node and returns the names of its results. */
  outputs(
    type: string,
    inputs: readonly (Name | null)[],
    attributes: Attributes,
    count: number,
  ): Name[] {
    const place = [...this.path.split("."), type].filter(Boolean).join("/");
    const name = `/${this.unique(place)}`;
    const output = Array.from({ length: count }, (_, i) => this.unique(`${name}_output_${i}`));
    const given = inputs.map((input) => input ?? "");
    while (given.at(-1) === "") given.pop();
    const attribute = Object.entries(attributes)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => attributeOf(key, value as Attribute));
    this.nodes.push({ input: given, output, name, opType: type, attribute });
    return output;
  }

  /** Adds a node with one result and returns its name. */
  node(type: string, inputs: readonly (Name | null)[], attributes: Attributes = {}): Name {
    return this.outputs(type, inputs, attributes, 1)[0] as Name;
  }

  /** Adds a parameter or a buffer to the file. */
  initializer(name: string, data: Tensor): Name {
    const unique = this.unique(name);
    this.initializers.push({ ...tensorOf(data), name: unique });
    return unique;
  }

  /** Adds a constant, which a reader does not train. */
  constantTensor(data: Tensor): Name {
    const output = this.unique(`constant_${this.#constantNodes.length}`);
    const attribute = [attributeOf("value", { tensor: tensorOf(data) })];
    this.#constantNodes.push({ output: [output], opType: "Constant", attribute });
    return output;
  }

  /** Returns a tensor with these numbers; equal tensors are stored once. */
  constant(data: number | readonly number[], dtype: DType): Name {
    const key = `${dtype}:${typeof data === "number" ? "" : `${data.length}:`}${data}`;
    let name = this.#constants.get(key);
    if (name === undefined) {
      const made = tensor(typeof data === "number" ? data : [...data], { dtype });
      name = this.constantTensor(made);
      made.dispose();
      this.#constants.set(key, name);
    }
    return name;
  }

  /** Returns a list of integers, for shapes and axes. */
  ints(data: readonly number[]): Name {
    return this.constant(data, "int64");
  }

  /** Returns all nodes and tensors that the results need. */
  needed(results: readonly Name[]): { node: Draft<"Node">[]; initializer: Draft<"Tensor">[] } {
    const needed = new Set(results);
    const node: Draft<"Node">[] = [];
    for (const earlier of [...this.#constantNodes, ...this.nodes].reverse()) {
      if (!earlier.output?.some((name) => needed.has(name))) continue;
      for (const name of earlier.input ?? []) needed.add(name);
      node.push(earlier);
    }
    node.reverse();
    const initializer = this.initializers.filter(({ name = "" }) => needed.has(name));
    return { node, initializer };
  }

  /** Converts the elements of a tensor. */
  cast(name: Name, dtype: DType): Name {
    return this.node("Cast", [name], { to: kElementTypes[dtype] });
  }
}

const utf8 = new TextEncoder();

function attributeOf(name: string, value: Attribute): Draft<"Attribute"> {
  if (typeof value === "number") return { name, i: value, type: kAttributeTypes.int };
  if (typeof value === "string")
    return { name, s: utf8.encode(value), type: kAttributeTypes.string };
  if (Array.isArray(value)) return { name, ints: value, type: kAttributeTypes.ints };
  const given = value as Exclude<Attribute, number | string | readonly number[]>;
  if ("float" in given) return { name, f: given.float, type: kAttributeTypes.float };
  if ("floats" in given) return { name, floats: given.floats, type: kAttributeTypes.floats };
  if ("tensor" in given) return { name, t: given.tensor, type: kAttributeTypes.tensor };
  return {
    name,
    strings: given.strings.map((string) => utf8.encode(string)),
    type: kAttributeTypes.strings,
  };
}

/** Returns a tensor as a message of a file. */
export function tensorOf(data: Tensor): Draft<"Tensor"> {
  const numbers = data.dataSync();
  const isHalf = data.dtype === "float16";
  const isUpper = data.dtype === "bfloat16";
  const elements = isHalf
    ? halfBits(numbers as Float32Array)
    : isUpper
      ? upperBits(numbers as Float32Array)
      : numbers;
  const { buffer, byteOffset, byteLength } = elements;
  return {
    dims: data.shape,
    dataType: kElementTypes[data.dtype],
    rawData: new Uint8Array(buffer as ArrayBuffer, byteOffset, byteLength),
  };
}

/** Returns the type of an input or a result; a size that depends on the inputs is a name, or null if it is unknown. */
export function valueInfo(
  name: Name,
  dtype: DType,
  sizes: readonly (number | string | null)[],
): Draft<"ValueInfo"> {
  const dim = sizes.map((size) => {
    if (size === null) return {};
    return typeof size === "number" ? { dimValue: size } : { dimParam: size };
  });
  return { name, type: { tensorType: { elemType: kElementTypes[dtype], shape: { dim } } } };
}
