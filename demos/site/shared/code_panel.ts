// An editor with buttons to run, stop and reset the code, its printed output, and a chart of the values it plots.

import "./code_panel.css";
import { CodeRunner, type Line, type Output } from "./code_runner.js";
import { LazyCodeEditor } from "./lazy_code_editor.js";
import { LineChart } from "./line_chart.js";

const kMostLines = 300;

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
}

export class CodePanel {
  readonly #editor: LazyCodeEditor;
  readonly #runner = new CodeRunner((output) => this.#show(output));
  readonly #run = button("Run", "primary");
  readonly #stop = button("Stop");
  readonly #printed = document.createElement("div");
  readonly #plotted = document.createElement("div");
  readonly #options: CodePanelOptions;
  #chart: LineChart | null = null;

  constructor(element: HTMLElement, options: CodePanelOptions) {
    this.#options = options;
    const reset = button("Reset");
    const controls = document.createElement("div");
    controls.className = "controls";
    controls.append(this.#run, this.#stop, reset);
    const text = document.createElement("div");
    this.#printed.className = "printed";
    this.#printed.setAttribute("role", "log");
    this.#printed.setAttribute("aria-label", "Output");
    this.#printed.tabIndex = 0;
    element.classList.add("code-panel");
    element.append(text, controls, this.#plotted, this.#printed);
    this.#editor = new LazyCodeEditor(text, { ...options, onRun: () => void this.run() });
    this.#run.title = "Ctrl-Enter";
    this.#run.addEventListener("click", () => void this.run());
    this.#stop.addEventListener("click", () => this.#runner.stop());
    reset.addEventListener("click", () => {
      this.#editor.code = options.code;
    });
    this.#stop.disabled = true;
    if (options.showsChart) this.#showChart();
    else this.#plotted.hidden = true;
  }

  /** Runs the code in the editor; resolves when it has ended or was stopped. */
  async run(): Promise<void> {
    this.#printed.replaceChildren();
    this.#chart?.clear();
    this.#stop.disabled = false;
    this.#run.textContent = "Run again";
    await this.#runner.run(this.#editor.code);
    this.#stop.disabled = true;
  }

  #show({ lines, points }: Output): void {
    this.#printed.append(...lines.map(lineElement));
    while (this.#printed.childElementCount > kMostLines) this.#printed.firstChild?.remove();
    this.#printed.scrollTop = this.#printed.scrollHeight;
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
      height: 160,
      log,
    });
    return this.#chart;
  }
}

function button(text: string, className = ""): HTMLButtonElement {
  const element = document.createElement("button");
  element.type = "button";
  element.textContent = text;
  element.className = className;
  return element;
}

function lineElement({ kind, text }: Line): HTMLElement {
  const element = document.createElement("div");
  element.className = kind;
  element.textContent = text;
  return element;
}
