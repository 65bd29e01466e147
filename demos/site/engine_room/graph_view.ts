// Draws the graph; the look of nodes depends on the displayed moment.

import { box, drawing } from "../shared/graph/drawing.js";
import type { Box } from "../shared/graph/layout.js";
import { laneColor } from "./lane_color.js";
import { linesOf } from "./layout_text.js";
import type { Recording } from "./recording.js";
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
    const picture = drawing(layout, `Backward graph of ${nodes.length} nodes`);
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
    const isLeaf = node.leaf !== null;
    const group = box(layout.nodes[id] as Box, {
      lines: linesOf(node),
      kind: isLeaf ? "leaf" : "",
      isRound: isLeaf,
    });
    for (const type of ["pointerenter", "focus", "click"]) {
      group.addEventListener(type, () => this.#choose(id));
    }
    return group;
  }
}
