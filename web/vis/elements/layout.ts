// Layout by dagre (@dagrejs/dagre, 49 kB), which arranges a directed graph in layers like Graphviz's dot.

import { Graph, layout as place } from "@dagrejs/dagre";

/** The usual height of boxes. */
export const kBoxHeight = 44;
const kRankSeparation = 34;
const kCharacter = 7.4;
const kPadding = 26;

/** An edge between boxes, by their indices in the list. */
export interface Edge {
  readonly from: number;
  readonly to: number;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

/** Positions in the drawing; boxes by their centers. */
export interface Layout {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly Box[];
  readonly edges: readonly (readonly Point[])[];
}

/** Lengths in the drawing. */
export interface LayoutOptions {
  /** The height of every box. */
  readonly boxHeight?: number;
  /** Between the boxes of two layers. */
  readonly rankSeparation?: number;
}

/** Computes the layout of boxes, each given by its lines of text, from top to bottom. */
export function layOut(
  boxes: readonly (readonly string[])[],
  edges: readonly Edge[],
  { boxHeight = kBoxHeight, rankSeparation = kRankSeparation }: LayoutOptions = {},
): Layout {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: rankSeparation, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  boxes.forEach((lines, id) => {
    const longest = Math.max(...lines.map(({ length }) => length));
    graph.setNode(String(id), { width: longest * kCharacter + kPadding, height: boxHeight });
  });
  edges.forEach(({ from, to }, i) => {
    graph.setEdge(String(from), String(to), {}, String(i));
  });
  place(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: boxes.map((_, id) => {
      const { x, y, width, height } = graph.node(String(id)) as Box;
      return { x, y, width, height };
    }),
    edges: edges.map(({ from, to }, i) => {
      const { points } = graph.edge(String(from), String(to), String(i)) as {
        points: readonly Point[];
      };
      return points.map(({ x, y }) => ({ x, y }));
    }),
  };
}
