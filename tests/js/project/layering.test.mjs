// The layering check of web/src finds violations.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { findAddonLayeringErrors } from "../../../scripts/checks/layering_addons.mjs";
import { findWebLayeringErrors } from "../../../scripts/checks/layering_web.mjs";

/** Returns the result of a check for a folder with these files. */
async function errorsOf(files, check = findWebLayeringErrors) {
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

const kTensor = { "tensor/tensor.ts": "export class Tensor {}\nexport type Shape = number[];\n" };

test("web/src keeps its layers", async () => {
  assert.deepEqual(await findWebLayeringErrors(), []);
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

  test("a circle is an error, also inside a folder", async () => {
    const errors = await errorsOf({
      "nn/a.ts": 'import { b } from "./b.js";\nexport const a = () => b;\n',
      "nn/b.ts": 'import { c } from "./c.js";\nexport const b = () => c;\n',
      "nn/c.ts": 'import { a } from "./a.js";\nexport const c = () => a;\n',
    });
    assert.deepEqual(errors, [
      "web/src: cyclic import of values: nn/a.ts -> nn/b.ts -> nn/c.ts -> nn/a.ts",
    ]);
  });

  test("a folder without a layer is an error", async () => {
    const errors = await errorsOf({ "vision/resize.ts": "export const resize = 1;\n" });
    assert.deepEqual(errors, ["web/src/vision/resize.ts belongs to no layer of kMayImport"]);
  });
});

describe("in add-ons", () => {
  const addonErrors = (text) =>
    errorsOf({ "quux/index.ts": text, "quux/part.ts": "export const part = 1;\n" }, (folder) =>
      findAddonLayeringErrors(["quux"], folder),
    );

  test("nothing leaves its folder, also in the checkout", () => {
    assert.deepEqual(findAddonLayeringErrors(), []);
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
