// All links of the built pages have an existing file and anchor as their target.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { allPages, kSite, noSite } from "./support/pages.mjs";

test("links of all pages", { skip: noSite }, () => {
  const pages = allPages();
  assert.ok(pages.length > 500);
  const dead = pages.flatMap((page) =>
    linksOf(page)
      .filter((link) => !leads(page, link))
      .map((link) => `${page}: ${link}`),
  );
  assert.deepEqual(dead, []);
});

const texts = new Map();
const anchors = new Map();

function textOf(page) {
  if (!texts.has(page)) texts.set(page, readFileSync(join(kSite, page), "utf8"));
  return texts.get(page);
}

// Links to other sites are left out.
function linksOf(page) {
  const links = textOf(page).matchAll(/\s(?:href|src)="([^"]*)"/g);
  return [...new Set([...links].map(([, link]) => link))].filter((link) => !/^\w+:/.test(link));
}

function leads(page, link) {
  const [path, anchor] = decodeURIComponent(link).replaceAll("&amp;", "&").split("#");
  const target = path === "" ? page : join(dirname(page), path.replace(/\?.*$/, ""));
  const file = join(kSite, target);
  if (!existsSync(file) || !statSync(file).isFile()) return false;
  return !anchor || !target.endsWith(".html") || anchorsOf(target).has(anchor);
}

function anchorsOf(page) {
  if (!anchors.has(page)) {
    const ids = textOf(page).matchAll(/\sid="([^"]*)"/g);
    anchors.set(page, new Set([...ids].map(([, id]) => id)));
  }
  return anchors.get(page);
}
