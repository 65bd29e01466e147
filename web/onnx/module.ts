// A loaded model as a module: its parameters and buffers have the names of the file.

import * as eg from "edgegrad";
import { fail } from "../errors/errors.js";
import type { OnnxTensor } from "./graph/hold.js";
import type { Subgraph } from "./graph/program.js";
import { runGraph } from "./graph/run.js";
import type { OnnxHeader } from "./header.js";
import { fedValue, type GraphValue, type OnnxResult, resultOf } from "./interface.js";
import { type Value, within } from "./values/value.js";

/** A tensor that a module holds and a graph reads. */
export interface Member {
  readonly slots: readonly number[];
  /** Its place among the tensors of the file. */
  readonly at: number;
  /** The dtype that it had when the file was loaded. */
  readonly dtype: eg.DType;
  /** The path of properties from the module to it. */
  readonly path: readonly string[];
  /** Its name in the file. */
  readonly name: string;
}

/** A model that can be run. */
export interface Program extends OnnxHeader {
  readonly graph: Subgraph;
  /** The initial contents of the slots. */
  readonly frame: readonly Value[];
  readonly inputs: readonly GraphValue[];
  readonly outputs: readonly GraphValue[];
  readonly members: readonly Member[];
  /** What became of the tensors of the file. */
  readonly tensors: readonly OnnxTensor[];
  /** The file without the tensors of the members, for save(). */
  readonly file: Uint8Array;
}

const programs = new WeakMap<OnnxModule, Program>();

/** Returns the program of a module. */
export function programOf(module: OnnxModule): Program {
  return (
    programs.get(module) ??
    fail("InvalidArgument", "OnnxModule", "expected a module that load() has made.")
  );
}

/** Creates the module of a program; `values` are its members' tensors by path. */
export function moduleOf(
  program: Program,
  values: readonly (eg.nn.Parameter | eg.nn.Buffer)[],
): OnnxModule {
  const module = new OnnxModule();
  programs.set(module, program);
  program.members.forEach(({ path }, i) => {
    const owner = path.slice(0, -1).reduce<eg.nn.Module>(partNamed, module);
    Object.assign(owner, { [path.at(-1) as string]: values[i] });
  });
  return module.eval();
}

function partNamed(owner: eg.nn.Module, name: string): eg.nn.Module {
  const parts = owner as unknown as Record<string, eg.nn.Module>;
  if (!Object.hasOwn(parts, name)) Object.assign(owner, { [name]: new eg.nn.Module() });
  return parts[name] as eg.nn.Module;
}

/**
 * An ONNX model as a module, which load() creates. edgegrad's ops run its graph, so that gradients, hooks, modes and devices work as in
 * any module. It begins in evaluation mode, which follows the graph exactly; train() switches batch normalization and dropout to
 * training.
 */
// biome-ignore lint/suspicious/noExplicitAny: only the file knows how many outputs its graph has, and of which kinds.
export class OnnxModule<Output = any> extends eg.nn.Module {
  /** The inputs of the graph, in the order of call(). A size that is not fixed is a name or null. */
  get inputs(): readonly GraphValue[] {
    return programOf(this).inputs;
  }

  /** The outputs of the graph. */
  get outputs(): readonly GraphValue[] {
    return programOf(this).outputs;
  }

  /** The version of ONNX's default operator set that the model was written for. */
  get opset(): number {
    return programOf(this).opset;
  }

  /** The program that wrote the file, with its version. */
  get producer(): string {
    return programOf(this).producer;
  }

  /** The metadata of the file: strings by name. */
  get metadata(): Readonly<Record<string, string>> {
    return programOf(this).metadata;
  }

  /**
   * Computes the outputs from inputs by position: a tensor for one output, an array for several. Throws ShapeMismatch or
   * DtypeMismatch for an input that the graph does not accept. An output can also be a sequence, strings or null: the type `OnnxResult`.
   * A program that knows its graph can tell TypeScript: `load<eg.Tensor>(file)`.
   */
  override forward(...inputs: readonly unknown[]): Output {
    const { length } = programOf(this).inputs;
    if (inputs.length > length) {
      fail(
        "InvalidArgument",
        "OnnxModule",
        `expected at most ${length} of the inputs ${listOf(programOf(this).inputs)}, got ${inputs.length}.`,
      );
    }
    const results = eg.scope(() => computed(this, inputs));
    return (results.length === 1 ? results[0] : results) as Output;
  }

  /** Computes the outputs, by name, from inputs by name. An optional input may be omitted. */
  run(feeds: Readonly<Record<string, unknown>>, ...rest: []): Record<string, eg.Tensor> {
    const { inputs, outputs } = programOf(this);
    if (typeof feeds !== "object" || feeds === null || rest.length > 0) {
      fail("InvalidArgument", "OnnxModule.run", "expected one object with the inputs by name.");
    }
    const unknown = Object.keys(feeds).find((name) => !inputs.some((input) => input.name === name));
    if (unknown !== undefined) {
      fail(
        "InvalidArgument",
        "OnnxModule.run",
        `there is no input "${unknown}"; the inputs are ${listOf(inputs)}.`,
      );
    }
    const given = inputs.map(({ name }) => (Object.hasOwn(feeds, name) ? feeds[name] : undefined));
    const result = this.call(...given);
    const results = outputs.length === 1 ? [result as eg.Tensor] : (result as eg.Tensor[]);
    return Object.fromEntries(outputs.map(({ name }, i) => [name, results[i] as eg.Tensor]));
  }

  /** Returns what became of each tensor that the file stores: a parameter, a buffer or a constant of the graph, and why. */
  describe(): OnnxTensor[] {
    return programOf(this).tensors.map((tensor) => ({ ...tensor }));
  }

  override clone(): this {
    const copy = super.clone();
    programs.set(copy, programOf(this));
    return copy;
  }
}

function listOf(inputs: readonly GraphValue[]): string {
  return inputs.map(({ name }) => `"${name}"`).join(", ");
}

function computed(module: OnnxModule, given: readonly unknown[]): OnnxResult[] {
  const { graph, frame, inputs, outputs, members } = programOf(module);
  const slots = [...frame];
  const kinds = new Map<eg.DType, eg.DType>();
  for (const { slots: own, path, name, dtype } of members) {
    const value = memberOf(module, path, name);
    for (const slot of own) slots[slot] = value;
    if (value.dtype !== dtype && value.isFloatingPoint()) kinds.set(dtype, value.dtype);
  }
  const sizes = new Map<string, number>();
  inputs.forEach((input, i) => {
    const value = fedValue(input, given[i], sizes);
    const slot = graph.inputs[i] as number;
    if (value !== undefined) slots[slot] = value;
  });
  const first = slots.find((value) => value instanceof eg.Tensor);
  return within({ device: first instanceof eg.Tensor ? first.device : "cpu", kinds }, () => {
    const values = runGraph(graph, slots, module.training);
    return values.map((value, i) => resultOf(value, outputs[i] as GraphValue));
  });
}

function memberOf(module: OnnxModule, path: readonly string[], name: string): eg.Tensor {
  let value: unknown = module;
  for (const part of path) value = (value as Readonly<Record<string, unknown>> | undefined)?.[part];
  if (value instanceof eg.Tensor) return value;
  return fail(
    "InvalidArgument",
    "OnnxModule",
    `expected a tensor as "${name}", which the graph reads.`,
  );
}
