// What all panels have in common: a figure with a heading, controls, a drawing, and a table behind it. The element of the page is in
// shells.ts, which calls its panel.

import { element, scrolling, table } from "./dom.js";
import { kStyle } from "./style.js";

/** The data behind a drawing. */
export interface Data {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The most rows of the table behind a chart. */
const kMostRows = 200;

/** What an element of a page shows; draws it again in the next frame when that changes. */
export abstract class Panel {
  /** Where the panel is drawn. */
  protected readonly area = element("div", { class: "area" });
  /** Where its controls are. */
  protected readonly controls = element("div", { class: "controls" });
  readonly #caption = element("figcaption");
  readonly #table = scrolling("Data");
  readonly #details = element(
    "details",
    {},
    element("summary", {}, "Data as a table"),
    this.#table,
  );
  readonly #figure = element("figure");
  #isDrawn = true;
  // The color of texts; a change of it begins a transition.
  readonly #probe = element("span", { class: "probe", "aria-hidden": true });

  /** Makes the contents of an element of a page. */
  constructor(protected readonly host: HTMLElement) {
    const root = host.attachShadow({ mode: "open" });
    const style = element("style", {}, kStyle, this.moreStyle());
    this.#figure.append(this.#caption, this.controls, this.area, this.#details, this.#probe);
    root.append(style, this.#figure);
    this.#details.addEventListener("toggle", () => this.#fillTable());
    this.#probe.addEventListener("transitionend", () => this.redraw());
  }

  /** Shows what the element's property was set to. */
  abstract show(value: never): void;

  /** Called when the element has come into the page. */
  connected(): void {
    this.redraw();
  }

  /** Called when the element has left the page. */
  disconnected(): void {}

  /** Called when an attribute has changed. */
  attributeChanged(_name: string): void {
    this.redraw();
  }

  /** Draws the panel again in the next frame, for example after custom properties have changed. */
  redraw(): void {
    if (!this.#isDrawn || !this.host.isConnected) return;
    this.#isDrawn = false;
    requestAnimationFrame(() => {
      this.#isDrawn = true;
      if (!this.host.isConnected) return;
      const nothing = this.draw();
      if (nothing !== null) this.area.replaceChildren(element("p", { class: "empty" }, nothing));
      const heading = this.host.getAttribute("heading") ?? this.defaultHeading();
      this.#caption.textContent = heading;
      this.#caption.hidden = heading === "";
      this.#figure.setAttribute("aria-label", heading);
      this.#details.hidden = nothing !== null || !this.hasData();
      this.#fillTable();
    });
  }

  /** Draws what there is now into `area`, and returns null; or returns the sentence to show, because there is nothing. */
  protected abstract draw(): string | null;

  /** Returns the data behind the drawing; null if there is none. */
  protected abstract data(): Data | null;

  /** Whether there is a table behind the drawing; false if the drawing is a table itself. */
  protected hasData(): boolean {
    return true;
  }

  protected abstract defaultHeading(): string;

  protected moreStyle(): string {
    return "";
  }

  /** Returns the color that a custom property of the style sheet has now, for a canvas. */
  protected color(name: string): string {
    const probe = element("span", { style: `color: var(--${name})` });
    this.#figure.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  }

  #fillTable(): void {
    const data = this.#details.open ? this.data() : null;
    const shown = data?.rows.slice(-kMostRows) ?? [];
    const isCut = data !== null && shown.length < data.rows.length;
    const caption = isCut ? `The last ${kMostRows} of ${data.rows.length} rows` : "All rows";
    const made = data === null ? [] : [table(caption, data.titles, shown)];
    this.#table.replaceChildren(...made);
  }
}
