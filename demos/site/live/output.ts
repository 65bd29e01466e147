// What a program has printed, plotted and recorded, below its code.

import type { Line, Output, Table } from "../shared/code/code_runner.js";
import { PrintedLog } from "../shared/code/printed_log.js";
import { element, paragraph } from "../shared/elements.js";

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
  readonly #printed = new PrintedLog();
  readonly #charts = element("div");
  readonly #note = paragraph("", "live-note");
  #vis: Promise<Vis> | null = null;
  #log: ReturnType<Vis["createLog"]> | null = null;

  constructor(parent: HTMLElement) {
    parent.append(this.#charts, this.#printed.element, this.#note);
  }

  /** Removes what the last run has left. */
  clear(): void {
    this.#printed.clear();
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
    this.#printed.add(lines.map(lineElement));
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
  return element("div", text, kind);
}

function tableElement({ title, rows }: Table): HTMLElement {
  const scroll = element("div", "", "live-table");
  const table = element("table");
  table.createCaption().textContent = title;
  for (const row of rows) {
    const line = table.insertRow();
    for (const text of row) line.insertCell().textContent = text;
  }
  scroll.append(table);
  return scroll;
}
