// A program of the docs that runs in its page: its editor, its output and its address.

import "../shared/code/code_panel.css";
import "./live.css";
import type { CodeEditor } from "../shared/code/code_editor.js";
import { CodeRunner } from "../shared/code/code_runner.js";
import { element } from "../shared/elements.js";
import { packed, unpacked } from "./address.js";
import { LiveOutput } from "./output.js";

/** What the page of the docs knows of a program. */
export interface LiveBlock {
  /** The listing. */
  readonly listing: HTMLElement;
  /** The row of buttons, below which the output goes. */
  readonly controls: HTMLElement;
  readonly code: string;
  /** The files that it imports by "./name". */
  readonly files: Readonly<Record<string, string>>;
}

/** A program that runs in the page. */
export class LivePanel {
  readonly #block: LiveBlock;
  readonly #output: LiveOutput;
  readonly #runner = new CodeRunner((output) => void this.#output.show(output));
  #editor: CodeEditor | null = null;
  #isRunning = false;

  constructor(block: LiveBlock) {
    this.#block = block;
    const output = element("div", "", "live-output");
    block.controls.after(output);
    this.#output = new LiveOutput(output);
  }

  get code(): string {
    return this.#editor?.code ?? this.#block.code;
  }

  /** Runs the code, or stops it while it runs. */
  async run(button: HTMLButtonElement): Promise<void> {
    if (this.#isRunning) {
      this.#runner.stop();
      return;
    }
    this.#isRunning = true;
    button.textContent = "Stop";
    this.#output.clear();
    this.#output.note("Runs in this page …");
    const start = performance.now();
    await this.#runner.run(this.code, this.#block.files);
    const seconds = (performance.now() - start) / 1000;
    this.#output.note(`${seconds.toFixed(2)} s, with the start of the engine`);
    this.#isRunning = false;
    button.textContent = "Run again";
  }

  /** Puts an editor in the place of the listing, with other code if it is given. */
  async edit(run: HTMLButtonElement, text: string | null = null): Promise<void> {
    const code = text === null ? this.code : await unpacked(text);
    if (this.#editor !== null) {
      this.#editor.focus();
      return;
    }
    const { CodeEditor } = await import("../shared/code/code_editor.js");
    const place = element("div");
    this.#block.listing.hidden = true;
    this.#block.listing.after(place);
    this.#editor = new CodeEditor(place, {
      code,
      label: "Program",
      onRun: () => run.click(),
    });
    this.#editor.focus();
  }

  /** The part of the address that opens this program with its changes, or null without any. */
  async address(): Promise<string | null> {
    const { code } = this;
    return code.trim() === this.#block.code.trim() ? null : packed(code);
  }
}
