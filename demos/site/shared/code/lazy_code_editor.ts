// Code that becomes an editor when a visitor is there: the editor is two thirds of a page's script.

import type { Extension } from "@codemirror/state";
import { element } from "../elements.js";
import type { CodeEditor, CodeEditorOptions } from "./code_editor.js";
import "./lazy_code_editor.css";
import { visitorIsHere } from "../visitor.js";

/** The options of a lazy editor: its language is loaded with it. */
export interface LazyCodeEditorOptions extends CodeEditorOptions {
  readonly language?: () => Promise<Extension>;
}

export class LazyCodeEditor {
  // Until the editor is loaded, this element shows the code.
  readonly #listing: HTMLElement;
  #editor: CodeEditor | null = null;

  /** `parent` may have the listing already, in color, as the site was built. */
  constructor(parent: HTMLElement, options: LazyCodeEditorOptions) {
    this.#listing = parent.querySelector<HTMLElement>(".code-to-come") ?? element("pre");
    this.#listing.className = "code-to-come";
    this.#listing.tabIndex = 0;
    this.#listing.setAttribute("role", "group");
    this.#listing.setAttribute("aria-label", options.label);
    if (this.#listing.textContent !== options.code) this.#listing.textContent = options.code;
    parent.append(this.#listing);
    void visitorIsHere().then(() => this.#load(parent, options));
  }

  get code(): string {
    return this.#editor?.code ?? this.#listing.textContent ?? "";
  }

  set code(text: string) {
    if (this.#editor === null) this.#listing.textContent = text;
    else this.#editor.code = text;
  }

  /** Marks the line of an error, once the editor is loaded; null for none. */
  markLine(line: number | null): void {
    this.#editor?.markLine(line);
  }

  async #load(parent: HTMLElement, options: LazyCodeEditorOptions): Promise<void> {
    const [{ CodeEditor }, language] = await Promise.all([
      import("./code_editor.js"),
      options.language?.(),
    ]);
    const { code } = this;
    const hadFocus = document.activeElement === this.#listing;
    this.#listing.remove();
    this.#editor = new CodeEditor(parent, { ...options, code }, language);
    if (hadFocus) this.#editor.focus();
  }
}
