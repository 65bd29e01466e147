// What a page says, in any browser that has `newPage()` as Playwright's and Puppeteer's have.

import { setTimeout as sleep } from "node:timers/promises";

const kTimeout = 120_000;
const kPause = 50;

/** Opens a page and returns the JSON that it writes into its body. */
export async function resultOf(browser, url) {
  const page = await browser.newPage();
  const messages = [];
  page.on("console", (message) => messages.push(message.text()));
  page.on("pageerror", (error) => messages.push(String(error)));
  try {
    await page.goto(url);
    return JSON.parse(await textOf(page));
  } catch (error) {
    throw new Error(`${url}: ${error.message}\n${messages.join("\n")}`);
  } finally {
    await page.close();
  }
}

async function textOf(page) {
  const end = performance.now() + kTimeout;
  while (performance.now() < end) {
    const text = await page.evaluate(() => document.body?.textContent ?? "");
    if (text.startsWith("{")) return text;
    await sleep(kPause);
  }
  throw new Error(`no result after ${kTimeout / 1000} s`);
}
