// The graph on the page: drawn, zoomed and scrolled, with groups that open and close, by pointer and keyboard.

import { box, drawing } from "../../shared/graph/drawing.js";
import type { Box, Layout } from "../../shared/graph/layout.js";
import type { Picture, PictureBox } from "./picture.js";

const kSmallest = 0.15;
const kLargest = 2;
const kStep = 1.25;
const kKeySteps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowRight: 1,
  ArrowUp: -1,
  ArrowLeft: -1,
};

export class GraphView {
  readonly #element: HTMLElement;
  readonly #press: (box: PictureBox) => void;
  #boxes: SVGGElement[] = [];
  #picture: SVGSVGElement | null = null;
  #width = 1;
  #zoom = 1;
  #isFitted = true;

  /** `press` is called with the box that is pressed. */
  constructor(element: HTMLElement, press: (box: PictureBox) => void) {
    this.#element = element;
    this.#press = press;
    element.addEventListener("keydown", (event) => this.#onKey(event));
    element.addEventListener(
      "wheel",
      (event) => {
        if (!event.ctrlKey) return;
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? kStep : 1 / kStep);
      },
      { passive: false },
    );
    new ResizeObserver(() => requestAnimationFrame(() => this.#isFitted && this.fit())).observe(
      element,
    );
  }

  /** Draws a picture; the box that `isFocused` chooses gets the focus, if the focus was in the graph. */
  draw({ boxes }: Picture, layout: Layout, isFocused: (box: PictureBox) => boolean): void {
    const hadFocus = this.#element.contains(document.activeElement);
    const { scrollTop } = this.#element;
    this.#picture = drawing(layout, `Graph of ${boxes.length} boxes; arrow keys move between them`);
    this.#width = layout.width;
    this.#boxes = boxes.map((box, id) => this.#box(box, layout.nodes[id] as Box));
    this.#picture.append(...this.#boxes);
    this.#element.replaceChildren(this.#picture);
    if (this.#isFitted) this.fit();
    else this.#apply();
    this.#element.scrollTop = scrollTop;
    const chosen = Math.max(boxes.findIndex(isFocused), 0);
    this.#stopAt(chosen);
    if (hadFocus) this.#boxes[chosen]?.focus();
  }

  /** Marks the boxes that fulfil a condition. */
  mark(isMarked: (id: number) => boolean): void {
    this.#boxes.forEach((element, id) => {
      element.classList.toggle("chosen", isMarked(id));
    });
  }

  /** Enlarges by a factor. */
  zoom(factor: number): void {
    this.#isFitted = false;
    this.#zoom = Math.min(Math.max(this.#zoom * factor, kSmallest), kLargest);
    this.#apply();
  }

  /** Makes the graph as wide as the page has room for, as long as it can be read. */
  fit(): void {
    this.#isFitted = true;
    this.#zoom = Math.min(Math.max(this.#element.clientWidth / this.#width, 0.75), 1);
    this.#apply();
  }

  #apply(): void {
    if (this.#picture !== null) this.#picture.style.width = `${this.#width * this.#zoom}px`;
  }

  #box(drawn: PictureBox, place: Box): SVGGElement {
    const classes = [drawn.kind, drawn.isSupported ? "" : "unsupported"];
    const [name, detail] = drawn.lines;
    const what = drawn.kind === "node" ? "" : `${drawn.kind} `;
    const problem = drawn.isSupported ? "" : ", not supported";
    const element = box(place, {
      lines: drawn.lines,
      kind: classes.join(" ").trim(),
      isRound: drawn.kind === "input" || drawn.kind === "output",
      label: `${what}${name} ${detail}${problem}`,
    });
    element.addEventListener("click", () => this.#press(drawn));
    return element;
  }

  // One box can be reached by Tab, the others by arrow keys: a graph may have hundreds.
  #stopAt(id: number): void {
    this.#boxes.forEach((element, i) => {
      element.setAttribute("tabindex", i === id ? "0" : "-1");
    });
  }

  #onKey(event: KeyboardEvent): void {
    const at = this.#boxes.indexOf(document.activeElement as SVGGElement);
    if (at < 0) return;
    const step = kKeySteps[event.key];
    if (step !== undefined) {
      const next = Math.min(Math.max(at + step, 0), this.#boxes.length - 1);
      this.#stopAt(next);
      this.#boxes[next]?.focus();
    } else if (event.key === "Enter" || event.key === " ") {
      this.#boxes[at]?.dispatchEvent(new MouseEvent("click"));
    } else return;
    event.preventDefault();
  }
}
