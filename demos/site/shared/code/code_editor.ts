// An editor of JavaScript or another language: CodeMirror 6 (works on phones and with screen readers; about 130 kB gzipped with the
// language, a tenth of Monaco), in the colors of the page.

import { javascript } from "@codemirror/lang-javascript";
import { syntaxHighlighting } from "@codemirror/language";
import { type Extension, StateEffect, StateField } from "@codemirror/state";
import { Decoration, type DecorationSet } from "@codemirror/view";
import { basicSetup, EditorView } from "codemirror";
import { kCodeColors } from "./code_colors.mjs";

const kLook = EditorView.theme({
  "&": { backgroundColor: "var(--page)", border: "1px solid var(--line)", borderRadius: "8px" },
  "&.cm-focused": { outline: "3px solid var(--accent)", outlineOffset: "2px" },
  ".cm-scroller": {
    fontFamily: "ui-monospace, 'DejaVu Sans Mono', monospace",
    fontSize: "0.85rem",
  },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--page)", color: "var(--dim)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--shade)" },
  "& > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    background: "var(--selection)",
  },
  ".cm-panels, .cm-tooltip": { backgroundColor: "var(--card)", color: "var(--text)" },
});

const setWrong = StateEffect.define<number | null>();

// The line of an error, until the code changes.
const kWrongLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (before, transaction) => {
    const effect = transaction.effects.find((effect) => effect.is(setWrong));
    if (effect === undefined) return transaction.docChanged ? Decoration.none : before;
    const line = effect.value as number | null;
    if (line === null || line > transaction.state.doc.lines) return Decoration.none;
    const { from } = transaction.state.doc.line(line);
    return Decoration.set([Decoration.line({ class: "wrong" }).range(from)]);
  },
  provide: (field) => EditorView.decorations.from(field),
});

/** The options of an editor. */
export interface CodeEditorOptions {
  readonly code: string;
  /** The label for screen readers. */
  readonly label: string;
  /** Called on Ctrl-Enter (Command-Enter). */
  readonly onRun?: () => void;
}

export class CodeEditor {
  readonly #view: EditorView;

  constructor(
    parent: HTMLElement,
    { code, label, onRun }: CodeEditorOptions,
    language: Extension = javascript(),
  ) {
    // Handled before the editor's own keys, where Ctrl-Enter inserts a line.
    parent.addEventListener(
      "keydown",
      (event) => {
        if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
        event.preventDefault();
        event.stopPropagation();
        onRun?.();
      },
      { capture: true },
    );
    this.#view = new EditorView({
      doc: code,
      parent,
      extensions: [
        basicSetup,
        language,
        syntaxHighlighting(kCodeColors),
        kWrongLine,
        kLook,
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      ],
    });
  }

  focus(): void {
    this.#view.focus();
  }

  /** Marks the line of an error and shows it; null for none. */
  markLine(line: number | null): void {
    const effects: StateEffect<unknown>[] = [setWrong.of(line)];
    const { doc } = this.#view.state;
    if (line !== null && line <= doc.lines) {
      effects.push(EditorView.scrollIntoView(doc.line(line).from, { y: "nearest" }));
    }
    this.#view.dispatch({ effects });
  }

  get code(): string {
    return this.#view.state.doc.toString();
  }

  set code(text: string) {
    const { length } = this.#view.state.doc;
    this.#view.dispatch({ changes: { from: 0, to: length, insert: text } });
  }
}
