// eg.autograd.toDot(): a drawing of the backward graph for Graphviz.

import { isPlainObject, readOptions } from "../arguments/read.js";
import { boolean, type Options, Rule } from "../arguments/rule.js";
import type { EdgeGradError } from "../runtime/errors/errors.js";
import { tensorRule } from "../tensor/rules.js";
import { scope } from "../tensor/scope.js";
import { Tensor } from "../tensor/tensor.js";
import { gradientNodeOf, type Node } from "./node.js";

type NamedTensors = Readonly<Record<string, Tensor>> | readonly (readonly [string, Tensor])[];

const kOptions = {
  /** Names for leaves: `{name: tensor}`, or the result of a module's namedParameters(). */
  params: new Rule<NamedTensors>("tensors by name", isNamedTensors).or({}),
  /** Whether to draw the tensors that the nodes save for backward; default false. */
  showSaved: boolean.or(false),
};

/** Options of `toDot`. */
export type DotOptions = Options<typeof kOptions>;

/** Returns the graph that computed `tensor` in the DOT language of Graphviz. */
export function toDot(tensor: Tensor, ...rest: [options?: DotOptions]): string {
  tensorRule.check("toDot", "tensor", tensor);
  const { params, showSaved } = readOptions("toDot", kOptions, rest);
  // The scope frees the handles of all visited nodes.
  return scope(() => {
    const drawing = new Drawing(namesOf(params), showSaved);
    drawing.drawTensor(tensor);
    return drawing.toString();
  });
}

const kHead = [
  "digraph {",
  '  graph [size="12,12"]',
  "  node [align=left fontname=monospace fontsize=10 height=0.2 ranksep=0.1 shape=box style=filled fillcolor=lightgray]",
];

class Drawing {
  readonly #lines = [...kHead];
  readonly #ids = new Map<Node, string>();
  #count = 0;

  constructor(
    private readonly names: ReadonlyMap<Node, string>,
    private readonly showSaved: boolean,
  ) {}

  drawTensor(tensor: Tensor): void {
    const root = gradientNodeOf(tensor);
    const result = this.#box(sizeOf(tensor), "darkolivegreen1");
    if (root === null) return;
    this.#line(`${this.#draw(root)} -> ${result}`);
    // Not recursive because graphs can be deep.
    const pending = [root];
    for (let node = pending.pop(); node !== undefined; node = pending.pop()) {
      for (const [next] of node.nextFunctions) {
        if (next === null) continue;
        if (!this.#ids.has(next)) pending.push(next);
        this.#line(`${this.#draw(next)} -> ${this.#draw(node)}`);
      }
    }
  }

  toString(): string {
    return `${[...this.#lines, "}"].join("\n")}\n`;
  }

  // Draws a node and its attachments unless it has been drawn, and returns its id.
  #draw(node: Node): string {
    const known = this.#ids.get(node);
    if (known !== undefined) return known;
    const id = this.#box(node.name, "lightgray");
    this.#ids.set(node, id);
    const { variable } = node;
    if (variable !== null) {
      const name = this.names.get(node);
      const label = name === undefined ? sizeOf(variable) : `${name}\n${sizeOf(variable)}`;
      this.#line(`${this.#box(label, "lightblue")} -> ${id}`);
    }
    if (this.showSaved) this.#drawSaved(node, id);
    return id;
  }

  #drawSaved(node: Node, id: string): void {
    for (const [name, value] of savedTensorsOf(node)) {
      this.#line(`${this.#box(`${name}\n${sizeOf(value)}`, "orange")} -> ${id} [dir=none]`);
    }
  }

  #box(label: string, color: string): string {
    const id = `n${this.#count++}`;
    this.#line(`${id} [label=${JSON.stringify(label)} fillcolor=${color}]`);
    return id;
  }

  #line(text: string): void {
    this.#lines.push(`  ${text}`);
  }
}

// Returns the saved tensors of a node; none if its graph has been freed.
function savedTensorsOf(node: Node): [string, Tensor][] {
  try {
    return Object.entries(node.saved).filter(
      (entry): entry is [string, Tensor] => entry[1] instanceof Tensor,
    );
  } catch (error) {
    if ((error as Partial<EdgeGradError>)?.code === "GraphFreed") return [];
    throw error;
  }
}

function isNamedTensors(value: unknown): boolean {
  if (isPlainObject(value)) return Object.values(value).every(tensorRule.accepts);
  const isPair = (item: unknown) =>
    Array.isArray(item) && typeof item[0] === "string" && tensorRule.accepts(item[1]);
  return Array.isArray(value) && value.every(isPair);
}

function namesOf(params: NamedTensors): Map<Node, string> {
  const entries = Array.isArray(params) ? params : Object.entries(params);
  const names = new Map<Node, string>();
  for (const [name, tensor] of entries) {
    const node = gradientNodeOf(tensor);
    if (node !== null) names.set(node, name);
  }
  return names;
}

function sizeOf(tensor: Tensor): string {
  return `(${tensor.shape.join(", ")})`;
}
