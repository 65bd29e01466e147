// What a program has printed, line by line, the newest in view.

import { element } from "../elements.js";

const kMostLines = 300;

export class PrintedLog {
  readonly element = element("div", "", "printed");

  constructor() {
    this.element.setAttribute("role", "log");
    this.element.setAttribute("aria-label", "Output");
    this.element.tabIndex = 0;
  }

  /** Adds lines; the oldest go when there are too many. */
  add(lines: readonly HTMLElement[]): void {
    this.element.append(...lines);
    while (this.element.childElementCount > kMostLines) this.element.firstChild?.remove();
    this.element.scrollTop = this.element.scrollHeight;
  }

  clear(): void {
    this.element.replaceChildren();
  }
}
