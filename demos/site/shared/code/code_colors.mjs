// The colors of code, as classes of lazy_code_editor.css: for the editor, and for code that is colored while the site is built.

import { tagHighlighter, tags } from "@lezer/highlight";

/** What has a color of its own. */
export const kCodeColors = tagHighlighter([
  { tag: [tags.keyword, tags.modifier, tags.operatorKeyword], class: "tok-keyword" },
  { tag: [tags.string, tags.regexp, tags.special(tags.string)], class: "tok-string" },
  { tag: [tags.number, tags.bool, tags.null], class: "tok-number" },
  { tag: [tags.definition(tags.variableName), tags.className], class: "tok-name" },
  { tag: tags.comment, class: "tok-comment" },
]);
