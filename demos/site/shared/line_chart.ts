// A live line chart with uPlot (a canvas, fast with many points, 50 kB), which is loaded with the first point: points are pushed, and
// it is drawn at most once per frame.

import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { color, kThemeChanged } from "./frame.js";

/** One line of a chart; its color is a token of style.css. */
export interface Series {
  readonly label: string;
  readonly color: string;
}

/** The options of a chart; screen readers also use the labels. */
export interface LineChartOptions {
  readonly label: string;
  readonly x: string;
  readonly series: readonly Series[];
  /** The ends of the y axis; by default those of the data. */
  readonly range?: readonly [number, number];
  readonly log?: boolean;
  /** Whether x are points in time, in seconds since 1970. */
  readonly time?: boolean;
  /** Whether every point is marked, as few points have to be. */
  readonly points?: boolean;
  readonly height?: number;
}

type Columns = [number[], ...(number | null)[][]];

// If there are more points, every second one is dropped, because a chart has no more columns.
const kMostPoints = 2000;
// The height of the legend in pixels.
const kLegend = 30;
// Drawing takes at most this share of the time, so that a slow device can do something else.
const kDrawingShare = 0.2;
const kHalfDay = 12 * 60 * 60; // seconds

export class LineChart {
  readonly #element: HTMLElement;
  readonly #options: LineChartOptions;
  #Plot: typeof uPlot | null = null;
  #plot: uPlot | null = null;
  #data: Columns;
  // Whether a drawing is neither due nor just done, and whether there are points that have not been drawn.
  #isIdle = true;
  #hasNew = false;
  #removed = false;
  readonly #resized: ResizeObserver;
  readonly #redraw = () => {
    this.#plot?.destroy();
    this.#plot = this.#make();
  };

  constructor(element: HTMLElement, options: LineChartOptions) {
    this.#element = element;
    this.#options = options;
    this.#data = [[], ...options.series.map(() => [])];
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", options.label);
    element.classList.add("line-chart", "no-points");
    element.style.minHeight = `${this.#size().height + kLegend}px`;
    // Resizes in the next frame, because browsers report an error if a size changes while they notify observers.
    const resize = () =>
      requestAnimationFrame(() => {
        if (!this.#removed) this.#plot?.setSize(this.#size());
      });
    this.#resized = new ResizeObserver(resize);
    this.#resized.observe(element);
    document.addEventListener(kThemeChanged, this.#redraw);
  }

  /** Removes the chart from its element permanently. */
  remove(): void {
    this.#removed = true;
    document.removeEventListener(kThemeChanged, this.#redraw);
    this.#resized.disconnect();
    this.#plot?.destroy();
  }

  /** Adds a point of each series; null for a series that has none. */
  push(x: number, ...values: (number | null)[]): void {
    const [xs, ...columns] = this.#data;
    if (xs.length === 0) this.#element.classList.remove("no-points");
    xs.push(x);
    columns.forEach((column, i) => {
      column.push(values[i] ?? null);
    });
    if (this.#data[0].length > kMostPoints) this.#thin();
    this.#drawSoon();
  }

  clear(): void {
    for (const column of this.#data) column.length = 0;
    this.#element.classList.add("no-points");
    if (this.#plot !== null) this.#drawSoon();
  }

  #thin(): void {
    const kept = this.#data.map((column) => column.filter((_, i) => i % 2 === 0));
    this.#data = kept as Columns;
  }

  #drawSoon(): void {
    this.#hasNew = true;
    if (!this.#isIdle) return;
    this.#isIdle = false;
    requestAnimationFrame(async () => {
      this.#Plot ??= (await import("uplot")).default;
      if (this.#plot === null) await ownTask();
      if (this.#removed) return;
      const start = performance.now();
      this.#hasNew = false;
      this.#plot ??= this.#make();
      this.#plot?.setData(this.#data);
      this.#showLatest();
      // uPlot draws in a microtask.
      queueMicrotask(() => {
        const pause = (performance.now() - start) * (1 / kDrawingShare - 1);
        setTimeout(() => {
          this.#isIdle = true;
          if (this.#hasNew) this.#drawSoon();
        }, pause);
      });
    });
  }

  // Shows the latest values in the legend, unless the pointer selects another point, and for screen readers.
  #showLatest(): void {
    if (this.#plot?.cursor.idx == null) {
      const idxs = this.#data.map((column) => column.findLastIndex((v) => v !== null));
      this.#plot?.setLegend({ idxs }, false);
    }
    const latest = this.#options.series.map(({ label }, i) => {
      const value = this.#data[i + 1]?.findLast((v) => v !== null);
      return value === undefined ? "" : `, ${label} ${value?.toPrecision(3)}`;
    });
    this.#element.setAttribute("aria-label", this.#options.label + latest.join(""));
  }

  #size(): { width: number; height: number } {
    return { width: this.#element.clientWidth || 300, height: this.#options.height ?? 200 };
  }

  #make(): uPlot | null {
    const Plot = this.#Plot;
    if (Plot === null) return null;
    const { series, range, log, time = false, points = false, x } = this.#options;
    const axis = {
      stroke: color("dim"),
      grid: { stroke: color("line"), width: 1 },
      ticks: { stroke: color("line"), width: 1 },
    };
    const options: uPlot.Options = {
      ...this.#size(),
      scales: {
        x: { time, ...(time && { range: dayAround }) },
        y: {
          distr: log ? 3 : 1,
          ...(range
            ? { range: [...range] }
            : !log && { range: (_, min, max) => widened(Plot, min, max) }),
        },
      },
      axes: [
        { ...axis, ...(!time && labeled(x)) },
        { ...axis, size: 54, ...(log && { values: powers }) },
      ],
      cursor: { drag: { x: false, y: false } },
      legend: { live: false },
      series: [
        { label: x },
        ...series.map((line) => ({
          label: line.label,
          stroke: color(line.color),
          width: 2,
          value: (_: uPlot, value: number | null) => value?.toPrecision(3) ?? "–",
          spanGaps: true,
          points: { show: points },
        })),
      ],
    };
    return new Plot(options, this.#data, this.#element);
  }
}

// What x is, below its numbers, in the room that an axis without a label has.
function labeled(x: string): Partial<uPlot.Axis> {
  return {
    label: x,
    size: 30,
    labelSize: 20,
    labelGap: 0,
    labelFont: "12px system-ui, sans-serif",
  };
}

let lastTask: Promise<void> = Promise.resolve();

// Resolves in a task of its own, so that a page with many charts can do something else in between.
function ownTask(): Promise<void> {
  lastTask = lastTask.then(() => new Promise((resolve) => setTimeout(resolve)));
  return lastTask;
}

// Around a single point uPlot would draw years.
function dayAround(_: uPlot, min: number, max: number): [number, number] {
  return min === max ? [min - kHalfDay, max + kHalfDay] : [min, max];
}

// Around values that hardly differ, labels would be the same number several times.
function widened(Plot: typeof uPlot, min: number, max: number): uPlot.Range.MinMax {
  if (min === null || max === null) return [null, null];
  const least = 0.05 * Math.max(Math.abs(min), Math.abs(max)) || 1;
  if (max - min >= least) return Plot.rangeNum(min, max, 0.1, true);
  const middle = (min + max) / 2;
  return [middle - least, middle + least];
}

// The labels of a logarithmic axis, with as many digits as tell them apart; uPlot rounds small ones to 0. Without data there is
// nothing to label.
function powers({ data }: uPlot, ticks: number[]): string[] {
  if (data[0].length === 0) return ticks.map(() => "");
  const given = ticks.filter((tick) => tick !== null);
  const textOf = (tick: number, digits: number) => String(Number(tick.toPrecision(digits)));
  const differ = (digits: number) =>
    new Set(given.map((tick) => textOf(tick, digits))).size === given.length;
  const digits = [1, 2, 3].find(differ) ?? 4;
  return ticks.map((tick) => (tick === null ? "" : textOf(tick, digits)));
}
