// One cell: its editor, its buttons and its output.

import type { Extension } from "@codemirror/state";
import { LiveOutput } from "../live/output.js";
import { LazyCodeEditor } from "../shared/code/lazy_code_editor.js";
import { button, element } from "../shared/elements.js";
import type { Running } from "./kernel.js";

/** What a cell asks of the notebook. */
export interface CellOwner {
  /** The language of the editor, if it is not that of all editors. */
  readonly language: (() => Promise<Extension>) | undefined;
  run(code: string, running: Running): Promise<boolean>;
  changed(): void;
  goOn(cell: Cell): void;
  remove(cell: Cell): void;
}

export class Cell {
  readonly element = element("section", "", "cell");
  readonly #owner: CellOwner;
  readonly #editor: LazyCodeEditor;
  readonly #output: LiveOutput;

  constructor(owner: CellOwner, code: string, number: number) {
    this.#owner = owner;
    this.element.setAttribute("aria-label", `Cell ${number}`);
    const text = element("div");
    const controls = element("div", "", "controls");
    controls.append(
      button("Run", { press: () => void this.run(), title: "Shift-Enter" }),
      button("Remove", { press: () => owner.remove(this) }),
    );
    const output = element("div");
    this.element.append(text, controls, output);
    this.#output = new LiveOutput(output);
    this.#editor = new LazyCodeEditor(text, {
      code,
      label: `Code of cell ${number}`,
      onRun: () => void this.run(),
      ...(owner.language && { language: owner.language }),
    });
    // Before the editor, where it inserts a line.
    text.addEventListener("keydown", (event) => this.#press(event), { capture: true });
    text.addEventListener("focusout", () => owner.changed());
  }

  get code(): string {
    return this.#editor.code;
  }

  focus(): void {
    this.element.querySelector<HTMLElement>(".cm-content, .code-to-come")?.focus();
  }

  /** Runs the code after that of cells that are still running. */
  async run(): Promise<void> {
    this.#owner.changed();
    this.#output.clear();
    this.#editor.markLine(null);
    this.#output.note("Waits …");
    let start = 0;
    const hasRun = await this.#owner.run(this.code, {
      begin: () => {
        start = performance.now();
        this.#output.note("Runs …");
      },
      show: (output) => {
        const at = output.lines.find((line) => line.at !== undefined)?.at;
        if (at !== undefined) this.#editor.markLine(at);
        void this.#output.show(output);
      },
      arrive: (part) => {
        if (part === 1) this.#output.note("Runs …");
        else this.#output.note(`Python arrives: ${Math.floor(100 * part)} %`);
      },
    });
    const seconds = ((performance.now() - start) / 1000).toFixed(2);
    this.#output.note(hasRun ? `${seconds} s` : "Stopped.");
  }

  #press(event: KeyboardEvent): void {
    if (event.key !== "Enter" || !event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    void this.run();
    this.#owner.goOn(this);
  }
}
