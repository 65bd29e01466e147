// The base class of panels: a figure with a heading, controls, a drawing, and a table of its data. The custom elements are in shells.ts;
// each calls its panel.

import { element, scrolling, table } from "./dom.js";
import { kStyle } from "./style.js";

/** The data behind a drawing. */
export interface Data {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The limit on rows of a chart's data table. */
const kMostRows = 200;

/** The contents of an element, which are redrawn in the next frame when they change. */
export abstract class Panel {
  /** The area of the drawing. */
  protected readonly area = element("div", { class: "area" });
  /** The container of the controls. */
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
  // Has the color of the text; a change of the color starts a transition, whose event redraws the panel.
  readonly #probe = element("span", { class: "probe", "aria-hidden": true });

  /** Creates the contents of an element. */
  constructor(protected readonly host: HTMLElement) {
    const root = host.attachShadow({ mode: "open" });
    const style = element("style", {}, kStyle, this.moreStyle());
    this.#figure.append(this.#caption, this.controls, this.area, this.#details, this.#probe);
    root.append(style, this.#figure);
    this.#details.addEventListener("toggle", () => this.#fillTable());
    this.#probe.addEventListener("transitionend", () => this.redraw());
  }

  /** Displays the value of the element's property. */
  abstract show(value: never): void;

  /** Called when the element is connected to the page. */
  connected(): void {
    this.redraw();
  }

  /** Called when the element is disconnected from the page. */
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

  /** Draws the current data into `area` and returns null; if there is no data, returns the sentence to display instead. */
  protected abstract draw(): string | null;

  /** Returns the data behind the drawing; null if there is none. */
  protected abstract data(): Data | null;

  /** Whether the panel has a data table; false if the drawing is a table itself. */
  protected hasData(): boolean {
    return true;
  }

  protected abstract defaultHeading(): string;

  protected moreStyle(): string {
    return "";
  }

  /** Returns the present color of a custom property of the style sheet, for a canvas. */
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
