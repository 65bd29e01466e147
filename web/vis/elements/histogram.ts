// <eg-histogram>: a histogram of a run, step by step.

import { shortNumber } from "./dom.js";
import { SeriesPanel } from "./log_panel.js";
import type { Data } from "./panel.js";
import { kPlotStyle, Plot } from "./plot.js";

/** A histogram as bars. Attributes: `run` and `tag` (by default the visitor chooses), `heading`. */
export class HistogramPanel extends SeriesPanel<"histogram"> {
  protected readonly kind = "histogram";
  #plot: Plot | null = null;

  override disconnected(): void {
    super.disconnected();
    this.#plot?.remove();
    this.#plot = null;
  }

  protected override draw(): string | null {
    const record = this.record();
    if (record === null) {
      this.#plot?.remove();
      this.#plot = null;
      return "No histograms yet";
    }
    if (this.#plot === null) this.#plot = new Plot(this.area);
    const { min, max, limits, counts } = record.value;
    const starts = [min, ...limits.slice(0, -1)];
    const middles = Array.from(limits, (limit, i) => ((starts[i] as number) + limit) / 2);
    const color = this.color("series-1");
    this.#plot.show({
      label: `${this.defaultHeading()}, step ${record.step}`,
      x: middles,
      xLabel: "at",
      ends: min < max ? [min, max] : [min - 1, max + 1],
      series: [{ label: "count", color, mark: "bars", values: [...counts] }],
      axis: this.color("dim"),
      grid: this.color("line"),
    });
    return null;
  }

  protected override data(): Data | null {
    const record = this.record();
    if (record === null) return null;
    const { min, limits, counts, nonFinite } = record.value;
    const rows = Array.from(limits, (limit, i) => [
      `${shortNumber(i === 0 ? min : (limits[i - 1] as number))} to ${shortNumber(limit)}`,
      String(counts[i]),
    ]);
    if (nonFinite > 0) rows.push(["NaN or infinite", String(nonFinite)]);
    return { titles: ["Range", "Count"], rows };
  }

  protected override moreStyle(): string {
    return kPlotStyle;
  }
}
