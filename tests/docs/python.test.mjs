// Code blocks of Python in docs/ that follow a block of JavaScript and have arrows (# → ...) are the same program: they run on edgegrad/pyodide,
// and print the lines after their arrows. The site shows the two in one place.

import assert from "node:assert/strict";
import { test } from "node:test";
import { run, startPython } from "../js/pyodide/support/python.mjs";
import { kPages, pairsOf } from "./support/markdown.mjs";
import { expectedOutput } from "./support/programs.mjs";

const python = await startPython({ asTorch: true });

// Each has names of its own.
const kRun = `
import contextlib, io
def printed(code):
    with contextlib.redirect_stdout(io.StringIO()) as text:
        exec(compile(code, "<block>", "exec"), {"__name__": "__main__"})
    return text.getvalue()
printed`;

const printed = run(python, kRun);

for (const page of kPages) {
  for (const { code, line } of pairsOf(page)) {
    test(`${page}, line ${line}`, () => {
      assert.equal(printed(code), expectedOutput(code, "# → "));
    });
  }
}
