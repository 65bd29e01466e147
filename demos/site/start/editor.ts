// The editor: CodeMirror 6 with what ten lines of JavaScript need. Tab leaves it, as everywhere in the page.

import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { javascript } from "@codemirror/lang-javascript";
import { bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, keymap, lineNumbers } from "@codemirror/view";
import { classHighlighter } from "@lezer/highlight";

/** A text that is edited. */
export interface Editor {
  text(): string;
  setText(text: string): void;
}

/** Makes an editor in `parent`; Ctrl-Enter calls `run`. */
export function makeEditor(
  parent: HTMLElement,
  text: string,
  label: string,
  run: () => void,
): Editor {
  const view = new EditorView({ parent, state: stateOf(text, label, run) });
  return {
    text: () => view.state.doc.toString(),
    setText: (next) => view.setState(stateOf(next, label, run)),
  };
}

function stateOf(doc: string, label: string, run: () => void): EditorState {
  const runKey = {
    key: "Mod-Enter",
    run: () => {
      run();
      return true;
    },
  };
  return EditorState.create({
    doc,
    extensions: [
      keymap.of([runKey, ...defaultKeymap, ...historyKeymap]),
      history(),
      lineNumbers(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      javascript(),
      syntaxHighlighting(classHighlighter),
      EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
    ],
  });
}
