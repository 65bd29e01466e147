// What the pages say there is: every name of the package that stands in their text or in a table.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { eg } from "../js/support/engine.mjs";
import { kPages, textOf } from "./support/markdown.mjs";

// All but blocks of code, which run.
function proseOf(page) {
  return textOf(page).replace(/^(```)[\s\S]*?^\1/gm, "");
}

const valueAt = (path) => path.split(".").reduce((value, name) => value?.[name], eg);

describe("every name of the package is there that is named in", () => {
  for (const page of kPages) {
    test(page, () => {
      const paths = [
        ...textOf(page).matchAll(/(?<![\w./-])eg\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)/g),
      ];
      const missing = paths.map(([, path]) => path).filter((path) => valueAt(path) === undefined);
      assert.deepEqual([...new Set(missing)], []);
    });
  }
});

describe("coming from PyTorch", () => {
  const rows = proseOf("docs/guide/coming_from_pytorch.md")
    .split("\n")
    .filter((line) => line.startsWith("|"));

  test("nothing is called missing that is there", () => {
    const missing = rows.filter((row) => /not there/.test(row.split("|")[2]));
    assert.ok(missing.length > 0);
    for (const row of missing) {
      for (const [, name] of row.split("|")[1].matchAll(/`(?:torch\.)?(\w+)(?:=|\.|`)/g)) {
        assert.equal(eg[name], undefined, `${name}: ${row}`);
      }
    }
  });

  test("halves are computed, and read from files as what they are", () => {
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
