// Runs the cells, one after the other, in a worker that lives until it is stopped and keeps what they have made.

import { CodeRunner, type Output } from "../shared/code_runner.js";

export class Kernel {
  readonly #runner = new CodeRunner((output) => this.#show(output));
  #show: (output: Output) => void = () => {};
  #names: string[] = [];
  #last: Promise<void> = Promise.resolve();
  // Cells that wait for a worker that was stopped do not run.
  #life = 0;

  /** Runs a cell when those before it have ended; `begin` is called then. Resolves when it has ended or was stopped. */
  run(text: string, begin: () => void, show: (output: Output) => void): Promise<void> {
    const life = this.#life;
    const run = this.#last.then(async () => {
      if (life !== this.#life) return;
      begin();
      this.#show = show;
      await this.#runNow(text);
    });
    this.#last = run;
    return run;
  }

  /** Ends the worker, and with it all variables. */
  restart(): void {
    this.#life++;
    this.#names = [];
    this.#runner.stop();
  }

  async #runNow(text: string): Promise<void> {
    // With the language of the editor, which a page that is only looked at does not need.
    const { cellModule } = await import("./cell_code.js");
    const { code, names } = cellModule(text, this.#names);
    if (await this.#runner.runOn({ code })) this.#names = [...new Set([...this.#names, ...names])];
  }
}
