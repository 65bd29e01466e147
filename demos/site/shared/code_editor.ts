// A JavaScript editor: CodeMirror 6 (works on phones and with screen readers; about 130 kB gzipped with the language, a tenth of
// Monaco), in the colors of the page.

import { javascript } from "@codemirror/lang-javascript";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { tags } from "@lezer/highlight";
import { basicSetup, EditorView } from "codemirror";

const kColors = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], color: "var(--series-4)" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], color: "var(--series-3)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--series-2)" },
  { tag: [tags.definition(tags.variableName), tags.className], color: "var(--series-1)" },
  { tag: tags.comment, color: "var(--dim)", fontStyle: "italic" },
]);

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

  constructor(parent: HTMLElement, { code, label, onRun }: CodeEditorOptions) {
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
        javascript(),
        syntaxHighlighting(kColors),
        kLook,
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
      ],
    });
  }

  focus(): void {
    this.#view.focus();
  }

  get code(): string {
    return this.#view.state.doc.toString();
  }

  set code(text: string) {
    const { length } = this.#view.state.doc;
    this.#view.dispatch({ changes: { from: 0, to: length, insert: text } });
  }
}
