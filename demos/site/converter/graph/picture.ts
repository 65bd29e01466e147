// What of a model's graph is drawn: boxes for groups and nodes, inputs and outputs, and an edge for the values between them.

import type { OnnxDescription } from "edgegrad/onnx";
import type { Edge } from "../../shared/graph/layout.js";
import type { Group } from "./tree.js";

/** A size that is known, one with a name, or any. */
export type Shape = readonly (number | string | null)[];

/** A box: a group or a node, or a value that goes in or comes out. */
export interface PictureBox {
  readonly lines: readonly [string, string];
  readonly kind: "input" | "output" | "node" | "group";
  /** The group or node; null for inputs and outputs. */
  readonly group: Group | null;
  readonly isSupported: boolean;
}

export interface Picture {
  readonly boxes: readonly PictureBox[];
  readonly edges: readonly Edge[];
}

const kMostCharacters = 28;

/** Returns the boxes and edges to draw. `shapes` are the known shapes of values, by name. */
export function pictureOf(
  { nodes, inputs, outputs }: OnnxDescription,
  groups: readonly Group[],
  shapes: ReadonlyMap<string, Shape>,
): Picture {
  const boxes: PictureBox[] = [];
  const makers = new Map<string, number>();
  const add = (box: PictureBox) => boxes.push(box) - 1;
  const ends = { group: null, isSupported: true };
  for (const { name } of inputs) {
    makers.set(
      name,
      add({ ...ends, lines: [short(name), shapeText(shapes.get(name))], kind: "input" }),
    );
  }
  const edges = new Map<string, Edge>();
  const connect = (value: string, to: number) => {
    const from = makers.get(value);
    if (from !== undefined && from !== to) edges.set(`${from} ${to}`, { from, to });
  };
  const whole = groups.map((group) => [group, add(boxOf(group, nodes, shapes))] as const);
  for (const [{ start, end }, id] of whole) {
    for (const { outputs: made } of nodes.slice(start, end))
      for (const name of made) makers.set(name, id);
  }
  for (const [{ start, end }, id] of whole) {
    for (const { inputs: read } of nodes.slice(start, end))
      for (const name of read) connect(name, id);
  }
  for (const { name } of outputs) {
    connect(
      name,
      add({ ...ends, lines: [short(name), shapeText(shapes.get(name))], kind: "output" }),
    );
  }
  return { boxes, edges: [...edges.values()] };
}

function boxOf(
  group: Group,
  nodes: OnnxDescription["nodes"],
  shapes: ReadonlyMap<string, Shape>,
): PictureBox {
  const inside = nodes.slice(group.start, group.end);
  const isSupported = inside.every((node) => node.isSupported);
  const [node] = inside;
  const isGroup = group.parts.length > 0;
  if (!isGroup && node !== undefined) {
    const shape = shapeText(shapes.get(node.outputs[0] ?? ""));
    return { lines: [short(node.op), shape], kind: "node", group, isSupported };
  }
  return {
    lines: [short(group.name), `${inside.length} nodes`],
    kind: "group",
    group,
    isSupported,
  };
}

/** A shape as text; empty if it is not known. */
export function shapeText(shape: Shape | undefined): string {
  return shape === undefined ? "" : `[${shape.map((size) => size ?? "?").join(", ")}]`;
}

function short(text: string): string {
  return text.length > kMostCharacters ? `…${text.slice(1 - kMostCharacters)}` : text;
}
