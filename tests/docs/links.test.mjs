// All links between Markdown pages have a target, and the guide's first page links to all pages.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { guidePages } from "../../scripts/reference.mjs";
import { kRoot } from "../js/support/files.mjs";
import { anchorsOf, kPages, linksOf, textOf } from "./support/markdown.mjs";

for (const page of [...kPages, "CONTRIBUTING.md", "src/README.md", "web/src/webgpu/README.md"]) {
  test(`links of ${page}`, () => {
    const dead = linksOf(page).filter((link) => !/^https?:/.test(link) && !leads(page, link));
    assert.deepEqual(dead, []);
  });
}

test("the first page of the guide lists every page", () => {
  const listed = guidePages().map((path) => path.slice(kRoot.length));
  const pages = kPages.filter((page) => page.startsWith("docs/") && !page.endsWith("README.md"));
  assert.deepEqual(listed.sort(), pages.sort());
});

test("every code of an error has a row and a section on the page of troubleshooting", () => {
  const [, codes] = /type ErrorCode =([^;]*);/.exec(textOf("web/src/generated/border.ts"));
  const names = [...codes.matchAll(/"(\w+)"/g)].map(([, name]) => name);
  assert.ok(names.length > 20);
  const page = textOf("docs/guide/troubleshooting.md");
  const rows = [...page.matchAll(/^\| \[`(\w+)`\]\(#(\w+)\) \|/gm)];
  assert.deepEqual(rows.map(([, name]) => name).sort(), names.sort());
  for (const [, name, anchor] of rows) assert.equal(anchor, name.toLowerCase());
  const sections = [...page.matchAll(/^### (\w+)$/gm)];
  assert.deepEqual(sections.map(([, name]) => name).sort(), names.sort());
});

function leads(page, link) {
  const [path, anchor] = link.split("#");
  const target = path === "" ? page : join(page, "..", path);
  if (!existsSync(join(kRoot, target))) return false;
  return anchor === undefined || anchorsOf(target).has(anchor);
}
