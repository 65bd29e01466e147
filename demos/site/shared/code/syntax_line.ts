// Browsers do not say where a module from a blob breaks the grammar, so the parser of the editor looks for the place.

import { javascriptLanguage } from "@codemirror/lang-javascript";

/** Returns the number of the first line that the parser does not understand; null if it understands all. */
export function syntaxLine(code: string): number | null {
  let first: number | null = null;
  javascriptLanguage.parser.parse(code).iterate({
    enter: ({ type, from }) => {
      if (type.isError) first ??= from;
    },
  });
  return first === null ? null : code.slice(0, first).split("\n").length;
}
