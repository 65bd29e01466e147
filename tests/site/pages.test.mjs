// Requirements for every page of the site: a language, a title, a description, one top-level heading, contrast, a visible focus
// in a sensible order, and no errors; also on a phone, below a path, in light and dark mode.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { assertAccessible } from "./support/accessible.mjs";
import { chosenPages, complaintsOf, noSite } from "./support/pages.mjs";
import { startSite } from "./support/site.mjs";

test("the site is built", () => assert.equal(noSite, false));

describe("the pages of the site", { skip: noBrowser || noSite, concurrency: 2 }, () => {
  let site;
  before(async () => {
    site = await startSite();
  });
  after(() => site?.stop());

  for (const name of chosenPages()) {
    test(name, async () => {
      const page = await site.browser.newPage({
        viewport: { width: 360, height: 780 },
        serviceWorkers: "block",
      });
      try {
        const complaints = complaintsOf(page);
        await page.goto(site.isolated + name, { waitUntil: "load" });
        await page.locator("h1").first().waitFor();
        await assertBasics(page);
        await assertAccessible(page);
        await assertFocus(page);
        assert.deepEqual(complaints, []);
      } finally {
        await page.close();
      }
    });
  }
});

async function assertBasics(page) {
  const found = await page.evaluate(() => ({
    lang: document.documentElement.lang,
    title: document.title.length > 5,
    description:
      document.querySelector('meta[name="description"]')?.getAttribute("content")?.length > 15,
    headings: document.querySelectorAll("h1").length,
    wide: document.documentElement.scrollWidth > innerWidth,
  }));
  const expected = { lang: "en", title: true, description: true, headings: 1, wide: false };
  assert.deepEqual(found, expected);
}

// Checks the first stops of the Tab key: each is visible, and no element changes the tab order.
async function assertFocus(page) {
  assert.equal(
    await page.locator('[tabindex]:not([tabindex="0"]):not([tabindex="-1"])').count(),
    0,
  );
  for (let stop = 0; stop < 6; stop++) {
    await page.keyboard.press("Tab");
    const seen = await page.evaluate(describeFocus);
    // After the last element, the browser itself gets the focus.
    if (stop >= 3 && seen.html.startsWith("<body")) return;
    assert.ok(seen.isOutlined && seen.isInView, JSON.stringify(seen));
  }
}

function describeFocus() {
  const element = document.activeElement;
  const { top, left, bottom, right } = element.getBoundingClientRect();
  const isOutlined = [element, element.parentElement, element.closest(".cm-editor")].some(
    (one) => one && getComputedStyle(one).outlineStyle !== "none",
  );
  const isInView = bottom > 0 && top < innerHeight && right > 0 && left < innerWidth;
  return { html: element.outerHTML.slice(0, 120), isOutlined, isInView };
}
