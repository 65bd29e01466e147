// All links between Markdown pages have a target, and the guide's first page links to all pages.

import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { kLists, quickLists } from "../../scripts/docs/lists.mjs";
import { guidePages } from "../../scripts/docs/reference.mjs";
import { kRoot } from "../js/support/files.mjs";
import { anchorsOf, kContributorsPages, kPages, linksOf, textOf } from "./support/markdown.mjs";

for (const page of [...kPages, ...kContributorsPages])
  test(`links of ${page}`, () => assert.deepEqual(deadLinks(page, textOf(page)), []));

describe("the lists", async () => {
  const texts = await quickLists();
  for (const name of Object.keys(texts)) {
    test(`links of ${name}`, () => {
      assert.deepEqual(deadLinks(`docs/generated/${name}.md`, texts[name]), []);
    });
  }

  test("each have a section on the page that says where they are", () => {
    const anchors = anchorsOf(textOf("docs/guide/lists.md"));
    for (const name of kLists) assert.ok(anchors.has(name), name);
  });
});

test("the first page of the guide lists every page", () => {
  const listed = guidePages().map((path) => path.slice(kRoot.length));
  const pages = kPages.filter((page) => page.startsWith("docs/") && !page.endsWith("README.md"));
  const lists = kLists.map((name) => `docs/generated/${name}.md`);
  assert.deepEqual(listed.sort(), [...pages, ...lists].sort());
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

function deadLinks(page, text) {
  return linksOf(text).filter((link) => !/^https?:/.test(link) && !leads(page, text, link));
}

function leads(page, text, link) {
  const [path, anchor] = link.split("#");
  const target = path === "" ? page : join(page, "..", path);
  // Lists lead to each other, and are made when they are needed.
  if (kLists.some((name) => target === `docs/generated/${name}.md`)) return true;
  if (!existsSync(join(kRoot, target))) return false;
  return anchor === undefined || anchorsOf(path === "" ? text : textOf(target)).has(anchor);
}
