// Reads the report of a page, in any browser with a newPage() method like Playwright's and Puppeteer's.

import { setTimeout as sleep } from "node:timers/promises";
import { kMost } from "../../support/until.mjs";

const kPause = 50; // ms

/** Opens a page and returns the JSON that it writes into its body. */
export async function resultOf(browser, url) {
  return (await visit(browser, url)).result;
}

/**
 * Like resultOf(), but also returns the `messages` of the page's console. The page can call report() with a text and await it, which
 * calls `onReport` with the text and the page; `timeout` is the most time in milliseconds from one report to the next. A page that fails
 * stays open, for what is kept of it (tests/support/failures.mjs).
 */
export async function visit(browser, url, { onReport, timeout = kMost } = {}) {
  const page = await browser.newPage();
  const messages = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  let last = performance.now();
  const report = async (text) => {
    await onReport(text, page);
    last = performance.now();
  };
  try {
    if (onReport) await page.exposeFunction("report", report);
    await page.goto(url);
    const result = await untilResult(page, () => performance.now() - last > timeout);
    await page.close();
    return { result, messages };
  } catch (error) {
    throw new Error(`${url}: ${error.message}\n${messages.join("\n")}`);
  }
}

async function untilResult(page, isLate) {
  for (;;) {
    const text = await textOf(page);
    if (text.startsWith("{")) return JSON.parse(text);
    if (isLate()) throw new Error("there is neither a result nor a report");
    await sleep(kPause);
  }
}

async function textOf(page) {
  try {
    return await page.evaluate(() => document.body?.textContent ?? "");
  } catch (error) {
    // Vite's server loads a page again when it has bundled more of what the page imports.
    if (/context was destroyed/.test(error.message)) return "";
    throw error;
  }
}
