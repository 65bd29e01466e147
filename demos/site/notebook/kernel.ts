// Runs the cells, one after the other, in a worker that lives until it is stopped and keeps what they have made.

import { CodeRunner, type Output } from "../shared/code/code_runner.js";
import type { Language } from "./languages.js";
import type { Python } from "./python.js";

/** The cell that runs, as the kernel sees it. */
export interface Running {
  /** Called when the cells before it have ended. */
  begin(): void;
  show(output: Output): void;
  /** Called while Python arrives, from 0 to 1. */
  arrive(part: number): void;
}

export class Kernel {
  readonly #runner = new CodeRunner(
    (output) => this.#running?.show(output),
    undefined,
    (part) => this.#arrive(part),
  );
  readonly #language: Language;
  #running: Running | null = null;
  #interrupted: Running | null = null;
  #names: string[] = [];
  #python: Promise<Python> | null = null;
  #loading: Python | null = null;
  #startedPython: Python | null = null;
  #last: Promise<void> = Promise.resolve();
  // Cells that wait when the kernel is stopped do not run.
  #life = 0;

  constructor(language: Language) {
    this.#language = language;
  }

  /** Runs a cell when those before it have ended. Resolves to whether it ran, when it has ended or was stopped. */
  async run(text: string, running: Running): Promise<boolean> {
    const life = this.#life;
    const isLeftOut = () => life !== this.#life;
    const run = this.#last.then(async () => {
      if (isLeftOut()) return;
      running.begin();
      this.#running = running;
      await (this.#language === "python" ? this.#runPython(text) : this.#runModule(text));
    });
    this.#last = run;
    await run;
    return !isLeftOut();
  }

  /**
   * Stops the cell that runs, and leaves out those that wait: Python is interrupted, and ended when asked once more. Returns whether the
   * variables are still there.
   */
  stop(): boolean {
    this.#life++;
    const wasAsked = this.#interrupted === this.#running;
    this.#interrupted = this.#running;
    if (!wasAsked && this.#startedPython?.interrupt()) return true;
    this.restart();
    return false;
  }

  /** Ends the worker, and with it all variables. */
  restart(): void {
    this.#life++;
    this.#names = [];
    this.#startedPython = null;
    this.#runner.stop();
  }

  async #runModule(text: string): Promise<void> {
    // With the language of the editor, which a page that is only looked at does not need.
    const { cellModule } = await import("./cell_code.js");
    const { code, names } = cellModule(text, this.#names);
    if (await this.#runner.runOn({ code })) this.#names = [...new Set([...this.#names, ...names])];
  }

  async #runPython(code: string): Promise<void> {
    this.#python ??= import("./python.js").then(({ Python }) => new Python());
    const python = await this.#python;
    this.#loading = python;
    await this.#runner.runOn({ code, python: python.request });
  }

  // While Python loads, only the end of its worker stops it.
  #arrive(part: number): void {
    this.#running?.arrive(part);
    if (part < 1) return;
    this.#startedPython = this.#loading;
    void this.#startedPython?.keep();
  }
}
