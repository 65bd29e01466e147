// Checks the text of the pages: every name of the package that it mentions exists.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { kPages, textOf } from "./support/markdown.mjs";

// Returns a page without its code blocks, which another test runs.
function proseOf(page) {
  return textOf(page).replace(/^(```)[\s\S]*?^\1/gm, "");
}

const valueAt = (path) => path.split(".").reduce((value, name) => value?.[name], eg);

describe("every name of the package exists that is mentioned in", () => {
  for (const page of kPages) {
    test(page, () => {
      // Programs in TypeScript also name types, and the compiler checks them.
      const text = textOf(page).replace(/^```ts\n[\s\S]*?^```/gm, "");
      const paths = [...text.matchAll(/(?<![\w./-])eg\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)/g)];
      const missing = paths.map(([, path]) => path).filter((path) => valueAt(path) === undefined);
      assert.deepEqual([...new Set(missing)], []);
    });
  }
});

describe("coming from PyTorch", () => {
  const rows = proseOf("docs/guide/coming_from_pytorch.md")
    .split("\n")
    .filter((line) => line.startsWith("|"));

  test("nothing is called unsupported that exists", () => {
    const missing = rows.filter((row) => /not supported/.test(row.split("|")[2]));
    assert.ok(missing.length > 0);
    for (const row of missing) {
      for (const [, name] of row.split("|")[1].matchAll(/`(?:torch\.)?(\w+)(?:=|\.|`)/g)) {
        assert.equal(eg[name], undefined, `${name}: ${row}`);
      }
    }
  });

  test("float16 and bfloat16 are computed, and keep their dtype in files", () => {
    for (const dtype of ["float16", "bfloat16"]) {
      const x = eg.ones([2], { dtype });
      assert.equal(x.add(x).dtype, dtype);
      assert.equal(eg.io.loadSafetensors(eg.io.saveSafetensors({ x })).x.dtype, dtype);
    }
    const model = new eg.nn.Linear(2, 1);
    model.loadStateDict({ weight: eg.ones([1, 2], { dtype: "float16" }), bias: eg.zeros([1]) });
    assert.equal(model.weight.dtype, "float32");
  });
});
