// The converter page, and the actions of a visitor.

import { readFileSync } from "node:fs";
import { openPage } from "./site.mjs";

/** Opens the page; resolves when it is ready. */
export async function openConverter(browser, address, options) {
  const opened = await openPage(browser, `${address}converter/index.html`, options);
  await opened.page.waitForSelector("#example:enabled");
  return opened;
}

/** Opens a file, or several; resolves when the page shows them or why it does not. */
export async function give(page, ...files) {
  const buffers = files.map(({ name, bytes }) => ({
    name,
    mimeType: "",
    buffer: Buffer.from(bytes),
  }));
  await page.setInputFiles("#file", buffers);
  await untilOpen(page, files[0].name);
}

/** Presses "Open the example". */
export async function openExample(page) {
  await page.click("#example");
  await untilOpen(page, "digits.onnx");
}

async function untilOpen(page, name) {
  const hasEnded = (name) => {
    const problem = document.getElementById("problem");
    const isDone = document.getElementById("choose").disabled === false;
    const status = document.getElementById("status").textContent;
    return isDone && (status === `${name} is open.` || !problem.hidden);
  };
  await page.waitForFunction(hasEnded, name);
}

/** The texts of a file's facts by their names. */
export function factsOf(page) {
  return page.evaluate(() =>
    Object.fromEntries(
      [...document.querySelectorAll("#facts div")].map((row) =>
        [...row.children].map((part) => part.textContent),
      ),
    ),
  );
}

/** The texts of the cells of the table in an element. */
export function rowsOf(page, selector) {
  return page.evaluate(
    (selector) =>
      [...document.querySelectorAll(`${selector} tbody tr`)].map((row) =>
        [...row.cells].map((cell) => cell.textContent),
      ),
    selector,
  );
}

/** The labels of the boxes of the graph that are drawn. */
export function boxesOf(page) {
  return page
    .locator("#graph[aria-busy=false] .node")
    .evaluateAll((boxes) => boxes.map((box) => box.getAttribute("aria-label").trim()));
}

/** Saves the file in a format; returns its name and bytes. */
export async function saved(page, format) {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.click(`[data-format=${format}]`),
  ]);
  return { name: download.suggestedFilename(), bytes: readFileSync(await download.path()) };
}
