// The graph of a chapter: each value with its number and its gradient, each edge with what passed along it.

import { drawing } from "../shared/graph/drawing.js";
import { type Box, type Layout, layOut, type Point } from "../shared/graph/layout.js";
import { svg } from "../shared/svg.js";
import { numbersText } from "./numbers.js";
import type { Known, Step } from "./steps.js";
import type { Trace, TracedEdge } from "./trace.js";

const kBoxHeight = 64;
// Numbers change while a visitor drags; boxes stay.
const kCharacters = { number: 13, tensor: 22 };
const kPixelsPerUnit = 60;

/** The parts of a box that change. */
interface Parts {
  readonly group: SVGGElement;
  readonly value: SVGTextElement;
  readonly gradient: SVGTextElement;
}

export interface GraphViewOptions {
  /** Called when a box is pressed. */
  readonly choose: (value: number) => void;
  /** Called when a box of an input is dragged, with the change of its number. */
  readonly drag: (value: number, change: number) => void;
}

export class GraphView {
  readonly #element: HTMLElement;
  readonly #options: GraphViewOptions;
  #boxes: Parts[] = [];
  #edges: { path: SVGPathElement; label: SVGTextElement }[] = [];

  constructor(element: HTMLElement, options: GraphViewOptions) {
    this.#element = element;
    this.#options = options;
  }

  /** Draws the boxes and edges of a trace, without numbers. */
  draw(trace: Trace): void {
    const layout = layOut(trace.values.map(linesOf), trace.edges, {
      boxHeight: kBoxHeight,
      rankSeparation: 46,
    });
    const picture = drawing(layout, `A graph of ${trace.values.length} values`);
    this.#boxes = trace.values.map((_, id) => this.#box(trace, id, layout.nodes[id] as Box));
    const paths = [...picture.querySelectorAll<SVGPathElement>("path.edge")];
    this.#edges = paths.map((path, i) => ({ path, label: label(layout, i) }));
    picture.append(
      ...this.#boxes.map(({ group }) => group),
      ...this.#edges.map(({ label }) => label),
    );
    this.#element.replaceChildren(picture);
  }

  /** Shows the values and gradients that are known at a step, and marks what the step computes. */
  show(trace: Trace, known: Known, { kind, value: current }: Step): void {
    trace.values.forEach((value, id) => {
      const { group, value: number, gradient } = this.#boxes[id] as Parts;
      const received = known.gradients[id];
      number.textContent = known.values[id] ? numbersText(value.numbers, value.shape) : "…";
      gradient.textContent = received ? `grad ${numbersText(received, value.shape)}` : "";
      group.classList.toggle("known", known.values[id]);
      group.classList.toggle("received", Boolean(received));
      group.classList.toggle("current", id === current);
    });
    trace.edges.forEach((edge, i) => {
      const { path, label } = this.#edges[i] as { path: SVGPathElement; label: SVGTextElement };
      const isNow = edge.to === current;
      path.classList.toggle("forward", isNow && kind === "forward");
      path.classList.toggle("back", known.edges[i]);
      path.classList.toggle("now", isNow && kind === "backward" && known.edges[i]);
      label.textContent = known.edges[i] ? passed(trace, edge) : "";
    });
  }

  /** Marks the value whose details are shown. */
  mark(chosen: number): void {
    this.#boxes.forEach(({ group }, id) => {
      group.classList.toggle("chosen", id === chosen);
    });
  }

  #box(trace: Trace, id: number, { x, y, width, height }: Box): Parts {
    const value = trace.values[id] as Trace["values"][number];
    const isInput = value.symbol === null;
    const group = svg("g", {
      class: `node ${isInput ? "input" : "op"}${value.hasGradient ? "" : " data"}`,
      transform: `translate(${x - width / 2} ${y - height / 2})`,
      tabindex: 0,
      role: "button",
      "aria-label": isInput ? value.name : `${value.name}, ${value.symbol}`,
    });
    const middle = width / 2;
    const name = isInput ? value.name : `${value.name} (${value.symbol})`;
    const number = text(middle, 37, "number");
    const gradient = text(middle, 55, "gradient");
    const title = text(middle, 18, "name");
    title.textContent = name;
    group.append(
      svg("rect", { width, height, rx: isInput ? height / 2 : 8 }),
      title,
      number,
      gradient,
    );
    for (const type of ["focus", "click"]) {
      group.addEventListener(type, () => this.#options.choose(id));
    }
    if (isInput && value.shape.length === 0) this.#makeDraggable(group, id);
    return { group, value: number, gradient };
  }

  #makeDraggable(group: SVGGElement, id: number): void {
    let from: number | null = null;
    group.classList.add("draggable");
    group.addEventListener("pointerdown", (event) => {
      from = event.clientX;
      group.setPointerCapture(event.pointerId);
    });
    group.addEventListener("pointermove", (event) => {
      if (from === null) return;
      this.#options.drag(id, (event.clientX - from) / kPixelsPerUnit);
      from = event.clientX;
    });
    for (const type of ["pointerup", "pointercancel"] as const) {
      group.addEventListener(type, () => {
        from = null;
      });
    }
  }
}

// Stands for the width only.
function linesOf({ shape, name, symbol }: Trace["values"][number]): string[] {
  const characters = shape.length === 0 ? kCharacters.number : kCharacters.tensor;
  return [" ".repeat(Math.max(characters, name.length + (symbol?.length ?? 0) + 2))];
}

function text(x: number, y: number, name: string): SVGTextElement {
  return svg("text", { x, y, class: name, "text-anchor": "middle" });
}

// At the middle of an edge.
function label({ edges }: Layout, i: number): SVGTextElement {
  const points = edges[i] as readonly Point[];
  const { x, y } = points[Math.floor(points.length / 2)] as Point;
  return text(x, y + 4, "passed");
}

// What the gradient of the op was multiplied by, and the result.
function passed(trace: Trace, { from, gradient, slope }: TracedEdge): string {
  const operand = trace.values[from];
  if (operand === undefined || gradient === null) return "";
  const got = numbersText(gradient, operand.shape);
  return slope === null ? got : `× ${numbersText([slope], [])} = ${got}`;
}
