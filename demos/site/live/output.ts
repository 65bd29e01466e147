// What a program has printed, plotted and recorded, below its code.

import type { Line, Output, Table } from "../shared/code_runner.js";

const kMostLines = 300;

type Vis = typeof import("edgegrad/vis");

/** The charts for the kinds of records of edgegrad/vis. */
const kCharts: Readonly<Record<string, string>> = {
  scalar: "eg-line-chart",
  histogram: "eg-histogram",
  matrix: "eg-confusion-matrix",
  image: "eg-image-grid",
};

/** Shows the output of a program in an element. */
export class LiveOutput {
  readonly #printed = document.createElement("div");
  readonly #charts = document.createElement("div");
  readonly #note = document.createElement("p");
  #vis: Promise<Vis> | null = null;
  #log: ReturnType<Vis["createLog"]> | null = null;

  constructor(element: HTMLElement) {
    this.#printed.className = "printed";
    this.#printed.setAttribute("role", "log");
    this.#printed.setAttribute("aria-label", "Output");
    this.#printed.tabIndex = 0;
    this.#note.className = "live-note";
    element.append(this.#charts, this.#printed, this.#note);
  }

  /** Removes what the last run has left. */
  clear(): void {
    this.#printed.replaceChildren();
    this.#charts.replaceChildren();
    this.#log = null;
    this.#note.textContent = "";
  }

  /** Shows a line below the output. */
  note(text: string): void {
    this.#note.textContent = text;
  }

  /** Shows more output. */
  async show({ lines, points, records }: Output): Promise<void> {
    this.#printed.append(...lines.map(lineElement));
    while (this.#printed.childElementCount > kMostLines) this.#printed.firstChild?.remove();
    this.#printed.scrollTop = this.#printed.scrollHeight;
    const plotted = points.map(([x, y]) => ({
      run: "plot",
      record: { kind: "scalar" as const, tag: "plot", step: Math.round(x), wallTime: 0, value: y },
    }));
    if (plotted.length + records.length === 0) return;
    this.#vis ??= import("edgegrad/vis");
    const vis = await this.#vis;
    this.#log ??= vis.createLog();
    for (const { run, record } of [...records, ...plotted]) {
      this.#showChart(vis, record.kind);
      this.#log.run(run).take(record);
    }
  }

  #showChart(vis: Vis, kind: string): void {
    const name = kCharts[kind];
    if (name === undefined || this.#charts.querySelector(name) !== null) return;
    const chart = document.createElement(name);
    chart.setAttribute("heading", kind === "scalar" ? "Recorded" : `Recorded: ${kind}`);
    Object.assign(chart, { log: this.#log });
    this.#charts.append(chart);
    void vis.defineElements();
  }
}

function lineElement({ kind, text, table }: Line): HTMLElement {
  if (table !== undefined) return tableElement(table);
  const element = document.createElement("div");
  element.className = kind;
  element.textContent = text;
  return element;
}

function tableElement({ title, rows }: Table): HTMLElement {
  const scroll = document.createElement("div");
  scroll.className = "live-table";
  const table = document.createElement("table");
  table.createCaption().textContent = title;
  for (const row of rows) {
    const line = table.insertRow();
    for (const text of row) line.insertCell().textContent = text;
  }
  scroll.append(table);
  return scroll;
}
