// Runs the steps of a graph.

import * as eg from "edgegrad";
import { kOwn } from "../ops/index.js";
import type { Call, Op } from "../ops/op.js";
import { Host } from "../values/host.js";
import { isEmulated, markAs, typeOf, wrapAround } from "../values/types.js";
import type { Value } from "../values/value.js";
import { decide } from "./decisions.js";
import type { Step, Subgraph } from "./program.js";

/** Runs a graph on a frame with its inputs, and returns its outputs. */
export function runGraph(graph: Subgraph, frame: Value[], training: boolean): Value[] {
  const lent = new Set<Value>(frame.filter((value) => value instanceof eg.Tensor));
  return new Run(graph, frame, training, lent).graph(graph);
}

class Run {
  // How often each tensor of this run is held: by a slot, or by an op that has run a graph and may still need its results. At zero it is
  // freed, without waiting for the garbage collector.
  readonly #held = new Map<eg.Tensor, number>();

  constructor(
    readonly whole: Subgraph,
    readonly frame: Value[],
    readonly training: boolean,
    /** The tensors that this run does not free. */
    readonly lent: Set<Value>,
  ) {}

  graph(graph: Subgraph): Value[] {
    for (const step of graph.steps) {
      // The results of graphs inside the step, which are held until they have slots of this graph.
      const pinned: Value[] = [];
      const results = this.#step(step, pinned);
      step.outputs.forEach((slot, i) => {
        if (slot >= 0) this.#put(slot, results[i]);
      });
      for (const value of pinned) this.#drop(value);
      for (const slot of step.release) this.#release(slot);
    }
    return graph.outputs.map((slot) => this.frame[slot]);
  }

  #step(step: Step, pinned: Value[]): readonly Value[] {
    const inputs = step.inputs.map((slot) => (slot < 0 ? undefined : this.frame[slot]));
    const call: Call = {
      version: step.version,
      training: this.training,
      wanted: step.wanted,
      // Ops hand back the graphs of their attributes.
      run: (graph, values) => this.#inner(graph as Subgraph, values, pinned),
      free: (values) => {
        for (const value of values) {
          const at = pinned.indexOf(value);
          if (at >= 0) this.#drop(pinned.splice(at, 1)[0]);
        }
      },
    };
    try {
      if (step.op === kOwn.ops.If) inputs[0] = decide(this.whole, step, inputs[0], this.frame);
      // What an op has made besides its results is freed when it returns.
      return eg.scope(() => {
        const results = compute(step.op, inputs, step.attributes as never, call);
        return step.outputs.map((slot, i) => (slot >= 0 ? results[i] : undefined));
      });
    } catch (error) {
      throw locate(error, step);
    }
  }

  #inner(graph: Subgraph, values: readonly Value[], pinned: Value[]): Value[] {
    values.forEach((value, i) => {
      const slot = graph.inputs[i];
      if (slot !== undefined) this.frame[slot] = value;
      // A value of the op itself, such as a row of an input, is freed by the op.
      if (!(value instanceof eg.Tensor && this.#held.has(value))) this.#lend(value);
    });
    const outputs = this.graph(graph);
    // The next turn of a loop uses the same slots, and what this one returns may still be needed.
    for (const value of outputs) this.#hold(value);
    pinned.push(...outputs);
    for (const slot of ownOutputs(graph)) this.#release(slot);
    return outputs;
  }

  #put(slot: number, value: Value): void {
    this.#hold(value);
    this.frame[slot] = value;
  }

  #hold(value: Value): void {
    if (Array.isArray(value)) this.#lend(value);
    if (value instanceof eg.Tensor && !this.lent.has(value)) {
      this.#held.set(value, (this.#held.get(value) ?? 0) + 1);
    }
  }

  // Keeps the tensors in a value alive until the end of the run.
  #lend(value: Value): void {
    if (Array.isArray(value)) for (const item of value) this.#lend(item);
    else if (value instanceof eg.Tensor) this.lent.add(value);
  }

  #release(slot: number): void {
    const value = this.frame[slot];
    this.frame[slot] = undefined;
    this.#drop(value);
  }

  #drop(value: Value): void {
    if (!(value instanceof eg.Tensor) || this.lent.has(value)) return;
    const left = (this.#held.get(value) ?? 1) - 1;
    this.#held.set(value, left);
    if (left > 0) return;
    this.#held.delete(value);
    value.dispose();
  }
}

// The outputs of a graph that its own steps write.
const found = new WeakMap<readonly Step[], readonly number[]>();

function ownOutputs({ steps, outputs }: Subgraph): readonly number[] {
  let own = found.get(steps);
  if (own === undefined) {
    const written = new Set(steps.flatMap((step) => step.outputs));
    own = [...new Set(outputs)].filter((slot) => written.has(slot));
    found.set(steps, own);
  }
  return own;
}

/** Computes the outputs of one op. */
export function compute(
  op: Op,
  inputs: readonly Value[],
  attributes: never,
  call: Call,
): readonly Value[] {
  if (op.host !== undefined && inputs.every((input) => isReadable(input, op.texts))) {
    const result = op.host(inputs as readonly Host<number>[], attributes, call);
    if (result !== undefined) return [result];
  }
  const result = op.run(inputs, attributes, call);
  const results: readonly Value[] = Array.isArray(result) ? result : [result as Value];
  const first = op.ownTypes
    ? undefined
    : inputs.find((input) => input instanceof eg.Tensor && isEmulated(input));
  return first === undefined
    ? results
    : results.map((result) => typedAs(result, first as eg.Tensor, op));
}

function isReadable(value: Value, texts = false): boolean {
  return value === undefined || (value instanceof Host && (texts || value.type !== "string"));
}

// If the first input has an emulated type, a result of the same dtype has that type too.
function typedAs(value: Value, first: eg.Tensor, op: Op): Value {
  const type = typeOf(first);
  if (!(value instanceof eg.Tensor) || value.dtype !== first.dtype || isEmulated(value))
    return value;
  return markAs(op.wraps && !value.isFloatingPoint() ? wrapAround(value, type) : value, type);
}

function locate(error: unknown, { title }: Step): unknown {
  if (!(error instanceof eg.EdgeGradError) || error.message.startsWith("[OnnxModule] node "))
    return error;
  const message = error.message.replace(/^\[OnnxModule\] /, "");
  return new eg.EdgeGradError(error.code, `[OnnxModule] node ${title}: ${message}`, {
    cause: error,
  });
}
