// The worker in which the cells run, one after the other. It lives until it is stopped, and keeps what the cells have made.

import type { FromCode, Output } from "../shared/code_messages.js";

export class Kernel {
  #worker: Worker | null = null;
  #names: string[] = [];
  #last: Promise<void> = Promise.resolve();
  #stop: () => void = () => {};

  /** Runs a cell when those before it have ended; `begin` is called then. Resolves when it has ended or was stopped. */
  run(text: string, begin: () => void, show: (output: Output) => void): Promise<void> {
    const run = this.#last.then(() => {
      begin();
      return this.#runNow(text, show);
    });
    this.#last = run;
    return run;
  }

  /** Ends the worker, and with it all variables. */
  restart(): void {
    this.#worker?.terminate();
    this.#worker = null;
    this.#names = [];
    this.#stop();
  }

  async #runNow(text: string, show: (output: Output) => void): Promise<void> {
    // With the language of the editor, which a page that is only looked at does not need.
    const { cellModule } = await import("./cell_code.js");
    const { code, names } = cellModule(text, this.#names);
    const worker = this.#started();
    return new Promise((resolve) => {
      const end = (isDone: boolean) => {
        worker.removeEventListener("message", hear);
        if (isDone) this.#names = [...new Set([...this.#names, ...names])];
        resolve();
      };
      const hear = ({ data }: MessageEvent<FromCode>) => {
        if (data === "ended") end(true);
        else if (!("painting" in data)) show(data);
      };
      this.#stop = () => end(false);
      worker.addEventListener("message", hear);
      worker.addEventListener("error", (event) => {
        show({ lines: [{ kind: "error", text: event.message }], points: [], records: [] });
        end(false);
      });
      worker.postMessage({ code });
    });
  }

  #started(): Worker {
    this.#worker ??= new Worker(new URL("../shared/code_worker.ts", import.meta.url), {
      type: "module",
    });
    return this.#worker;
  }
}
