// The check of circles of imports.

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { findCircles } from "../../../scripts/checks/circles.mjs";

function circlesIn(t, files, classes = []) {
  const folder = mkdtempSync(join(tmpdir(), "edgegrad-circles-"));
  t.after(() => rmSync(folder, { recursive: true }));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  return findCircles(folder, classes);
}

test("there are no circles of imports", () => {
  assert.deepEqual(findCircles(), []);
});

test("a circle of imports of values, of types and of what is loaded later is found", (t) => {
  const files = {
    "a.ts": 'import { b } from "./room/b.js";\nexport const a = b;\n',
    "room/b.ts": 'import type { C } from "./c.js";\nexport const b: C = 1;\n',
    "room/c.ts": 'export type C = number;\nexport const load = () => import("../a.js");\n',
    "d.ts": 'import {\n  a,\n} from "./a.js";\nexport { a as d };\n',
  };
  assert.deepEqual(circlesIn(t, files), [
    "a circle of imports: a.ts -> room/b.ts -> room/c.ts -> a.ts",
  ]);
});

test("a class and the files that have its methods may know each other's types", (t) => {
  const files = {
    "class.ts":
      'import type { Methods } from "./methods.js";\nexport interface A extends Methods {}\n',
    "methods.ts": 'import type { A } from "./class.js";\nexport type Methods = { f(): A };\n',
  };
  assert.equal(circlesIn(t, files).length, 1);
  assert.deepEqual(circlesIn(t, files, ["class.ts"]), []);
});
