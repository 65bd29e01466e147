import type { GraphNode } from "./recording.js";

/** The two lines of text in a node's box. */
export function linesOf({ name, leaf, gradients }: GraphNode): [string, string] {
  return [name, leaf === null ? gradients.join("  ") : leaf.name];
}
