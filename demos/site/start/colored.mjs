// Code in color, as HTML, while the site is built.

import { javascriptLanguage } from "@codemirror/lang-javascript";
import { highlightCode } from "@lezer/highlight";
import { kCodeColors } from "../shared/code/code_colors.mjs";

/** JavaScript in the classes of lazy_code_editor.css. */
export function coloredCode(code) {
  const parts = [];
  const put = (text, classes) =>
    parts.push(classes ? `<span class="${classes}">${escaped(text)}</span>` : escaped(text));
  highlightCode(code, javascriptLanguage.parser.parse(code), kCodeColors, put, () =>
    parts.push("\n"),
  );
  return parts.join("");
}

function escaped(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
