// Python in Node, connected with the engine: one start for a file of tests.

import { readFileSync } from "node:fs";
import { test } from "node:test";
import { loadPyodide } from "pyodide";
import { eg } from "../../support/engine.mjs";

const kFolder = new URL("../", import.meta.url);

/** Returns the text of a file in this folder. */
export const textOf = (path) => readFileSync(new URL(path, kFolder), "utf8");

/** Starts Python with edgegrad's package; `asTorch` makes `import torch` mean it. */
export async function startPython(options = {}) {
  const { install } = await import("edgegrad/pyodide");
  const python = await loadPyodide();
  await install(python, { engine: eg, ...options });
  return python;
}

/** Runs code of Python and returns the value of its last expression. An error of Python has its traceback as message. */
export function run(python, code, options) {
  try {
    return python.runPython(code, options);
  } catch (error) {
    throw inNode(error);
  }
}

// Node would print the line of Pyodide's script that throws, which is the whole script.
const inNode = (error) => new Error(error.message);

/** Makes every function test_* of a file of Python a test; asynchronous ones are awaited. */
export function testsIn(python, path) {
  const text = textOf(path);
  // A module of Python's, so that its classes can be pickled.
  const name = `${path.replace(/^.*\/|\.py$/g, "")}_tests`;
  python.FS.writeFile(`/home/pyodide/${name}.py`, text);
  const module = run(
    python,
    `import importlib; importlib.invalidate_caches(); importlib.import_module("${name}")`,
  );
  for (const [, testName] of text.matchAll(/^(?:async )?def (test_\w+)\(/gm)) {
    test(testName.slice(5).replaceAll("_", " "), async () => {
      try {
        await module[testName]();
      } catch (error) {
        throw inNode(error);
      }
    });
  }
}
