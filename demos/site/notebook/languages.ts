// The languages of notebooks: how a file names them, and how their editor is loaded.

import type { Extension } from "@codemirror/state";

/** The name of a language. */
export type Language = "javascript" | "python";

interface Entry {
  /** What the metadata of a file says. */
  readonly kernelspec: Readonly<Record<"name" | "display_name" | "language", string>>;
  readonly info: Readonly<Record<"name" | "file_extension" | "mimetype", string>>;
  /** What a line of a comment begins with. */
  readonly comment: string;
  /** Under which name the browser keeps the notebook. */
  readonly kept: string;
  /** The language of the editor, if it is not that of all editors. */
  readonly load?: () => Promise<Extension>;
}

export const kLanguages: Readonly<Record<Language, Entry>> = {
  javascript: {
    kernelspec: {
      name: "javascript",
      display_name: "JavaScript (edgegrad)",
      language: "javascript",
    },
    info: { name: "javascript", file_extension: ".js", mimetype: "text/javascript" },
    comment: "// ",
    kept: "notebook",
  },
  python: {
    // Jupyter's own name, so that it runs the file where PyTorch is installed.
    kernelspec: { name: "python3", display_name: "Python 3", language: "python" },
    info: { name: "python", file_extension: ".py", mimetype: "text/x-python" },
    comment: "# ",
    kept: "notebook-python",
    async load() {
      const [{ python }, { indentUnit }] = await Promise.all([
        import("@codemirror/lang-python"),
        import("@codemirror/language"),
      ]);
      return [python(), indentUnit.of("    ")];
    },
  },
};
