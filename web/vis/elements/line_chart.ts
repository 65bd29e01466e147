// <eg-line-chart>: scalars of one or more runs as lines, with optional smoothing.

import { linesOf, smooth, stepsOf, valuesAt } from "../log/lines.js";
import { element, shortNumber } from "./dom.js";
import { LogPanel } from "./log_panel.js";
import type { Data } from "./panel.js";
import { kPlotStyle, Plot, type PlotSeries } from "./plot.js";
import { kSeriesColors } from "./style.js";

const kMostSmoothing = 0.99;

/** A live chart of scalars. Attributes: `tags` and `runs` (comma-separated; by default all), `smoothing`, `scale="log"`, `heading`. */
export class LineChart extends LogPanel {
  protected readonly kind = "scalar";
  readonly #smoothing = element("input", {
    type: "range",
    min: 0,
    max: kMostSmoothing,
    step: 0.01,
  });
  readonly #smoothingText = element("output");
  readonly #isLog = element("input", { type: "checkbox" });
  #plot: Plot | null = null;

  constructor(host: HTMLElement) {
    super(host);
    this.controls.append(
      element("label", {}, "Smoothing", this.#smoothing, this.#smoothingText),
      element("label", {}, this.#isLog, "Logarithmic"),
    );
    this.#smoothing.value = "0";
    this.#smoothing.addEventListener("input", () => this.redraw());
    this.#isLog.addEventListener("change", () => this.redraw());
  }

  override attributeChanged(name: string): void {
    const smoothing = Number(this.host.getAttribute("smoothing"));
    if (name === "smoothing" && Number.isFinite(smoothing))
      this.#smoothing.value = String(smoothing);
    if (name === "scale") this.#isLog.checked = this.host.getAttribute("scale") === "log";
    super.attributeChanged(name);
  }

  override disconnected(): void {
    super.disconnected();
    this.#plot?.remove();
    this.#plot = null;
  }

  protected override draw(): string | null {
    this.#smoothingText.textContent = this.#smoothing.value;
    const lines = this.#lines();
    if (lines.length === 0) {
      this.#plot?.remove();
      this.#plot = null;
      return "No values yet";
    }
    this.#plot ??= new Plot(this.area);
    const steps = stepsOf(lines);
    const weight = Number(this.#smoothing.value);
    const series = lines.flatMap((line, i): PlotSeries[] => {
      const color = this.color(`series-${(i % kSeriesColors) + 1}`);
      const raw = {
        label: line.label,
        color,
        mark: "line",
        values: valuesAt(line, steps),
      } as const;
      if (weight === 0) return [raw];
      return [
        { ...raw, isFaint: true },
        { ...raw, values: smooth(raw.values, weight) },
      ];
    });
    this.#plot.show({
      label: this.host.getAttribute("heading") ?? this.defaultHeading(),
      x: steps,
      xLabel: "step",
      series,
      isLog: this.#isLog.checked,
      axis: this.color("dim"),
      grid: this.color("line"),
    });
    return null;
  }

  protected override data(): Data {
    const lines = this.#lines();
    const text = (value: number | undefined) => (value === undefined ? "" : shortNumber(value));
    return {
      titles: ["Step", ...lines.map(({ label }) => label)],
      rows: stepsOf(lines).map((step) => [
        String(step),
        ...lines.map(({ points }) => text(points.get(step))),
      ]),
    };
  }

  protected override defaultHeading(): string {
    return this.#names("tags")?.join(", ") ?? "";
  }

  protected override moreStyle(): string {
    return kPlotStyle;
  }

  #lines() {
    return this.log === null ? [] : linesOf(this.log, this.#names("tags"), this.#names("runs"));
  }

  #names(attribute: string): string[] | null {
    const names = this.host.getAttribute(attribute)?.split(",") ?? [];
    const trimmed = names.map((name) => name.trim()).filter((name) => name !== "");
    return trimmed.length === 0 ? null : trimmed;
  }
}
