// The page that learns MNIST, used as a visitor would.

import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { noBrowser } from "../browser/support/chromium.mjs";
import {
  drawLine,
  openDigits,
  readingOf,
  startAnew,
  stopTraining,
  untilReading,
} from "./support/digits_page.mjs";
import {
  kKinds,
  kLongestTask,
  longestTask,
  numberIn,
  startSite,
  untilLabel,
  untilNumber,
  untilText,
} from "./support/site.mjs";

describe("the page of digits", { skip: noBrowser }, () => {
  let site;
  let browser;

  before(async () => {
    site = await startSite();
    ({ browser } = site);
  });
  after(() => site?.stop());

  // Delays a file of digits; returns a function that releases it.
  async function hold(page, file) {
    let release;
    const held = new Promise((resolve) => {
      release = resolve;
    });
    await page.route(`**/${file}`, async (route) => {
      await held;
      await route.continue();
    });
    return release;
  }

  const arrived = (page) => page.locator("#arrived").evaluate(({ value }) => value);

  for (const kind of kKinds) {
    test(`${kind}: trains while digits arrive, improves, stays responsive, goes on after a reload`, async (t) => {
      const { page, problems, close } = await openDigits(browser, site[kind]);
      const runtime = await page.textContent("#runtime");
      assert.match(runtime, kind === "isolated" ? /thread.*SIMD/ : /1 thread .*not .*isolated/);

      await startAnew(page);
      const release = await hold(page, "train-3.bin");
      const { processor, clock } = await longestTask(browser, page, async () => {
        await page.click("#run");
        await untilNumber(page, "#steps", 100);
        assert.ok((await arrived(page)) < 1, "training waited for all digits");
        release();
        await untilText(page, "#arrived-text", /^70,000 of 70,000$/);
        await untilNumber(page, "#accuracy", 90);
      });
      t.diagnostic(`longest task ${processor} ms, ${clock} ms by the clock`);
      assert.ok(processor < kLongestTask, `a task of ${processor} ms`);
      assert.ok((await numberIn(page, "#speed")) > 0);
      const counts = await page.locator(".confusion td").allTextContents();
      const sum = counts.reduce((total, count) => total + Number(count), 0);
      assert.equal(sum, 10_000);

      await stopTraining(page);
      const steps = await numberIn(page, "#steps");
      await page.click("#run");
      await untilNumber(page, "#steps", steps + 1);
      await stopTraining(page);
      const last = await numberIn(page, "#steps");
      assert.match(await page.textContent("#kept"), /at step/);

      await page.reload();
      await page.waitForSelector("#run:enabled");
      assert.equal(await numberIn(page, "#steps"), last);
      assert.match(await page.textContent("#kept"), /^Resumes/);
      // Its chart and its last test, too.
      await untilLabel(page, "#loss", /batches 0\.\d+, test 0\.\d+/);
      assert.ok((await numberIn(page, "#accuracy")) >= 88);
      await page.click("#run");
      await untilNumber(page, "#steps", last + 1);
      await stopTraining(page);
      await page.click("#anew");
      await untilText(page, "#steps", /^0$/);
      assert.deepEqual(problems, []);
      await close();
    });
  }

  test("opens with networks that have learned, their charts, and a digit that is read", async () => {
    const { page, problems, close } = await openDigits(browser, site.isolated);
    for (const [name, least] of [
      ["dense", 96],
      ["convolutional", 98],
    ]) {
      await page.selectOption("#model", name);
      await untilNumber(page, "#accuracy", least);
      await page.waitForSelector("#run:enabled");
      await untilText(page, "#run", /^Resume$/);
      await untilReading(page, "Read as 4, 100 percent sure");
      await untilLabel(page, "#accuracies", /batches 0\.9\d+, test 0\.9\d+/);
      assert.match(await page.textContent("#kept"), /^This network comes with the page/);
    }
    assert.deepEqual(problems, []);
    await close();
  });

  test("says when digits do not arrive, and tries again", async () => {
    const { page, close } = await openDigits(browser, site.plain);
    await startAnew(page);
    await page.route("**/train-0.bin", (route) => route.fulfill({ status: 503 }));
    await page.click("#run");
    await untilText(page, "#alert", /digits could not be loaded: .*train-0\.bin .*503/);
    await untilText(page, "#run", /^Train$/);
    await page.unroute("**/train-0.bin");
    await page.click("#run");
    await untilNumber(page, "#steps", 1);
    assert.ok(await page.isHidden("#alert"));
    await close();
  });

  test("stops while it waits for digits", async () => {
    const { page, problems, close } = await openDigits(browser, site.isolated);
    const release = await hold(page, "train-0.bin");
    const before = await numberIn(page, "#steps");
    await page.click("#run");
    await untilText(page, "#run", /^Stop$/);
    await stopTraining(page);
    release();
    await untilText(page, "#arrived-text", /^70,000 of 70,000$/);
    assert.equal(await numberIn(page, "#steps"), before);
    assert.deepEqual(problems, []);
    await close();
  });

  test("reads what a pointer and what keys draw, and test digits", async () => {
    const { page, problems, close } = await openDigits(browser, site.isolated);
    await readingOf(page);
    await page.click("#clear");
    await untilReading(page, "Nothing is drawn");
    await drawLine(page, 2);
    await readingOf(page);
    await page.click("#clear");
    await untilReading(page, "Nothing is drawn");
    await page.focus("#pad");
    for (const key of [" ", "ArrowDown", "ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    await readingOf(page);
    await page.keyboard.press("Delete");
    await untilReading(page, "Nothing is drawn");
    await page.click("#sample");
    await untilText(page, "#truth", /^Its label in MNIST is \d\.$/);
    await readingOf(page);
    assert.deepEqual(problems, []);
    await close();
  });
});
