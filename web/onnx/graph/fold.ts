// Computes the steps whose inputs are known when a model is loaded.

import { fail } from "../../errors/errors.js";
import { kOwn } from "../ops/index.js";
import { type Host, isNumbers } from "../values/host.js";
import type { Value } from "../values/value.js";
import { passing, type Step, type Subgraph } from "./program.js";

/** The limit on elements of folded constants: one small node can produce many. */
const kMostFolded = 2 ** 20;

/** Removes the steps of a graph that can be computed already, and adds their results to `constants`. */
export function fold(graph: Subgraph, constants: Map<number, Value>): void {
  const folder = new Folder(constants);
  folder.graph(graph);
}

class Folder {
  #count = 0;

  constructor(readonly constants: Map<number, Value>) {}

  graph(graph: Subgraph): void {
    graph.steps = graph.steps.flatMap((step) => {
      const branch = this.#branch(step);
      if (branch !== undefined) {
        this.graph(branch);
        return [...branch.steps, ...this.#results(step, branch)];
      }
      for (const inner of step.graphs) this.graph(inner);
      return this.#fold(step) ? [] : [step];
    });
  }

  // The branch that is taken, if that is known.
  #branch({ op, inputs, attributes }: Step): Subgraph | undefined {
    const condition = this.constants.get(inputs[0] ?? -1);
    if (op !== kOwn.ops.If || !isNumbers(condition) || condition.data.length !== 1)
      return undefined;
    return (condition.data[0] ? attributes.then_branch : attributes.else_branch) as Subgraph;
  }

  // Steps that give the results of a branch the slots of its If.
  #results({ title, outputs }: Step, branch: Subgraph): Step[] {
    return outputs.flatMap((slot, i) => {
      const from = branch.outputs[i] ?? -1;
      if (slot < 0 || from < 0) return [];
      const known = this.constants.get(from);
      if (known !== undefined) {
        this.constants.set(slot, known);
        return [];
      }
      return [passing(title, from, slot)];
    });
  }

  // Returns whether the step was computed.
  #fold({ op, inputs, outputs, attributes, version, wanted }: Step): boolean {
    const [output = -1] = outputs;
    if (outputs.length !== 1 || op.host === undefined || this.#count > kMostFolded) return false;
    const known = inputs.map((slot) => (slot < 0 ? undefined : this.constants.get(slot)));
    if (!known.every((value, i) => isNumbers(value) || inputs[i] === -1)) return false;
    const run = () => fail("Internal", "onnx.load", "a folded op has no graph.");
    const call = { version, wanted, training: false, run, free: run };
    const value = attempt(() => op.host?.(known as Host<number>[], attributes as never, call));
    if (value === undefined) return false;
    this.#count += value.data.length;
    if (output >= 0) this.constants.set(output, value);
    return true;
  }
}

function attempt<T>(fn: () => T): T | undefined {
  try {
    return fn();
  } catch {
    // The step fails again when it runs, and the message then names it.
    return undefined;
  }
}
