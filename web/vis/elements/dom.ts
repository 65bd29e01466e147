// Creates DOM elements.

type Attributes = Readonly<Record<string, string | number | boolean | null>>;

/** Returns an element with attributes (null and false omit one) and contents; strings are never parsed as HTML. */
export function element<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...contents: (Node | string)[]
): HTMLElementTagNameMap[Name] {
  const made = document.createElement(name);
  setAll(made, attributes);
  made.append(...contents);
  return made;
}

/** Returns an SVG element. */
export function svg<Name extends keyof SVGElementTagNameMap>(
  name: Name,
  attributes: Attributes = {},
  ...contents: (Node | string)[]
): SVGElementTagNameMap[Name] {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  setAll(made, attributes);
  made.append(...contents);
  return made;
}

function setAll(target: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== false)
      target.setAttribute(name, value === true ? "" : String(value));
}

/** Returns a box with these contents that can be scrolled, also by keyboard. */
export function scrolling(label: string, ...contents: Node[]): HTMLDivElement {
  const attributes = { class: "scroll", tabindex: 0, role: "group", "aria-label": label };
  return element("div", attributes, ...contents);
}

/** Returns a table with a caption, column titles and rows of strings; the first cell of a row is its heading. */
export function table(
  caption: string,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): HTMLTableElement {
  const head = element("tr", {}, ...titles.map((title) => element("th", { scope: "col" }, title)));
  const lines = rows.map(([first = "", ...rest]) =>
    element(
      "tr",
      {},
      element("th", { scope: "row" }, first),
      ...rest.map((text) => element("td", {}, text)),
    ),
  );
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, head),
    element("tbody", {}, ...lines),
  );
}

/** The maximum length of a number; longer ones are written with an exponent. */
const kMostCharacters = 8;

/** Returns a number with about four digits. */
export function shortNumber(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const text = String(Number(value.toPrecision(4)));
  return text.length > kMostCharacters ? value.toExponential(2) : text;
}
