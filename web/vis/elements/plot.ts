// uPlot in a panel: it is created again when its options change; otherwise it gets new data.

/// <reference path="./css.d.ts" />
import uPlot from "uplot";
import uplotStyle from "uplot/dist/uPlot.min.css";
import { element, shortNumber } from "./dom.js";

/** The style sheet of plots. */
export const kPlotStyle = `${uplotStyle}
.plot { min-block-size: 220px; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 4px 0 0; padding: 0; list-style: none; }
.legend li { display: inline-flex; align-items: center; gap: 6px; font-variant-numeric: tabular-nums; }
.legend i { inline-size: 12px; block-size: 4px; border-radius: 2px; }
`;

/** How a series is drawn. */
export type Mark = "line" | "points" | "bars";

/** One series of a plot; its values belong to the plot's x. */
export interface PlotSeries {
  readonly label: string;
  readonly color: string;
  readonly mark: Mark;
  /** Whether the series is drawn pale and is not in the legend. */
  readonly isFaint?: boolean;
  readonly values: readonly (number | null)[];
}

/** The content of a plot. */
export interface PlotContent {
  /** The description for screen readers. */
  readonly label: string;
  readonly x: readonly number[];
  readonly xLabel: string;
  readonly series: readonly PlotSeries[];
  /** The ends of the x axis; by default those of the values. */
  readonly ends?: readonly [number, number];
  readonly isLog?: boolean;
  /** The colors of axes and of the grid. */
  readonly axis: string;
  readonly grid: string;
}

const kHeight = 220;
const kPale = 0.25;
const kWidth = 2;
const kPointSize = 6;
const kAxisWidth = 60;
/** The maximum length of a label of the y axis. */
const kMostOfTick = 6;

/** A plot in an area of a page. */
export class Plot {
  readonly #host = element("div", { class: "plot", role: "img" });
  readonly #legend = element("ul", { class: "legend" });
  #plot: uPlot | null = null;
  #key = "";
  #content: PlotContent | null = null;
  readonly #resized = new ResizeObserver(() =>
    // In the next frame, because browsers report an error if sizes change while they notify observers.
    requestAnimationFrame(() => this.#plot?.setSize(this.#size())),
  );

  constructor(area: HTMLElement) {
    area.replaceChildren(this.#host, this.#legend);
    this.#resized.observe(this.#host);
  }

  /** Displays new content. */
  show(content: PlotContent): void {
    this.#content = content;
    const { series, ends, isLog, axis, grid, xLabel } = content;
    const looks = series.map(({ values: _, ...look }) => look);
    const key = JSON.stringify([looks, ends, isLog, axis, grid, xLabel]);
    const data = [content.x, ...series.map(({ values }) => values)] as uPlot.AlignedData;
    if (this.#plot === null || key !== this.#key) {
      this.#plot?.destroy();
      this.#key = key;
      this.#plot = new uPlot(this.#options(content), data, this.#host);
    } else this.#plot.setData(data);
    this.#showValues(null);
  }

  /** Removes the plot. */
  remove(): void {
    this.#resized.disconnect();
    this.#plot?.destroy();
    this.#plot = null;
  }

  #size(): { width: number; height: number } {
    return { width: this.#host.clientWidth || 300, height: kHeight };
  }

  #options({ series, ends, isLog = false, axis, grid }: PlotContent): uPlot.Options {
    const lines = { stroke: grid, width: 1 };
    const look = { stroke: axis, grid: lines, ticks: lines };
    return {
      ...this.#size(),
      scales: {
        x: { time: false, ...(ends && { range: [...ends] }) },
        y: { distr: isLog ? 3 : 1 },
      },
      axes: [look, { ...look, size: kAxisWidth, values: (_, ticks) => ticks.map(tickText) }],
      cursor: { drag: { x: true, y: false } },
      legend: { show: false },
      hooks: { setCursor: [(plot) => this.#showValues(plot.cursor.idx ?? null)] },
      series: [{}, ...series.map(seriesOf)],
    };
  }

  // Displays the values at the pointer, or the latest ones.
  #showValues(index: number | null): void {
    const { series, x, xLabel, label } = this.#content as PlotContent;
    const shown = series.filter(({ isFaint }) => !isFaint);
    const latestOf = ({ values }: PlotSeries) =>
      index === null ? values.filter((value) => value !== null).at(-1) : values[index];
    const texts = shown.map((tag) => {
      const value = latestOf(tag);
      const hasValue = tag.mark === "line" || (tag.mark === "bars" && index !== null);
      return value == null || !hasValue ? tag.label : `${tag.label} ${shortNumber(value)}`;
    });
    const at = index === null ? [] : [element("li", {}, `${xLabel} ${shortNumber(x[index] ?? 0)}`)];
    this.#legend.replaceChildren(
      ...texts.map((text, i) =>
        element("li", {}, element("i", { style: `background: ${shown[i]?.color}` }), text),
      ),
      ...at,
    );
    if (index === null) this.#host.setAttribute("aria-label", [label, ...texts].join(", "));
  }
}

function seriesOf({ label, color, mark, isFaint = false }: PlotSeries): uPlot.Series {
  const shared = { label, stroke: color, alpha: isFaint ? kPale : 1, spanGaps: true };
  const points = { show: mark === "points", size: kPointSize, fill: color };
  if (mark === "points") return { ...shared, paths: () => null, points };
  if (mark === "line")
    return { ...shared, width: kWidth, points: { show: (plot, i) => isShort(plot, i) } };
  const bars = uPlot.paths.bars?.({ size: [1, Number.POSITIVE_INFINITY] });
  return { ...shared, fill: color, width: 0, points, ...(bars && { paths: bars }) };
}

// A line of one point would be invisible.
function isShort(plot: uPlot, i: number): boolean {
  const values = plot.data[i] as (number | null)[];
  return values.filter((value) => value !== null).length < 2;
}

// Ticks of a logarithmic axis without room for a label are null. Small numbers are written with an exponent.
function tickText(tick: number | null): string {
  if (tick === null) return "";
  const text = String(Number(tick.toPrecision(6)));
  return text.length > kMostOfTick ? String(Number(tick.toPrecision(3)).toExponential()) : text;
}
