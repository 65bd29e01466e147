// Parameters in lists and by name.

import { readArguments } from "../../arguments/read.js";
import { integer, text } from "../../arguments/rule.js";
import { describe, fail } from "../../runtime/errors/errors.js";
import type { DType } from "../../tensor/dtype.js";
import { tensorRule } from "../../tensor/rules.js";
import type { Tensor } from "../../tensor/tensor.js";
import { Module } from "../module.js";
import { formatModule } from "../module_text.js";
import { Parameter } from "../parameter.js";
import { type Named, named, pairsOf } from "./module_dict.js";
import { iterable } from "./module_list.js";
import { setPart } from "./parts.js";

const kTensors = iterable.saying("Put the parameters into it.");

abstract class Parameters extends Module {
  /** The number of parameters. */
  get length(): number {
    return this.items().length;
  }

  /** The names and parameters in their order. */
  protected items(): [string, Parameter][] {
    return Object.entries(this).filter(([, value]) => value instanceof Parameter);
  }

  protected put(name: string, value: Tensor): void {
    const tensor = tensorRule.check(this.constructor.name, "parameter", value);
    const parameter = tensor instanceof Parameter ? tensor : new Parameter(tensor);
    setPart(this, () => this.items().map(([own]) => own), name, parameter);
  }

  protected abstract typeOf(dtype: DType): string;

  override toString(): string {
    const lines = this.items().map(([name, { dtype, shape, device }]) => {
      const size = `${this.typeOf(dtype)} of size ${shape.join("x")}`;
      const place = device === "cpu" ? "" : ` (${device})`;
      return `  (${name}): Parameter containing: [${size}${place}]`;
    });
    const name = this.constructor.name;
    return lines.length === 1 ? `${name}(${lines[0]})` : formatModule(name, "", lines);
  }
}

/** A list of parameters, which belong to the module that holds this one; plain tensors become parameters. */
export class ParameterList extends Parameters {
  constructor(...given: [values?: Iterable<Tensor>]) {
    super();
    const { values } = readArguments(new.target.name, { values: kTensors.or([]) }, given);
    this.extend(values as Iterable<Tensor>);
  }

  /** Returns the parameter at a position, which may count from the end. */
  at(position: number): Parameter | undefined {
    return [...this].at(integer.check(this.constructor.name, "position", position));
  }

  /** Adds a parameter at the end. */
  append(value: Tensor): this {
    this.put(String(this.length), value);
    return this;
  }

  /** Adds all parameters of a list at the end. */
  extend(values: Iterable<Tensor>): this {
    const checked = kTensors.check(this.constructor.name, "values", values) as Iterable<Tensor>;
    for (const value of checked) this.append(value);
    return this;
  }

  /** The parameters in their order. */
  *[Symbol.iterator](): Iterator<Parameter> {
    for (const [, parameter] of this.items()) yield parameter;
  }

  protected override typeOf(dtype: DType): string {
    return `torch.${dtype}`;
  }
}

/** Parameters by name, which belong to the module that holds this one; plain tensors become parameters. */
export class ParameterDict extends Parameters {
  constructor(parameters?: Named<Tensor>) {
    super();
    if (parameters !== undefined) this.update(parameters);
  }

  /** Returns whether there is a parameter of this name. */
  has(name: string): boolean {
    return this.keys().includes(name);
  }

  /** Returns the parameter of this name; throws if there is none. */
  get(name: string): Parameter {
    const found = this.items().find(([own]) => own === name);
    if (found !== undefined) return found[1];
    fail("InvalidArgument", this.constructor.name, `there is no parameter ${describe(name)}.`);
  }

  /** Adds a parameter under a name, or replaces the one with this name. */
  set(name: string, value: Tensor): this {
    this.put(text.check(this.constructor.name, "name", name), value);
    return this;
  }

  /** Adds all of these, replacing those with the same names. */
  update(parameters: Named<Tensor>): this {
    const checked = named.check(this.constructor.name, "parameters", parameters);
    for (const [name, value] of pairsOf(checked as Named<Tensor>)) this.set(name, value);
    return this;
  }

  /** Removes a parameter and returns it. */
  pop(name: string): Parameter {
    const parameter = this.get(name);
    Reflect.deleteProperty(this, name);
    return parameter;
  }

  /** Removes all parameters. */
  clear(): void {
    for (const name of this.keys()) this.pop(name);
  }

  /** The names in their order. */
  keys(): string[] {
    return this.items().map(([name]) => name);
  }

  /** The parameters in their order. */
  values(): Parameter[] {
    return this.items().map(([, parameter]) => parameter);
  }

  /** The names and parameters in their order. */
  override items(): [string, Parameter][] {
    return super.items();
  }

  /** The names in their order. */
  *[Symbol.iterator](): Iterator<string> {
    yield* this.keys();
  }

  protected override typeOf(dtype: DType): string {
    return `torch.${kTypeNames[dtype] ?? dtype}Tensor`;
  }
}

const kTypeNames: Readonly<Partial<Record<DType, string>>> = {
  float32: "Float",
  float64: "Double",
  int32: "Int",
  int64: "Long",
  uint8: "Byte",
  bool: "Bool",
  complex32: "ComplexHalf",
  complex64: "ComplexFloat",
  complex128: "ComplexDouble",
  float16: "Half",
  bfloat16: "BFloat16",
  float8_e4m3fn: "Float8_e4m3fn",
  float8_e5m2: "Float8_e5m2",
  int8: "Char",
  int16: "Short",
  uint16: "UInt16",
  uint32: "UInt32",
  uint64: "UInt64",
};
