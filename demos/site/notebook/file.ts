// A notebook as a file: the format of Jupyter, of which only the code is read.

interface JupyterCell {
  readonly cell_type: string;
  readonly source: string | readonly string[];
}

/** Returns the text of a file with these cells. */
export function fileText(cells: readonly string[]): string {
  const metadata = {
    kernelspec: {
      name: "javascript",
      display_name: "JavaScript (edgegrad)",
      language: "javascript",
    },
    language_info: { name: "javascript", file_extension: ".js", mimetype: "text/javascript" },
  };
  return JSON.stringify({
    nbformat: 4,
    nbformat_minor: 5,
    metadata,
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

/** Returns the cells of a file; text between them becomes comments. Throws if it is no notebook. */
export function cellsOf(text: string): string[] {
  const { cells } = JSON.parse(text) as { cells?: readonly JupyterCell[] };
  if (!Array.isArray(cells)) throw new Error("This file is no notebook: it has no cells.");
  return cells.map(({ cell_type: type, source }) => {
    const code = typeof source === "string" ? source : source.join("");
    return type === "code" ? code : code.replaceAll(/^/gm, "// ");
  });
}
