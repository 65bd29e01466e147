// Requirements for every page of the site: a language, a title, a description, one top-level heading, contrast, a visible focus
// in a sensible order, and no errors; also on a phone, below a path, in light and dark mode.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { assertAccessible } from "./support/accessible.mjs";
import { chosenPages, complaintsOf, noSite } from "./support/pages.mjs";
import { startSite } from "./support/site.mjs";

const kMostShift = 0.05;

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
      const complaints = complaintsOf(page);
      await page.addInitScript(observeShifts);
      await page.goto(site.isolated + name, { waitUntil: "load" });
      await page.locator("h1").first().waitFor();
      await assertBasics(page);
      await assertAccessible(page);
      await assertFocus(page);
      // The reference has the look of typedoc.
      if (!name.startsWith("docs/")) await assertComfort(page);
      assert.deepEqual(complaints, []);
      await page.close();
    });
  }

  test("charts are drawn where the browser has no language", async () => {
    const page = await site.browser.newPage({ serviceWorkers: "block" });
    const complaints = complaintsOf(page);
    await page.addInitScript(() => {
      Object.defineProperty(navigator, "language", { value: "C", configurable: true });
    });
    await page.goto(`${site.isolated}gpt/index.html`);
    await page.waitForSelector("#loss canvas");
    assert.deepEqual(complaints, []);
    await page.close();
  });
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

// Collects how far content moved without a key or a click, as browsers measure it.
function observeShifts() {
  let shifts = 0;
  const add = (entries) => {
    for (const { value, hadRecentInput } of entries) if (!hadRecentInput) shifts += value;
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ type: "layout-shift", buffered: true });
  globalThis.shiftsSoFar = () => {
    add(observer.takeRecords());
    return shifts;
  };
}

// Resolves when all has arrived that a page loads later: the engine, without which its buttons are disabled, the editor, which is
// loaded when a key is pressed, and the first line of the program that the start page then runs.
async function untilComplete(page) {
  await page.waitForFunction(() => {
    const buttons = [...document.querySelectorAll("#run, #example, #site")];
    const isReady = buttons.every(({ disabled }) => !disabled);
    const saysWhyNot = document.getElementById("status")?.textContent !== "";
    const isEditor = document.querySelector(".code-to-come") === null;
    const runs = document.querySelector("#program [role=log]")?.textContent !== "";
    return (isReady || saysWhyNot) && isEditor && runs;
  });
  // A frame in which it is drawn, and one that sees what that has moved.
  await page.evaluate(async () => {
    for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  });
}

// Text can be read and controls can be hit on a phone, and what arrives later moves little (half of what Chromium calls good).
async function assertComfort(page) {
  await untilComplete(page);
  const found = await page.evaluate(() => {
    const all = [...document.querySelectorAll("header *, main *, footer *")];
    const isShown = (element) => element.checkVisibility({ visibilityProperty: true });
    const hasText = ({ childNodes }) =>
      [...childNodes].some(({ nodeType, data }) => nodeType === Node.TEXT_NODE && data.trim());
    const small = all.filter(
      (element) =>
        hasText(element) &&
        isShown(element) &&
        Number.parseFloat(getComputedStyle(element).fontSize) < 12,
    );
    const controls = all.filter(
      (element) => element.matches("button, input, select, summary") && isShown(element),
    );
    const narrow = controls.filter((element) => {
      const { width, height } = element.getBoundingClientRect();
      return width < 24 || height < 24;
    });
    const names = (elements) => elements.map(({ outerHTML }) => outerHTML.slice(0, 80));
    return { small: names(small), narrow: names(narrow), shifts: globalThis.shiftsSoFar() };
  });
  assert.deepEqual({ small: found.small, narrow: found.narrow }, { small: [], narrow: [] });
  assert.ok(found.shifts < kMostShift, `content moved by ${found.shifts}`);
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
