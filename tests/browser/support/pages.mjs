// Reads the report of a page, in any browser with a newPage() method like Playwright's and Puppeteer's.

import { setTimeout as sleep } from "node:timers/promises";

const kTimeout = 120_000;
const kPause = 50;

/** Opens a page and returns the JSON that it writes into its body. */
export async function resultOf(browser, url) {
  return (await visit(browser, url)).result;
}

/**
 * Like resultOf(), but also returns the `messages` of the page's console. Calls `onTitle` with each new title and awaits it;
 * `timeout` is in milliseconds.
 */
export async function visit(browser, url, { onTitle = () => {}, timeout = kTimeout } = {}) {
  const page = await browser.newPage();
  const messages = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  const end = performance.now() + timeout;
  try {
    await page.goto(url);
    for (let title = await page.title(); performance.now() < end; await sleep(kPause)) {
      const text = await page.evaluate(() => document.body?.textContent ?? "");
      if (text.startsWith("{")) return { result: JSON.parse(text), messages };
      const last = title;
      title = await page.title();
      if (title !== last) await onTitle(title);
    }
    throw new Error(`no result after ${timeout / 1000} s`);
  } catch (error) {
    throw new Error(`${url}: ${error.message}\n${messages.join("\n")}`);
  } finally {
    await page.close();
  }
}
