// The loss over time of several runs, each of which starts at 0 s.

import { LineChart } from "../shared/line_chart.js";

export class RunsChart {
  readonly #chart: LineChart;
  readonly #runs: { x: number; y: number }[][];

  constructor(element: HTMLElement, runs: readonly { label: string; color: string }[]) {
    this.#chart = new LineChart(element, {
      label: "Loss by time",
      x: "seconds",
      series: runs,
      log: true,
      height: 240,
    });
    this.#runs = runs.map(() => []);
  }

  clear(): void {
    for (const points of this.#runs) points.length = 0;
    this.#chart.clear();
  }

  /** Adds a point of one run; the chart needs all points in the order of x. */
  push(run: number, x: number, y: number): void {
    this.#runs[run]?.push({ x, y });
    const all = this.#runs.flatMap((points, own) => points.map((point) => ({ ...point, own })));
    this.#chart.clear();
    for (const point of all.sort((a, b) => a.x - b.x)) {
      this.#chart.push(
        point.x,
        ...this.#runs.map((_, own) => (own === point.own ? point.y : null)),
      );
    }
  }
}
