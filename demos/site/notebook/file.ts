// A notebook as a file: the format of Jupyter, of which the code and its language are read.

import { kLanguages, type Language } from "./languages.js";

/** A notebook: the code of its cells. */
export interface Notebook {
  readonly language: Language;
  readonly cells: readonly string[];
}

interface JupyterCell {
  readonly cell_type: string;
  readonly source: string | readonly string[];
}

interface JupyterFile {
  readonly cells?: readonly JupyterCell[];
  readonly metadata?: {
    readonly kernelspec?: { readonly name?: string; readonly language?: string };
    readonly language_info?: { readonly name?: string };
  };
}

/** Returns the text of a file with a notebook. */
export function fileText({ language, cells }: Notebook): string {
  const { kernelspec, info } = kLanguages[language];
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata: { kernelspec, language_info: info },
    cells: cells.map((source, i) => ({
      cell_type: "code",
      id: `cell-${i + 1}`,
      metadata: {},
      execution_count: null,
      outputs: [],
      source,
    })),
  });
}

/** Returns the notebook of a file; text between its cells becomes comments. Throws if it is no notebook. */
export function notebookOf(text: string): Notebook {
  const { cells, metadata } = JSON.parse(text) as JupyterFile;
  if (!Array.isArray(cells)) throw new Error("This file is no notebook: it has no cells.");
  const language = languageOf(metadata);
  const { comment } = kLanguages[language];
  const codes = (cells as readonly JupyterCell[]).map(({ cell_type: type, source }) => {
    const code = typeof source === "string" ? source : source.join("");
    return type === "code" ? code : code.replaceAll(/^/gm, comment);
  });
  return { language, cells: codes };
}

// Files that name no language are JavaScript, as this page has written them.
function languageOf({ kernelspec, language_info: info }: JupyterFile["metadata"] = {}): Language {
  const names = [kernelspec?.language, info?.name, kernelspec?.name];
  return names.some((name) => name?.toLowerCase().startsWith("python")) ? "python" : "javascript";
}
