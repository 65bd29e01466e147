// Runs a visitor's code in a separate worker: an endless loop does not block the page, and ends with its worker.

import type { FromCode, Output, Painting, ToCode } from "./code_messages.js";

export type { Line, Output, Painting, Point, Table } from "./code_messages.js";

export class CodeRunner {
  readonly #show: (output: Output) => void;
  readonly #paint: (painting: Painting) => Promise<void>;
  #worker: Worker | null = null;
  #end: () => void = () => {};

  /** `show` receives the output of the code while it runs, and `paint` pictures; it resolves when one is shown. */
  constructor(
    show: (output: Output) => void,
    paint: (painting: Painting) => Promise<void> = async () => {},
  ) {
    this.#show = show;
    this.#paint = paint;
  }

  /**
   * Runs a module that may import "edgegrad" and call plot(x, y) and paint(model, points, classes), in a new worker, so that no state
   * of the last run is left. Resolves when the module has run to its end, or was stopped; pending callbacks continue until the next run or stop().
   */
  run(code: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
    this.stop();
    const worker = new Worker(new URL("./code_worker.ts", import.meta.url), { type: "module" });
    this.#worker = worker;
    return new Promise((resolve) => {
      this.#end = resolve;
      worker.addEventListener("message", ({ data }: MessageEvent<FromCode>) => {
        if (data === "ended") resolve();
        else if ("painting" in data) {
          void this.#paint(data.painting).then(() => worker.postMessage("shown" satisfies ToCode));
        } else this.#show(data);
      });
      worker.addEventListener("error", (event) => {
        event.preventDefault();
        const text = event.message || "The worker of this code could not be started.";
        this.#show({ lines: [{ kind: "error", text }], points: [], records: [] });
        resolve();
      });
      worker.postMessage({ code, files } satisfies ToCode);
    });
  }

  /** Terminates the code, whatever it is doing. */
  stop(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#end();
  }
}
