// An editor with buttons to run, stop and reset the code, its printed output, and a chart of the values it plots.

import "./code_panel.css";
import { button, copyButton, element } from "../elements.js";
import { LineChart } from "../line_chart.js";
import { movesLittle } from "../motion.js";
import { PlaneView } from "../plane_view.js";
import { CodeRunner, type Line, type Output, type Painting } from "./code_runner.js";
import { LazyCodeEditor } from "./lazy_code_editor.js";
import { PrintedLog } from "./printed_log.js";

const kLongestPause = 250;

/** The options of a panel. */
export interface CodePanelOptions {
  readonly code: string;
  /** The label of the editor for screen readers. */
  readonly label: string;
  /** The label of the chart's y axis; default "loss". */
  readonly plotted?: string;
  /** Whether that axis is logarithmic. */
  readonly log?: boolean;
  /** Whether the chart is there before the code plots. */
  readonly showsChart?: boolean;
  /** The height of the chart in pixels; default 160. */
  readonly chartHeight?: number;
  /** The canvas of paint(); by default one appears with the first picture. */
  readonly canvas?: HTMLCanvasElement;
}

export class CodePanel {
  readonly #editor: LazyCodeEditor;
  readonly #runner = new CodeRunner(
    (output) => this.#show(output),
    (painting) => this.#paint(painting),
  );
  readonly #run = button("Run", {
    className: "primary",
    title: "Ctrl-Enter",
    press: () => void this.run(),
  });
  readonly #stop = button("Stop", { press: () => this.#runner.stop() });
  readonly #printed = new PrintedLog();
  readonly #plotted = element("div", "", "plotted");
  readonly #options: CodePanelOptions;
  #chart: LineChart | null = null;
  #plane: PlaneView | null = null;
  #lastPainting: Painting | null = null;

  /** `parent` may have the code already (.code), in color. */
  constructor(parent: HTMLElement, options: CodePanelOptions) {
    this.#options = options;
    const reset = button("Reset", {
      press: () => {
        this.#editor.code = options.code;
      },
    });
    const controls = element("div", "", "controls");
    const text = parent.querySelector<HTMLElement>(".code") ?? element("div", "", "code");
    parent.classList.add("code-panel");
    parent.append(text, controls, this.#plotted, this.#printed.element);
    this.#editor = new LazyCodeEditor(text, { ...options, onRun: () => void this.run() });
    controls.append(
      this.#run,
      this.#stop,
      reset,
      copyButton(() => this.#editor.code),
    );
    this.#stop.disabled = true;
    if (options.showsChart) this.#showChart();
    else this.#plotted.hidden = true;
  }

  /** The plane of paint(), with its canvas above the chart if the page has none. */
  get plane(): PlaneView {
    if (this.#plane !== null) return this.#plane;
    const canvas = this.#options.canvas ?? element("canvas", "", "painted");
    if (this.#options.canvas === undefined) {
      Object.assign(canvas, { width: 640, height: 480 });
      this.#plotted.before(canvas);
    }
    this.#plane = new PlaneView(canvas);
    return this.#plane;
  }

  /** Runs the code in the editor; resolves when it has ended or was stopped. */
  async run(): Promise<void> {
    this.#printed.clear();
    this.#chart?.clear();
    this.#editor.markLine(null);
    this.#stop.disabled = false;
    this.#run.textContent = "Run again";
    await this.#runner.run(this.#editor.code);
    this.#stop.disabled = true;
    this.#showPainting();
  }

  // Where less motion is preferred, only the last picture is shown.
  async #paint(painting: Painting): Promise<void> {
    this.#lastPainting = painting;
    if (movesLittle()) return;
    const start = await nextFrame();
    this.#showPainting();
    // The page is free for other things as long as it has drawn.
    const drawn = (await nextFrame()) - start;
    await new Promise((resolve) => setTimeout(resolve, Math.min(kLongestPause, drawn)));
  }

  #showPainting(): void {
    const painting = this.#lastPainting;
    if (painting === null) return;
    this.#lastPainting = null;
    this.plane.show(painting, painting.values, painting.width);
  }

  #show({ lines, points }: Output): void {
    this.#printed.add(lines.map(lineElement));
    const wrong = lines.find(({ at }) => at !== undefined);
    if (wrong?.at !== undefined) this.#editor.markLine(wrong.at);
    if (points.length === 0) return;
    const chart = this.#showChart();
    for (const [x, y] of points) chart.push(x, y);
  }

  #showChart(): LineChart {
    this.#plotted.hidden = false;
    const { plotted: label = "loss", log = false } = this.#options;
    this.#chart ??= new LineChart(this.#plotted, {
      label: `What the code plots: ${label}`,
      x: "step",
      series: [{ label, color: "series-1" }],
      height: this.#options.chartHeight ?? 160,
      log,
    });
    return this.#chart;
  }
}

function nextFrame(): Promise<number> {
  return new Promise(requestAnimationFrame);
}

function lineElement({ kind, text }: Line): HTMLElement {
  return element("div", text, kind);
}
