// <eg-summary-table>: a summary of a module.

import type { ModuleSummary } from "../model/summary.js";
import { cellsOf, kTitles, totalsOf } from "../model/summary_text.js";
import { element, scrolling, table } from "./dom.js";
import { type Data, Panel } from "./panel.js";

const kStyle = `
tbody th { padding-inline-start: calc(var(--depth, 0) * 14px); }
td:nth-child(2), td:nth-child(3), thead th:nth-child(2), thead th:nth-child(3) { text-align: start; color: var(--dim); }
dl { display: grid; grid-template-columns: max-content max-content; gap: 0 16px; margin: 12px 0 0; }
dd { margin: 0; text-align: end; font-variant-numeric: tabular-nums; }
dt { color: var(--dim); }
`;

/** Displays the result of `summary()`. */
export class SummaryTable extends Panel {
  #summary: ModuleSummary | null = null;

  override show(summary: ModuleSummary | null): void {
    this.#summary = summary;
    this.redraw();
  }

  protected override draw(): string | null {
    const summary = this.#summary;
    if (summary === null) return "No summary yet";
    const made = table("Layers", kTitles, summary.rows.map(cellsOf));
    summary.rows.forEach(({ depth, path }, i) => {
      const name = made.tBodies[0]?.rows[i]?.cells[0];
      name?.style.setProperty("--depth", String(depth));
      if (name) name.title = path;
    });
    const totals = totalsOf(summary).flatMap(([name, value]) => [
      element("dt", {}, name),
      element("dd", {}, value),
    ]);
    this.area.replaceChildren(scrolling("Layers", made), element("dl", {}, ...totals));
    return null;
  }

  protected override data(): Data | null {
    return null;
  }

  protected override defaultHeading(): string {
    return this.#summary?.rows[0]?.type ?? "";
  }

  protected override hasData(): boolean {
    return false;
  }

  protected override moreStyle(): string {
    return kStyle;
  }
}
