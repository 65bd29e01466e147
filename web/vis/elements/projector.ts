// <eg-projector>: the points of an embedding in two dimensions, colored by their labels.

import type { Matrix } from "../log/matrix.js";
import { shortNumber } from "./dom.js";
import { SeriesPanel } from "./log_panel.js";
import type { Data } from "./panel.js";
import { kPlotStyle, Plot, type PlotSeries } from "./plot.js";
import { kSeriesColors } from "./style.js";

/**
 * Points: the first two columns of a matrix, such as the result of `pca()` or `umap()`. The row labels are their classes. Attributes: `run`, `tag`
 * (by default the visitor chooses), `heading`.
 */
export class Projector extends SeriesPanel<"matrix"> {
  protected readonly kind = "matrix";
  #plot: Plot | null = null;

  override disconnected(): void {
    super.disconnected();
    this.#removePlot();
  }

  protected override draw(): string | null {
    const record = this.record();
    const isFlat = record !== null && record.value.columns < 2;
    if (record === null || isFlat) {
      this.#removePlot();
      return isFlat ? "These points have less than two dimensions" : "No points yet";
    }
    this.#plot ??= new Plot(this.area);
    const points = sortPoints(record.value);
    const series = [...new Set(points.map(({ label }) => label))].map(
      (label, i): PlotSeries => ({
        label,
        color: this.color(`series-${(i % kSeriesColors) + 1}`),
        mark: "points",
        values: points.map((point) => (point.label === label ? point.y : null)),
      }),
    );
    this.#plot.show({
      label: `${this.defaultHeading()}, ${points.length} points`,
      x: points.map(({ x }) => x),
      xLabel: "x",
      series,
      axis: this.color("dim"),
      grid: this.color("line"),
    });
    return null;
  }

  protected override data(): Data | null {
    const record = this.record();
    if (record === null || record.value.columns < 2) return null;
    const rows = sortPoints(record.value).map(({ label, x, y }) => [
      label,
      shortNumber(x),
      shortNumber(y),
    ]);
    return { titles: ["Point", "x", "y"], rows };
  }

  protected override moreStyle(): string {
    return kPlotStyle;
  }

  #removePlot(): void {
    this.#plot?.remove();
    this.#plot = null;
  }
}

// Sorts points from left to right, as plots require; omits points that are not finite.
function sortPoints({ rows, columns, values, rowLabels }: Matrix) {
  return Array.from({ length: rows }, (_, i) => ({
    label: rowLabels?.[i] ?? "points",
    x: values[i * columns] as number,
    y: values[i * columns + 1] as number,
  }))
    .filter(({ x, y }) => Number.isFinite(x) && Number.isFinite(y))
    .sort((a, b) => a.x - b.x);
}
