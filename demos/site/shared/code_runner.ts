// Runs a visitor's code in a separate worker: an endless loop does not block the page, and ends with its worker.

import type { FromCode, Output } from "./code_messages.js";

export type { Line, Output, Point, Table } from "./code_messages.js";

export class CodeRunner {
  readonly #show: (output: Output) => void;
  #worker: Worker | null = null;
  #end: () => void = () => {};

  /** `show` receives the output of the code while it runs. */
  constructor(show: (output: Output) => void) {
    this.#show = show;
  }

  /**
   * Runs a module that may import "edgegrad" and call plot(x, y), in a new worker, so that no state of the last run is left.
   * Resolves when the module has run to its end, or was stopped; pending callbacks continue until the next run or stop().
   */
  run(code: string, files: Readonly<Record<string, string>> = {}): Promise<void> {
    this.stop();
    const worker = new Worker(new URL("./code_worker.ts", import.meta.url), { type: "module" });
    this.#worker = worker;
    return new Promise((resolve) => {
      this.#end = resolve;
      worker.addEventListener("message", ({ data }: MessageEvent<FromCode>) => {
        if (data === "ended") resolve();
        else this.#show(data);
      });
      worker.addEventListener("error", (event) => {
        event.preventDefault();
        const text = event.message || "The worker of this code could not be started.";
        this.#show({ lines: [{ kind: "error", text }], points: [], records: [] });
        resolve();
      });
      worker.postMessage({ code, files });
    });
  }

  /** Terminates the code, whatever it is doing. */
  stop(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#end();
  }
}
