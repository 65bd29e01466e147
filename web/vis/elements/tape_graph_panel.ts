// <eg-tape-graph>: the graph that backward will run.

import type { TapeGraph, TapeNode } from "../model/tape_graph.js";
import { element, svg } from "./dom.js";
import type { Box, Point } from "./layout.js";
import { type Data, Panel } from "./panel.js";

const kStyle = `
.graph { display: block; max-inline-size: none; font-size: 12px; }
.graph rect { fill: var(--surface); stroke: var(--dim); }
.graph .leaf rect { fill: color-mix(in srgb, var(--series-3) 20%, var(--surface)); stroke: var(--series-3); }
.graph text { fill: var(--text); text-anchor: middle; }
.graph .detail { fill: var(--dim); }
.graph path { fill: none; stroke: var(--dim); }
.graph marker path { fill: var(--dim); stroke: none; }
.view { overflow: auto; max-block-size: 480px; }
`;

/** Displays the result of `tapeGraph()`. */
export class TapeGraphPanel extends Panel {
  #graph: TapeGraph | null = null;
  // Loaded with the first graph, because the library is as large as all other panels.
  #layout: typeof import("./layout.js") | null = null;

  override show(graph: TapeGraph | null): void {
    this.#graph = graph;
    this.redraw();
    if (this.#graph !== null && this.#layout === null) void this.#load();
  }

  protected override draw(): string | null {
    if (this.#graph === null || this.#layout === null) return "No graph yet";
    const label = `Graph of ${this.#graph.nodes.length} nodes`;
    const view = { class: "view", tabindex: 0, role: "group", "aria-label": label };
    this.area.replaceChildren(element("div", view, drawingOf(this.#graph, label, this.#layout)));
    return null;
  }

  protected override data(): Data | null {
    const graph = this.#graph;
    if (graph === null) return null;
    const rows = graph.nodes.map((node, i) => {
      const next = graph.edges.filter(({ from }) => from === i).map(({ to }) => String(to));
      return [String(i), node.name, node.detail, next.join(", ")];
    });
    return { titles: ["Node", "Name", "Leaf", "Leads to"], rows };
  }

  protected override defaultHeading(): string {
    return "Backward graph";
  }

  protected override moreStyle(): string {
    return kStyle;
  }

  async #load(): Promise<void> {
    this.#layout = await import("./layout.js");
    this.redraw();
  }
}

function drawingOf(
  { nodes, edges }: TapeGraph,
  label: string,
  { layOut }: typeof import("./layout.js"),
): SVGSVGElement {
  const boxes = nodes.map(({ name, detail }) => [name, detail]);
  const { width, height, nodes: places, edges: lines } = layOut(boxes, edges);
  const head = svg(
    "marker",
    {
      id: "head",
      viewBox: "0 0 8 8",
      refX: 7,
      refY: 4,
      markerWidth: 7,
      markerHeight: 7,
      orient: "auto",
    },
    svg("path", { d: "M0 0L8 4L0 8z" }),
  );
  return svg(
    "svg",
    {
      class: "graph",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": label,
    },
    svg("defs", {}, head),
    ...lines.map((points) => svg("path", { d: pathOf(points), "marker-end": "url(#head)" })),
    ...nodes.map((node, i) => boxOf(node, places[i] as Box)),
  );
}

function boxOf({ name, detail }: TapeNode, { x, y, width, height }: Box): SVGGElement {
  const left = x - width / 2;
  const top = y - height / 2;
  const isLeaf = detail !== "";
  const group = svg(
    "g",
    { class: isLeaf ? "leaf" : null },
    svg("rect", { x: left, y: top, width, height, rx: 6 }),
    svg("text", { x, y: isLeaf ? y - 4 : y + 4 }, name),
  );
  if (isLeaf) group.append(svg("text", { x, y: y + 12, class: "detail" }, detail));
  return group;
}

function pathOf(points: readonly Point[]): string {
  return points
    .map(({ x, y }, i) => `${i === 0 ? "M" : "L"}${x.toFixed(1)} ${y.toFixed(1)}`)
    .join("");
}
