// The page of digits: saving and loading weights, and training on a visitor's own handwriting.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import { drawLine, openDigits, readingOf, trainTo, untilReading } from "./support/digits_page.mjs";
import { startSite, untilNumber, untilText } from "./support/site.mjs";

describe("the weights of the page of digits", { skip: noBrowser }, () => {
  let site;
  let browser;

  before(async () => {
    site = await startSite();
    ({ browser } = site);
  });
  after(() => site?.stop());

  test("are saved to a file and come back from it; another file is refused", async () => {
    const { page, problems, close } = await openDigits(browser, site.plain);
    await trainTo(page, 85);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Weights (safetensors)" }).click(),
    ]);
    assert.equal(download.suggestedFilename(), "digits-dense.safetensors");
    const buffer = readFileSync(await download.path());
    await drawLine(page, 1);
    const learned = await readingOf(page);

    const give = (name, content) =>
      page.setInputFiles("#file", { name, mimeType: "", buffer: content });
    await give("notes.txt", Buffer.from("no weights at all"));
    await untilText(page, "#file-note", /notes\.txt does not contain weights .* not changed/);
    assert.equal(await readingOf(page), learned);

    await page.click("#anew");
    await untilText(page, "#steps", /^0$/);
    await page.waitForSelector(`#prediction:not([aria-label="${learned}"])`);
    await give("mine.safetensors", buffer);
    await untilText(page, "#file-note", /mine\.safetensors were loaded/);
    await untilReading(page, learned);
    await untilNumber(page, "#accuracy", 85);
    assert.deepEqual(problems, []);
    await close();
  });

  test("learn ten drawings, and forget them again", async () => {
    const { page, problems, close } = await openDigits(browser, site.isolated);
    await trainTo(page, 85);
    // Uses a digit that is misread, so that its prediction must change.
    let misread = 0;
    for (let digit = 0; digit < 10; digit++) {
      await drawLine(page, digit);
      if (!(await readingOf(page)).startsWith(`Read as ${digit}`)) misread = digit;
      await page.click(`text=Keep as ${digit}`);
    }
    await drawLine(page, misread);
    const before = await readingOf(page);
    await page.click("#learn");
    const lesson = await untilText(page, "#lesson", /^Of your ten/);
    const [, rightBefore, right] = lesson.match(
      /drawings, (\d+) were recognized before and (\d+) are now/,
    );
    assert.ok(Number(right) > Number(rightBefore) && Number(right) >= 6, lesson);
    assert.match(
      lesson,
      /test digits, [89]\d\.\d % were recognized before and [89]\d\.\d % are now/,
    );
    await page.waitForSelector(`#prediction:not([aria-label="${before}"])`);
    await page.click("#unlearn");
    await untilText(page, "#lesson", /undone/);
    await untilReading(page, before);
    assert.ok(await page.isDisabled("#unlearn"));
    assert.deepEqual(problems, []);
    await close();
  });
});
