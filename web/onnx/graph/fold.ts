// Computes the steps whose inputs are known when a model is loaded.

import { fail } from "../../errors/errors.js";
import type { Host } from "../values/host.js";
import { isNumbers } from "../values/host.js";
import type { Value } from "../values/value.js";
import type { Step, Subgraph } from "./program.js";

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
    graph.steps = graph.steps.filter((step) => {
      for (const inner of step.graphs) this.graph(inner);
      return !this.#fold(step);
    });
  }

  // Returns whether the step was computed.
  #fold({ op, inputs, outputs, attributes, version, wanted }: Step): boolean {
    const [output = -1] = outputs;
    if (outputs.length !== 1 || op.host === undefined || this.#count > kMostFolded) return false;
    const known = inputs.map((slot) => (slot < 0 ? undefined : this.constants.get(slot)));
    if (!known.every((one, i) => isNumbers(one) || inputs[i] === -1)) return false;
    const run = () => fail("Internal", "onnx.load", "a folded op has no graph.");
    const call = { version, wanted, training: false, run };
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
