// <eg-confusion-matrix> and <eg-attention-map>: matrices as tables with shaded cells.

import type { Matrix } from "../log/matrix.js";
import { element, scrolling, shortNumber } from "./dom.js";
import { SeriesPanel } from "./log_panel.js";
import type { Data } from "./panel.js";

/** The limit on rows and on columns: with more cells, a page would be slow. */
const kMostCells = 128;

// Cells are never so dark that their text becomes unreadable.
const kStyle = `
.cells { border-spacing: 1px; border-collapse: separate; }
.cells th { padding: 2px 6px; color: var(--dim); max-inline-size: 16ch; overflow: hidden; text-overflow: ellipsis; }
.cells thead th { border: 0; text-align: center; }
.cells td { padding: 4px 6px; text-align: center; min-inline-size: 24px; --part: calc(var(--share) * 45%);
  background: color-mix(in srgb, var(--accent) var(--part), var(--surface)); }
.corner { text-align: start; }
`;

/** A matrix as a table with shaded cells, which needs no separate data table. */
abstract class MatrixPanel extends SeriesPanel<"matrix"> {
  protected readonly kind = "matrix";

  /** The titles of the rows and columns. */
  protected abstract readonly axes: readonly [rows: string, columns: string];
  protected abstract readonly caption: string;

  /** Returns how dark an element is, from 0 to 1. */
  protected abstract shareOf(matrix: Matrix, row: number, column: number): number;

  protected abstract textOf(value: number): string;

  protected override draw(): string | null {
    const record = this.record();
    if (record === null) return "No matrix yet";
    const { rows, columns } = record.value;
    if (rows > kMostCells || columns > kMostCells)
      return `${rows} × ${columns} is too large to be shown: at most ${kMostCells}.`;
    this.area.replaceChildren(scrolling(this.caption, this.#table(record.value)));
    return null;
  }

  protected override data(): Data | null {
    return null;
  }

  protected override hasData(): boolean {
    return false;
  }

  protected override moreStyle(): string {
    return kStyle;
  }

  #table(matrix: Matrix): HTMLTableElement {
    const [rowTitle, columnTitle] = this.axes;
    const nameOf = (labels: readonly string[] | null, i: number) => labels?.[i] ?? String(i);
    const corner = element(
      "th",
      { class: "corner", scope: "col" },
      `${rowTitle} \\ ${columnTitle}`,
    );
    const titles = Array.from({ length: matrix.columns }, (_, i) =>
      element("th", { scope: "col" }, nameOf(matrix.columnLabels, i)),
    );
    const lines = Array.from({ length: matrix.rows }, (_, row) =>
      element(
        "tr",
        {},
        element("th", { scope: "row" }, nameOf(matrix.rowLabels, row)),
        ...Array.from({ length: matrix.columns }, (_, column) => this.#cell(matrix, row, column)),
      ),
    );
    return element(
      "table",
      { class: "cells" },
      element("caption", {}, this.caption),
      element("thead", {}, element("tr", {}, corner, ...titles)),
      element("tbody", {}, ...lines),
    );
  }

  #cell(matrix: Matrix, row: number, column: number): HTMLTableCellElement {
    const share = Math.min(1, Math.max(0, this.shareOf(matrix, row, column) || 0));
    const value = matrix.values[row * matrix.columns + column] as number;
    return element("td", { style: `--share: ${share.toFixed(3)}` }, this.textOf(value));
  }
}

/** A confusion matrix; shades are fractions of the row's class. Attributes: `run`, `tag`, `heading`. */
export class ConfusionMatrixPanel extends MatrixPanel {
  protected readonly axes = ["Class", "predicted as"] as const;
  protected readonly caption =
    "Samples of each class (rows) by the class that was predicted (columns)";

  protected override shareOf({ values, columns }: Matrix, row: number, column: number): number {
    const counts = values.subarray(row * columns, (row + 1) * columns);
    return (counts[column] as number) / counts.reduce((sum, count) => sum + count, 0);
  }

  protected override textOf(value: number): string {
    return shortNumber(value);
  }
}

/** An attention map: how much each query (row) attends to each key (column). Attributes: `run`, `tag`, `heading`. */
export class AttentionMapPanel extends MatrixPanel {
  protected readonly axes = ["Query", "key"] as const;
  protected readonly caption = "How much each query (rows) attends to each key (columns)";

  protected override shareOf({ values, columns }: Matrix, row: number, column: number): number {
    const most = values.reduce((a, b) => Math.max(a, b), 0);
    return (values[row * columns + column] as number) / most;
  }

  protected override textOf(value: number): string {
    return String(Number(value.toFixed(2)));
  }
}
