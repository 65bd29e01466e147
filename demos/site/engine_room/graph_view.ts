// Draws the graph; the look of nodes depends on the displayed moment.

import { linesOf } from "./layout_text.js";
import type { Point, Recording } from "./recording.js";
import { laneColor, svg } from "./svg.js";
import type { Timeline } from "./timeline.js";

export class GraphView {
  readonly #element: HTMLElement;
  readonly #choose: (node: number) => void;
  #nodes: SVGGElement[] = [];
  #looks: string[] = [];

  /** `choose` is called with the node under the pointer or with the focus. */
  constructor(element: HTMLElement, choose: (node: number) => void) {
    this.#element = element;
    this.#choose = choose;
  }

  /** Draws a new graph. */
  draw(recording: Recording): void {
    const { layout, nodes } = recording;
    const picture = svg("svg", {
      viewBox: `0 0 ${layout.width} ${layout.height}`,
      style: `--width: ${Math.round(layout.width)}px`,
      role: "group",
      "aria-label": `Backward graph of ${nodes.length} nodes`,
    });
    picture.append(arrowHead(), ...layout.edges.map(edge));
    this.#nodes = nodes.map((_, id) => this.#node(recording, id));
    this.#looks = nodes.map(() => "");
    picture.append(...this.#nodes);
    this.#element.replaceChildren(picture);
  }

  /** Shows a moment. */
  show(timeline: Timeline, time: number): void {
    this.#nodes.forEach((element, id) => {
      const { state, lane } = timeline.stateOf(id, time);
      const look = `${state} ${lane}`;
      if (this.#looks[id] === look) return;
      this.#looks[id] = look;
      element.dataset.state = state;
      element.style.setProperty("--lane", laneColor(lane));
    });
  }

  /** Highlights the node whose details are shown. */
  mark(node: number | null): void {
    this.#nodes.forEach((element, id) => {
      element.classList.toggle("chosen", id === node);
    });
  }

  #node({ layout, nodes }: Recording, id: number): SVGGElement {
    const node = nodes[id] as Recording["nodes"][number];
    const { x, y, width, height } = layout.nodes[id] as Recording["layout"]["nodes"][number];
    const [first, second] = linesOf(node);
    const group = svg("g", {
      class: node.leaf === null ? "node" : "node leaf",
      transform: `translate(${x - width / 2} ${y - height / 2})`,
      tabindex: 0,
      role: "button",
      "aria-label": `${first} ${second}`,
    });
    const radius = node.leaf === null ? 8 : height / 2;
    group.append(svg("rect", { width, height, rx: radius }));
    const middle = second === "" ? height / 2 + 4 : height / 2 - 4;
    const name = text(first, width / 2, middle, "name");
    // The space makes the visible text equal to the label for screen readers.
    group.append(name, " ", text(second, width / 2, height / 2 + 12, "detail"));
    for (const type of ["pointerenter", "focus", "click"]) {
      group.addEventListener(type, () => this.#choose(id));
    }
    return group;
  }
}

function text(content: string, x: number, y: number, name: string): SVGTextElement {
  const element = svg("text", { x, y, class: name, "text-anchor": "middle" });
  element.textContent = content;
  return element;
}

function arrowHead(): SVGDefsElement {
  const definitions = svg("defs");
  const marker = svg("marker", {
    id: "arrow",
    viewBox: "0 0 8 8",
    refX: 7,
    refY: 4,
    markerWidth: 7,
    markerHeight: 7,
    orient: "auto",
  });
  marker.append(svg("path", { d: "M0 0L8 4L0 8z", class: "arrow" }));
  definitions.append(marker);
  return definitions;
}

// A curve through the midpoints of the line's segments, with its corners as control points.
function edge(points: readonly Point[]): SVGPathElement {
  const [first, ...rest] = points as [Point, ...Point[]];
  const last = rest.at(-1) ?? first;
  const curves = rest.slice(0, -1).map((corner, i) => {
    const next = rest[i + 1] as Point;
    const isLast = i === rest.length - 2;
    const end = isLast ? next : { x: (corner.x + next.x) / 2, y: (corner.y + next.y) / 2 };
    return `Q${corner.x} ${corner.y} ${end.x} ${end.y}`;
  });
  const d = `M${first.x} ${first.y}${curves.join("") || `L${last.x} ${last.y}`}`;
  return svg("path", { d, class: "edge", "marker-end": "url(#arrow)" });
}
