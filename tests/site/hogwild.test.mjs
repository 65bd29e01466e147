// The Hogwild page: workers that train one model, compared; and what the page does without shared memory.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import {
  kLongestTask,
  longestTask,
  openPage,
  startSite,
  untilLabel,
  untilText,
} from "./support/site.mjs";

const kPage = "hogwild/index.html";
// A model that guesses is right in 10 % of the cases.
const kLearned = 90;

describe("the Hogwild page", { skip: noBrowser }, () => {
  let site;
  let browser;
  before(async () => {
    site = await startSite();
    ({ browser } = site);
  });
  after(() => site?.stop());

  test("trains one model with one, two and four workers", async () => {
    const { page, problems, close } = await openPage(browser, site.isolated + kPage);
    assert.match(await page.textContent("#status"), /^Recorded on a machine with \d+ cores/);
    assert.equal((await resultsOf(page)).length, 3);
    await page.selectOption("#steps", "1000");
    const { processor } = await longestTask(browser, page, async () => {
      await page.click("#run");
      await ended(page);
    });
    assert.ok(processor < kLongestTask, `a task of ${processor} ms`);
    const rows = await resultsOf(page);
    assert.deepEqual(
      rows.map(({ workers }) => workers),
      [1, 2, 4],
    );
    for (const { samples, accuracy } of rows) {
      assert.ok(samples > 0);
      assert.ok(accuracy > kLearned, `${accuracy} %`);
    }
    await untilLabel(page, "#loss", /4 workers 0\.\d/);
    assert.deepEqual(problems, []);
    await close();
  });

  test("stops, and can compare again", async () => {
    const { page, problems, close } = await openPage(browser, site.isolated + kPage);
    await page.selectOption("#steps", "16000");
    await page.click("#run");
    // In the page, because the worker might end before a click from here.
    await page.waitForFunction(() => {
      if (!/^1 worker…$/.test(document.getElementById("status").textContent)) return false;
      document.getElementById("run").click();
      return true;
    });
    await ended(page);
    assert.equal((await resultsOf(page)).length, 1);
    await page.reload();
    await untilText(page, "#status", /^Your last comparison/);
    assert.equal((await resultsOf(page)).length, 1);
    await untilLabel(page, "#loss", /1 worker \d/);
    await page.selectOption("#steps", "1000");
    await page.uncheck("input[value='2']");
    await page.uncheck("input[value='4']");
    await page.click("#run");
    await ended(page);
    assert.deepEqual(
      (await resultsOf(page)).map(({ workers }) => workers),
      [1],
    );
    assert.deepEqual(problems, []);
    await close();
  });

  test("says why there is one worker where the page is not isolated", async () => {
    const { page, problems, close } = await openPage(browser, site.plain + kPage);
    await page.selectOption("#steps", "1000");
    assert.match(await page.textContent("#isolation"), /not cross-origin isolated/);
    assert.ok(await page.isVisible("#isolation"));
    assert.ok(await page.isDisabled("input[value='2']"));
    await page.click("#run");
    await ended(page);
    const [only, ...others] = await resultsOf(page);
    assert.deepEqual(others, []);
    assert.ok(only.accuracy > kLearned);
    assert.deepEqual(problems, []);
    await close();
  });
});

function ended(page) {
  return untilText(page, "#run", /^Compare$/);
}

async function resultsOf(page) {
  const rows = await page.locator("#results tr").all();
  return Promise.all(
    rows.map(async (row) => {
      const cells = await row.locator("td").allTextContents();
      const [workers, samples, , accuracy] = cells.map((text) =>
        Number(text.replaceAll(/[^\d.]/g, "")),
      );
      return { workers, samples, accuracy };
    }),
  );
}
