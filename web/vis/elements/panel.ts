// What all panels have in common: a figure with a heading, controls, a drawing, and a table behind it.

import { element, scrolling, table } from "./dom.js";
import { kStyle } from "./style.js";

/** The data behind a drawing. */
export interface Data {
  readonly titles: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** The most rows of the table behind a chart. */
const kMostRows = 200;

/** A custom element that shows something, and draws it again in the next frame when that changes. */
export abstract class Panel extends HTMLElement {
  static readonly observedAttributes: readonly string[] = ["heading"];

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

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open" });
    const style = element("style", {}, kStyle, this.moreStyle());
    this.#figure.append(this.#caption, this.controls, this.area, this.#details, this.#probe);
    root.append(style, this.#figure);
    this.#details.addEventListener("toggle", () => this.#fillTable());
    this.#probe.addEventListener("transitionend", () => this.redraw());
  }

  /** Called by the page. */
  connectedCallback(): void {
    // A framework may have set properties before the class was known.
    for (const name of this.properties()) this.#upgrade(name);
    this.redraw();
  }

  /** Called by the page. */
  attributeChangedCallback(): void {
    this.redraw();
  }

  /** Draws the panel again in the next frame, for example after custom properties have changed. */
  redraw(): void {
    if (!this.#isDrawn || !this.isConnected) return;
    this.#isDrawn = false;
    requestAnimationFrame(() => {
      this.#isDrawn = true;
      if (!this.isConnected) return;
      const nothing = this.draw();
      if (nothing !== null) this.area.replaceChildren(element("p", { class: "empty" }, nothing));
      const heading = this.getAttribute("heading") ?? this.defaultHeading();
      this.#caption.textContent = heading;
      this.#caption.hidden = heading === "";
      this.#figure.setAttribute("aria-label", heading);
      this.#details.hidden = nothing !== null || !this.hasData();
      this.#fillTable();
    });
  }

  /** The properties that pages set. */
  protected abstract properties(): readonly string[];

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

  #upgrade(name: string): void {
    if (!Object.hasOwn(this, name)) return;
    const own = this as unknown as Record<string, unknown>;
    const value = own[name];
    delete own[name];
    own[name] = value;
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
