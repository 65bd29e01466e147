// The page of digits, and the actions of a visitor.

import { openPage, untilNumber, untilText } from "./site.mjs";

/** Opens the page; resolves when it is ready. */
export async function openDigits(browser, address) {
  const opened = await openPage(browser, `${address}digits/index.html`);
  await opened.page.waitForSelector("#run:enabled");
  return opened;
}

/** Stops the training. */
export async function stopTraining(page) {
  await page.click("#run");
  await untilText(page, "#run", /^Resume$/);
}

/** Replaces the network that the page has by one with random weights. */
export async function startAnew(page) {
  await page.click("#anew");
  await untilText(page, "#steps", /^0$/);
  await untilText(page, "#run", /^Train$/);
}

/** Trains a new network until this percentage of the test digits is classified correctly. */
export async function trainTo(page, accuracy) {
  await startAnew(page);
  await page.click("#run");
  await untilNumber(page, "#accuracy", accuracy);
  await stopTraining(page);
}

/** Draws a line from the center outwards and back to the top, at the angle of a clock hand at `hour` out of ten. */
export async function drawLine(page, hour) {
  await page.locator("#pad").scrollIntoViewIfNeeded();
  const { x, y, width } = await page.locator("#pad").boundingBox();
  const angle = (hour / 10) * 2 * Math.PI;
  const at = (share) => [
    x + width * (0.5 + share * Math.cos(angle)),
    y + width * (0.5 + share * Math.sin(angle)),
  ];
  await page.mouse.move(...at(0.1));
  await page.mouse.down();
  await page.mouse.move(...at(0.4), { steps: 4 });
  await page.mouse.move(x + width / 2, y + width / 4, { steps: 4 });
  await page.mouse.up();
}

/** Returns the prediction once it includes all strokes. */
export async function readingOf(page) {
  await page.waitForSelector("#prediction[aria-busy='false'][aria-label^='Read as']");
  return page.getAttribute("#prediction", "aria-label");
}

/** Waits until the page shows exactly this text: a prediction, or that nothing is drawn. */
export function untilReading(page, text) {
  return page.waitForSelector(`#prediction[aria-label="${text}"]`);
}
