// The check of the layers finds violations, and lines of its tables that are about nothing.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import {
  findAddonLayeringErrors,
  findAllLayeringErrors,
  findWebLayeringErrors,
  layeringErrors,
} from "../../../scripts/checks/layering.mjs";
import { idlePatterns } from "../../../scripts/patterns.mjs";

/** Returns the result of a check for a folder with these files: by default, of imports against the layers of web/src. */
async function errorsOf(files, check = againstLayers) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-layers-"));
  try {
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return await check(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Without the layers that have no files in a test. */
async function againstLayers(folder) {
  const errors = await findWebLayeringErrors(folder);
  return errors.filter((line) => line.startsWith("web/src/"));
}

const kTensor = { "tensor/tensor.ts": "export class Tensor {}\nexport type Shape = number[];\n" };

test("the checkout keeps its layers", async () => {
  assert.deepEqual(await findAllLayeringErrors(), []);
});

test("a list's patterns that match nothing are found", () => {
  assert.deepEqual(idlePatterns([/^a/, /^b/], ["one", "a"]), [/^b/]);
});

test("a layer without files, one that is not used, and a door without an include are errors", () => {
  const imports = new Map([
    ["high/a.h", ["low/b.h"]],
    ["low/b.h", []],
  ]);
  const options = { folder: "src", what: "include" };
  assert.deepEqual(layeringErrors(imports, { low: "", high: "low" }, options), []);
  const layers = { low: "high", middle: "", high: "low" };
  const doors = { "low/b.h": "high/a.h" };
  assert.deepEqual(layeringErrors(imports, layers, { ...options, doors }), [
    "src: the layer middle has no files",
    "src: the layers allow that low uses high, which nothing does",
    "src: the layers allow that low/b.h uses high/a.h, which nothing does",
  ]);
});

describe("in web/src", () => {
  test("values come from the layers below, types from anywhere", async () => {
    const errors = await errorsOf({
      "tensor/tensor.ts":
        'import type { Node } from "../autograd/node.js";\nexport class Tensor { node?: Node; }\n',
      "autograd/node.ts":
        'import { Tensor } from "../tensor/tensor.js";\nexport class Node extends Tensor {}\n',
      "index.ts": 'export { Node } from "./autograd/node.js";\n',
    });
    assert.deepEqual(errors, []);
  });

  const kValues = {
    "an import":
      'import { Tensor } from "../tensor/tensor.js";\nexport const made = new Tensor();\n',
    "an export": 'export * from "../tensor/tensor.js";\n',
    "an import for its effects": 'import "../tensor/tensor.js";\n',
    "a dynamic import": 'export const load = () => import("../tensor/tensor.js");\n',
    // This is compiled to an import for side effects.
    "a list of nothing but types":
      'import { type Shape } from "../tensor/tensor.js";\nexport type S = Shape;\n',
  };
  for (const [what, text] of Object.entries(kValues)) {
    test(`${what} from a layer above is an error`, async () => {
      const errors = await errorsOf({ ...kTensor, "runtime/bridge.ts": text });
      assert.deepEqual(errors, [
        "web/src/runtime/bridge.ts (runtime) may not import values from tensor/tensor.ts",
      ]);
    });
  }

  test("nothing imports the files that put everything together", async () => {
    const errors = await errorsOf({
      "index.ts": "export const made = 1;\n",
      "nn/module.ts": 'export { made } from "../index.js";\n',
    });
    assert.deepEqual(errors, ["web/src/nn/module.ts (nn) may not import values from index.ts"]);
  });

  test("a folder without a layer is an error", async () => {
    const errors = await errorsOf({ "vision/resize.ts": "export const resize = 1;\n" });
    assert.deepEqual(errors, ["web/src/vision/resize.ts belongs to no layer"]);
  });
});

describe("in add-ons", () => {
  const addonErrors = (text) =>
    errorsOf({ "quux/index.ts": text, "quux/part.ts": "export const part = 1;\n" }, (folder) =>
      findAddonLayeringErrors(["quux"], folder),
    );

  test("a folder that is not there is an error", () => {
    assert.deepEqual(findAddonLayeringErrors(["quux"]), ["web/quux does not exist"]);
  });

  test("own files and the package's entry may be imported", async () => {
    const text =
      'import { ones } from "edgegrad";\nimport { part } from "./part.js";\nexport const a = ones([part]);\n';
    assert.deepEqual(await addonErrors(text), []);
  });

  for (const path of ["../src/index.js", "edgegrad/single", "node:fs"]) {
    test(`${path} is an error, also for types`, async () => {
      const expected = [`web/quux/index.ts may not import ${path}`];
      assert.deepEqual(await addonErrors(`import { a } from "${path}";\n`), expected);
      assert.deepEqual(await addonErrors(`import type { A } from "${path}";\n`), expected);
      assert.deepEqual(await addonErrors(`export const a = () => import("${path}");\n`), expected);
    });
  }
});
