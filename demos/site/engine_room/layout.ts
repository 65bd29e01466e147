// Layout by dagre (@dagrejs/dagre), which arranges a directed graph in layers like Graphviz's dot, in 49 kB.

import { Graph, layout as place } from "@dagrejs/dagre";
import { linesOf } from "./layout_text.js";
import type { GraphEdge, GraphNode, Layout } from "./recording.js";

const kCharacter = 7.4;
const kPadding = 26;
const kHeight = 44;

/** Computes a layout of a graph, from the roots downwards. */
export function layOut(nodes: readonly GraphNode[], edges: readonly GraphEdge[]): Layout {
  const graph = new Graph({ multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 22, ranksep: 34, marginx: 8, marginy: 8 });
  graph.setDefaultEdgeLabel(() => ({}));
  nodes.forEach((node, id) => {
    const longest = Math.max(...linesOf(node).map(({ length }) => length));
    graph.setNode(String(id), { width: longest * kCharacter + kPadding, height: kHeight });
  });
  edges.forEach(({ from, to }, i) => {
    graph.setEdge(String(from), String(to), {}, String(i));
  });
  place(graph);
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number };
  return {
    width,
    height,
    nodes: nodes.map((_, id) => graph.node(String(id)) as Layout["nodes"][number]),
    edges: edges.map(({ from, to }, i) => {
      const { points } = graph.edge(String(from), String(to), String(i)) as {
        points: Layout["edges"][number];
      };
      return points.map(({ x, y }) => ({ x, y }));
    }),
  };
}
