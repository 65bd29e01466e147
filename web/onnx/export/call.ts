// A traced step while it is written: gives its arguments in the forms that nodes need.

import type { DType } from "edgegrad";
import { type Exporter, noForm } from "./exporter.js";
import type { Attributes, Graph, Name } from "./graph.js";
import { mapLeaves, type Size, type Step, Value, Varying } from "./values.js";

/** Writes a step as nodes; returns the names of its results. */
export type Writer = (call: Call) => Name | readonly Name[];

/** Writers by the names of the ops. */
export type Writers = Readonly<Record<string, Writer>>;

/** A step that is being written. */
export class Call {
  readonly graph: Graph;

  constructor(
    readonly exporter: Exporter,
    readonly step: Step,
  ) {
    this.graph = exporter.graph;
  }

  /** Its first result. */
  get out(): Value {
    return this.step.outputs[0] as Value;
  }

  get opset(): number {
    return this.graph.opset;
  }

  /** Returns an argument as it is. */
  arg(name: string): unknown {
    return this.step.values[name];
  }

  /** True for an argument that was left out, or null. */
  isLeftOut(name: string): boolean {
    return this.arg(name) === null || this.arg(name) === undefined;
  }

  /** Returns an argument that is a tensor. */
  value(name: string): Value {
    const value = this.arg(name);
    return value instanceof Value ? value : noForm(`${name} must be a tensor`);
  }

  /** Returns an argument that is a tensor, or null. */
  optional(name: string): Value | null {
    return this.isLeftOut(name) ? null : this.value(name);
  }

  /** Returns the tensor of an argument in the file, converted to `dtype`. */
  in(name: string, dtype?: DType): Name {
    return this.as(this.value(name), dtype);
  }

  /** Returns a tensor in the file, converted to `dtype`. */
  as(value: Value, dtype: DType = value.dtype): Name {
    const name = this.exporter.nameOf(value);
    return value.dtype === dtype ? name : this.graph.cast(name, dtype);
  }

  /** Returns an argument that is a tensor or a number, as a tensor of `dtype`. */
  operand(name: string, dtype: DType): Name {
    const value = this.arg(name);
    if (value instanceof Value) return this.as(value, dtype);
    if (isNumber(value)) return this.exporter.scalar(value, dtype);
    return noForm(`${name} must be a tensor or a real number`);
  }

  /** Returns a numeric argument; throws if it depends on the inputs. */
  number(name: string): number {
    return this.fixedNumber(name, this.arg(name));
  }

  /** Whether an argument, a boolean or a string, has the value `wanted`. */
  is(name: string, wanted: unknown = true): boolean {
    return this.arg(name) === wanted;
  }

  /** Returns an argument that is a list of sizes, or one for `count` dimensions. */
  sizes(name: string, count = 1): Size[] {
    const value = this.arg(name);
    if (Array.isArray(value))
      return value.length === 1 && count > 1 ? new Array(count).fill(value[0]) : value;
    return new Array(count).fill(value);
  }

  /** Returns an argument that is a list of numbers; throws if one of them depends on the inputs. */
  ints(name: string, count = 1): number[] {
    return this.sizes(name, count).map((size) => this.fixedNumber(name, size));
  }

  /** Returns a number; throws if it depends on the inputs. */
  fixedNumber(name: string, value: unknown): number {
    if (value instanceof Varying)
      noForm(`${name} depends on the size of a dynamic axis (${value})`);
    return typeof value === "number" || typeof value === "bigint"
      ? Number(value)
      : noForm(`${name} must be a number`);
  }

  /** Returns a dimension, counted from the start. */
  dim(name: string, rank = this.value("input").rank): number {
    return fromStart(this.number(name), rank);
  }

  /** Returns dimensions counted from the start; null means all of them. */
  dims(name: string, rank = this.value("input").rank): number[] {
    if (this.isLeftOut(name)) return Array.from({ length: rank }, (_, i) => i);
    return this.ints(name).map((axis) => fromStart(axis, rank));
  }

  /** Adds a node with one result. */
  node(type: string, inputs: readonly (Name | null)[], attributes?: Attributes): Name {
    return this.graph.node(type, inputs, attributes);
  }

  /** Returns a number as a tensor of `dtype`. */
  scalar(value: number, dtype: DType = this.out.dtype): Name {
    return this.graph.constant(value, dtype);
  }

  /** Returns a list of integers. */
  list(values: readonly number[]): Name {
    return this.graph.ints(values);
  }

  /** Removes dimensions of size 1. */
  squeeze(name: Name, dims: readonly number[]): Name {
    return dims.length === 0 ? name : this.node("Squeeze", [name, this.list(dims)]);
  }

  /** Adds dimensions of size 1. */
  unsqueeze(name: Name, dims: readonly number[]): Name {
    return dims.length === 0 ? name : this.node("Unsqueeze", [name, this.list(dims)]);
  }

  /** Reorders dimensions. */
  transpose(name: Name, perm: readonly number[]): Name {
    return perm.every((axis, i) => axis === i) ? name : this.node("Transpose", [name], { perm });
  }

  /** Takes a part along one dimension. */
  slice(name: Name, dim: number, start: Size, end: Size, step = 1): Name {
    const [from, to] = [this.exporter.size(start), this.exporter.size(end)];
    return this.node("Slice", [name, from, to, this.list([dim]), this.list([step])]);
  }

  /** Reduces dimensions; they are an attribute or an input, depending on the op and its version. */
  reduce(type: string, name: Name, dims: readonly number[], keepdims: boolean): Name {
    const keep = keepdims ? 1 : 0;
    if (dims.length === 0)
      return type === "ReduceSum" || type === "ReduceMean" ? name : this.node("Identity", [name]);
    return type === "ReduceSum" || this.opset >= 18
      ? this.node(type, [name, this.list(dims)], { keepdims: keep })
      : this.node(type, [name], { axes: dims, keepdims: keep });
  }
}

/** Returns a writer that adds a dimension to 0-dim tensors, for nodes that work along a dimension. */
export function lifted(write: Writer): Writer {
  return (c) => {
    if (c.value("input").rank > 0) return write(c);
    const values = mapLeaves(c.step.values, (leaf) =>
      leaf instanceof Value && leaf.rank === 0 ? c.exporter.asVector(leaf) : leaf,
    ) as Step["values"];
    const outputs = c.step.outputs.map(
      ({ dtype, shape }) => new Value("step", dtype, [1, ...shape]),
    );
    const names = [write(new Call(c.exporter, { ...c.step, values, outputs }))].flat() as Name[];
    return names.map((name, i) =>
      c.node("Reshape", [name, c.exporter.shape((c.step.outputs[i] as Value).sizes())]),
    );
  };
}

/** Returns a dimension counted from the start. */
export function fromStart(dim: number, rank: number): number {
  return dim < 0 ? dim + Math.max(rank, 1) : dim;
}

function isNumber(value: unknown): value is number | bigint | boolean | Varying {
  return ["number", "bigint", "boolean"].includes(typeof value) || value instanceof Varying;
}

/** The end of a slice that is open-ended. */
export const kEnd = 2 ** 53 - 1;
